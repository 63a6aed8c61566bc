package io.nereid.client;

import io.nereid.proto.ModelInferResponse;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A reply with tensors.
 *
 * @param message all of it but the raw contents
 * @param raw the raw contents, in the lease's memory
 * @param error what a stream says of a request that failed; else empty
 * @param lease the memory it was received in
 */
record GrpcReply(
    ModelInferResponse message, List<MemorySegment> raw, String error, MemoryPool.Lease lease) {}
