package io.nereid.server.grpc;

import io.nereid.server.shared.HeapBudget;
import java.util.Optional;

/**
 * What all calls of a server share.
 *
 * @param methods by their paths
 * @param limits what clients may ask
 * @param keepAlive how long connections live
 * @param compression how replies are compressed, where a call wants that
 * @param unfinished what messages hold that are not complete
 * @param heap what of them may wait on the heap
 * @param log where each call has a line; empty: there is none
 */
record CallContext(
    MethodTable methods,
    GrpcLimits limits,
    GrpcKeepAlive keepAlive,
    GrpcCompression compression,
    MessageBudget unfinished,
    HeapBudget heap,
    Optional<CallLog> log) {}
