package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.nereid.server.shared.ConnectionFailures;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the connections that speak gRPC, and refuses those beyond the limit. A connection counts
 * from its client's first settings on, behind TLS: only then can the client be told the reason.
 * Event loops call it.
 */
final class ConnectionLimit extends ServerTransportFilter {

  /** The bytes of replies that a connection's client has not taken. */
  static final Attributes.Key<SharedLimit.Share> REPLIES = Attributes.Key.create("replies");

  private final int most;
  private final SharedLimit replies;
  private final ConnectionFailures failures;
  private final AtomicInteger open = new AtomicInteger();

  /** For so many connections, which share a limit of bytes of replies. */
  ConnectionLimit(int most, SharedLimit replies, ConnectionFailures failures) {
    this.most = most;
    this.replies = replies;
    this.failures = failures;
  }

  /** Open connections. */
  int count() {
    return open.get();
  }

  @Override
  public Attributes transportReady(Attributes attributes) {
    if (open.incrementAndGet() > most) {
      open.decrementAndGet();
      failures.add(ConnectionFailures.Reason.LIMIT);
      throw refusal();
    }
    return ConnectionTasks.in(attributes.toBuilder().set(REPLIES, replies.share()).build());
  }

  @Override
  public void transportTerminated(Attributes attributes) {
    // Without attributes the connection was never ready.
    if (attributes != null) {
      open.decrementAndGet();
    }
  }

  /**
   * Returns an exception whose cause is the transport's own kind: the transport says goodbye with
   * that one's code and text, which clients report as UNAVAILABLE.
   */
  private IllegalStateException refusal() {
    String reason =
        "expected at most "
            + most
            + " connections at a time; --grpc-max-connections sets the limit";
    return new IllegalStateException(
        reason, Http2Exception.connectionError(Http2Error.REFUSED_STREAM, "%s", reason));
  }
}
