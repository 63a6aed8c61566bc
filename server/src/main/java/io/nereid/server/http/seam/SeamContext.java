package io.nereid.server.http.seam;

import io.nereid.server.shared.ConnectionFailures;
import io.nereid.server.shared.HeapBudget;

/**
 * The parts that the connections of a port share.
 *
 * @param limits the limits for clients
 * @param watch all connections
 * @param heap the memory that connections and requests may hold
 * @param failures counts failed connections
 * @param connectionHint the end of the message to a client that comes when there are too many
 */
public record SeamContext(
    SeamLimits limits,
    ConnectionWatch watch,
    HeapBudget heap,
    ConnectionFailures failures,
    String connectionHint) {}
