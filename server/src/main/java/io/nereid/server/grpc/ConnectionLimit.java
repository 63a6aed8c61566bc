package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Error;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.nereid.server.shared.ConnectionFailures;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the connections that speak gRPC, and sends those away that are too many. A connection
 * counts from its client's first settings on, which come behind TLS: only then can a client be told
 * why it is sent away. Event loops call it.
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
    // Without attributes it was never ready.
    if (attributes != null) {
      open.decrementAndGet();
    }
  }

  /**
   * The transport catches this exception, looks for its own kind in it, and says goodbye with that
   * one's code and text. Clients make UNAVAILABLE of this code.
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
