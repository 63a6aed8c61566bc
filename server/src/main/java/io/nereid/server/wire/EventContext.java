package io.nereid.server.wire;

import io.nereid.server.shared.HeapBudget;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * What all connections of a port share whose streams are served by their events.
 *
 * @param threadName what their threads are called, or begin with
 * @param limits what clients may ask
 * @param streamCount most streams of one connection at a time
 * @param connectionBytes what a connection holds of the heap
 * @param watch all connections
 * @param heap what connections may hold of it
 * @param served counts the connections that are served: not those that have sent nothing yet, or
 *     are sent away
 * @param stopping whether the server takes no more requests
 * @param connectionHint what those are told beside the limit who come when there are too many
 */
public record EventContext(
    String threadName,
    WireLimits limits,
    int streamCount,
    long connectionBytes,
    ConnectionWatch watch,
    HeapBudget heap,
    AtomicInteger served,
    BooleanSupplier stopping,
    String connectionHint) {}
