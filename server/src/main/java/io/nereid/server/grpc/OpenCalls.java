package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.util.collection.IntObjectHashMap;
import java.util.List;

/**
 * The calls of one connection that have begun and are not over. Open calls take heap and cost a
 * client nothing, so their number is bounded, and the first message must come in time. The
 * connection's event loop is the only thread that calls it.
 */
final class OpenCalls {

  /** The heap of an open call, measured with thousands and rounded up. */
  private static final int CALL_BYTES = 4 << 10;

  /** The number of calls that a connection may always have. */
  private static final int FEW_CALLS = 8;

  /** In place of a call's beginning: part of a message has come. */
  private static final Long HAS_SENT = Long.MIN_VALUE;

  private final SharedLimit.Share share;
  private final IntObjectHashMap<Long> since = new IntObjectHashMap<>(2); // in ns
  private long dataNs = System.nanoTime(); // when the connection last sent part of a message

  /** The calls of all connections, which may take so many bytes of the heap. */
  static SharedLimit limit(long heapBytes) {
    return new SharedLimit(heapBytes / CALL_BYTES, FEW_CALLS);
  }

  /** Makes the calls of a connection, with its share of the limit. */
  OpenCalls(SharedLimit.Share share) {
    this.share = share;
  }

  /** Begins a call; false: there are too many already. */
  boolean begin(int stream) {
    if (!share.take(1)) {
      return false;
    }
    since.put(stream, (Long) System.nanoTime());
    return true;
  }

  /** Notes that part of a message has come. */
  void data(int stream) {
    dataNs = System.nanoTime();
    Long began = since.get(stream);
    if (began != null && !HAS_SENT.equals(began)) {
      since.put(stream, HAS_SENT);
    }
  }

  /** Ends a call whose reply was written, or that was reset. */
  void end(int stream) {
    if (since.remove(stream) != null) {
      share.giveBack(1);
    }
  }

  boolean isEmpty() {
    return since.isEmpty();
  }

  /**
   * The calls that sent nothing for that time, in which their connection sent no messages at all.
   */
  List<Integer> late(long timeNs) {
    long nowNs = System.nanoTime();
    return nowNs - dataNs < timeNs
        ? List.of()
        : since.entrySet().stream()
            .filter(call -> !HAS_SENT.equals(call.getValue()) && nowNs - call.getValue() > timeNs)
            .map(call -> call.getKey())
            .toList();
  }
}
