package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.util.collection.IntObjectHashMap;
import java.util.List;

/**
 * The calls of one connection that have begun and are not over. They take heap and cost a client
 * nothing, whether it sends no message or takes no reply, so they are bounded; and a call has a
 * time for its first message. The connection's event loop is the only thread that calls it.
 */
final class OpenCalls {

  /** The heap that such a call takes: measured with thousands of them, and rounded up. */
  private static final int CALL_BYTES = 4 << 10;

  /** A connection may have so many in any case. */
  private static final int FEW_CALLS = 8;

  /** Stands for the time at which a call began that has sent something of a message. */
  private static final Long HAS_SENT = Long.MIN_VALUE;

  private final SharedLimit.Share share;
  private final IntObjectHashMap<Long> since = new IntObjectHashMap<>(2); // in ns
  private long dataNs = System.nanoTime(); // when the connection last sent anything of a message

  /** The calls of all connections, which may take so many bytes of the heap. */
  static SharedLimit limit(long heapBytes) {
    return new SharedLimit(heapBytes / CALL_BYTES, FEW_CALLS);
  }

  /** For a connection, with its share of the calls of all. */
  OpenCalls(SharedLimit.Share share) {
    this.share = share;
  }

  /** A call begins; false: there are too many already. */
  boolean begin(int stream) {
    if (!share.take(1)) {
      return false;
    }
    since.put(stream, (Long) System.nanoTime());
    return true;
  }

  /** Something of a message has come. */
  void data(int stream) {
    dataNs = System.nanoTime();
    Long began = since.get(stream);
    if (began != null && !HAS_SENT.equals(began)) {
      since.put(stream, HAS_SENT);
    }
  }

  /** A call is over: its reply was written, or it was reset. */
  void end(int stream) {
    if (since.remove(stream) != null) {
      share.giveBack(1);
    }
  }

  boolean isEmpty() {
    return since.isEmpty();
  }

  /** The calls that sent nothing for so long, while the connection sent nothing of others, too. */
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
