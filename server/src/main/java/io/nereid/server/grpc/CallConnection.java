package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.wire.ConnectionEvents;
import io.nereid.server.wire.EventConnection;
import io.nereid.server.wire.LoopStream;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The calls of one connection, and what they share. Everything is called on the connection's loop.
 */
final class CallConnection implements ConnectionEvents {

  private final CallContext context;
  private final ConnectionLife life;
  private final EventConnection connection;
  private final ReplySender replies;
  private final Set<GrpcCall<?, ?>> limited = new HashSet<>(); // with a deadline
  private final Set<ArrivingMessages<?>> unfinished = new LinkedHashSet<>();
  private Attributes attributes; // null: nobody has asked for them

  /** The fields of the last head; the same list means the same head. Null: there was none. */
  private List<String> lastFields;

  private CallHead lastHead;

  CallConnection(CallContext context, EventConnection connection) {
    this.context = context;
    this.connection = connection;
    replies = new ReplySender(context.compression(), context.heap());
    life = new ConnectionLife(context.keepAlive(), connection);
  }

  // ---- What happens ----------------------------------------------------------------------------

  @Override
  public void begun(LoopStream stream, List<String> fields, boolean last) {
    if (fields != lastFields) {
      lastHead = CallHead.of(fields, context.methods());
      lastFields = fields;
    }
    CallHead head = lastHead;
    Optional<CallLog.Call> line = context.log().map(log -> log.begin(fields, connection));
    if (head.refusal() != null) {
      line.ifPresent(call -> call.ended(head.refusal()));
      stream.head(head.httpStatus(), ReplyHead.trailersOnly(head.refusal(), new Metadata()), true);
      return;
    }
    GrpcCall<?, ?> call = GrpcCall.start(this, stream, head, head.method(), line.orElse(null));
    if (call.hasDeadline() && !call.isOver()) {
      limited.add(call);
      connection.lookAt(call.deadlineNs());
    }
  }

  /** A call is over. */
  void ended(GrpcCall<?, ?> call) {
    if (call.hasDeadline()) {
      limited.remove(call);
    }
  }

  /** A call has a message that is not complete. */
  void isUnfinished(ArrivingMessages<?> messages) {
    unfinished.add(messages);
    connection.lookAt(messages.dueNs());
  }

  /** It has none any more. */
  void isComplete(ArrivingMessages<?> messages) {
    unfinished.remove(messages);
  }

  @Override
  public void heard() {
    life.heard();
  }

  @Override
  public String pinged() {
    return life.pinged();
  }

  @Override
  public long look(long nowNs) {
    long nextNs = life.look(nowNs);
    for (GrpcCall<?, ?> call : List.copyOf(limited)) {
      if (call.remainingNs() <= 0) {
        call.expire();
      } else {
        nextNs = Math.min(nextNs, call.deadlineNs());
      }
    }
    for (ArrivingMessages<?> messages : List.copyOf(unfinished)) {
      messages.look(nowNs);
    }
    for (ArrivingMessages<?> messages : unfinished) {
      nextNs = Math.min(nextNs, messages.dueNs());
    }
    return nextNs;
  }

  // ---- What calls share ------------------------------------------------------------------------

  GrpcLimits limits() {
    return context.limits();
  }

  /** What messages may hold that are not complete. */
  MessageBudget budget() {
    return context.unfinished();
  }

  /** What those of them count in that wait on the heap. */
  HeapBudget heap() {
    return context.heap();
  }

  /** What sends the calls' messages. */
  ReplySender replies() {
    return replies;
  }

  /** The addresses of both sides, as gRPC names them. */
  Attributes attributes() {
    if (attributes == null) {
      attributes =
          Attributes.newBuilder()
              .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, connection.socket().getRemoteSocketAddress())
              .set(Grpc.TRANSPORT_ATTR_LOCAL_ADDR, connection.socket().getLocalSocketAddress())
              .build();
    }
    return attributes;
  }
}
