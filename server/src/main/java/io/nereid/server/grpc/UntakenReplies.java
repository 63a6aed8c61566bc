package io.nereid.server.grpc;

import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2StreamVisitor;
import io.grpc.netty.shaded.io.netty.util.collection.IntObjectHashMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The replies of one connection that wait in the transport for the client to take them. Such a
 * reply keeps memory, and so do those behind it, so the client must take some of each in time. The
 * connection's event loop is the only thread that calls it.
 */
final class UntakenReplies {

  /** The number of replies that a client may always leave unread. */
  private static final int FEW_REPLIES = 8;

  private final Http2Connection connection;
  private final Http2RemoteFlowController flow;
  private final SharedLimit limit;
  private final long timeNs;
  private final IntObjectHashMap<Wait> waits = new IntObjectHashMap<>(2);
  private long endedNs = System.nanoTime(); // when a call last ended

  /** The room that the client gave a stream, which has not changed since then. */
  private record Wait(int window, long sinceNs) {}

  /** Looks at a connection's replies, which hold a part of {@code limit}. */
  UntakenReplies(
      Http2Connection connection,
      Http2RemoteFlowController flow,
      SharedLimit limit,
      Duration time) {
    this.connection = connection;
    this.flow = flow;
    this.limit = limit;
    timeNs = time.toNanos();
  }

  /** Notes that the client made room on a stream, since it took something. */
  void roomMade(int stream) {
    waits.remove(stream);
  }

  /** Notes that a call has ended. */
  void ended(int stream) {
    endedNs = System.nanoTime();
    waits.remove(stream);
  }

  /** The streams whose client took nothing of a reply for too long. */
  List<Http2Stream> late() {
    List<Http2Stream> late = new ArrayList<>(0);
    long nowNs = System.nanoTime();
    forEach(stream -> {
      Wait before = waits.get(stream.id());
      int window = flow.windowSize(stream);
      if (!flow.hasFlowControlled(stream)) {
        waits.remove(stream.id());
      } else if (before == null || before.window != window) { // bytes that are sent take room
        waits.put(stream.id(), new Wait(window, nowNs));
      } else if (nowNs - before.sinceNs > timeNs) {
        late.add(stream);
      }
      return true;
    });
    return late;
  }

  /** True if others need the memory, and this client has many replies and takes none. */
  boolean crowdOut() {
    int[] waiting = {0};
    return limit.isScarce()
        && System.nanoTime() - endedNs > timeNs / 4
        && forEach(stream -> !flow.hasFlowControlled(stream) || ++waiting[0] <= FEW_REPLIES)
            != null;
  }

  /** Visits streams until the visitor says false; that stream, or null. */
  private Http2Stream forEach(Http2StreamVisitor visitor) {
    try {
      return connection.forEachActiveStream(visitor);
    } catch (Http2Exception e) {
      throw new IllegalStateException(e); // no visitor throws it
    }
  }
}
