package io.nereid.server.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.StatusCode;
import java.io.InputStream;

/**
 * Ends calls whose message cannot be read, with a status that says why. gRPC's own marshallers
 * throw then, which the transport takes for a failure of the server: it answers UNKNOWN, and logs a
 * stack trace for each such message.
 */
final class MessageReading implements ServerInterceptor {

  private MessageReading() {}

  /** A service, whose messages are read where a failure can be told. */
  static ServerServiceDefinition of(ServerServiceDefinition service) {
    return ServerInterceptors.intercept(
        ServerInterceptors.useMarshalledMessages(service, new Bytes()), new MessageReading());
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    return new Reader<>(call, next.startCall(call, headers));
  }

  /** What is sent and received, as it is. */
  private record Bytes() implements MethodDescriptor.Marshaller<InputStream> {

    @Override
    public InputStream stream(InputStream message) {
      return message;
    }

    @Override
    public InputStream parse(InputStream message) {
      return message;
    }
  }

  /** Passes on what it hears, until a message cannot be read. */
  private static final class Reader<Q> extends SimpleForwardingServerCallListener<Q> {
    private final ServerCall<Q, ?> call;
    private boolean refused;

    Reader(ServerCall<Q, ?> call, ServerCall.Listener<Q> next) {
      super(next);
      this.call = call;
    }

    @Override
    public void onMessage(Q message) {
      if (refused) {
        return;
      }
      try {
        super.onMessage(message);
      } catch (RuntimeException | Error e) {
        refused = true;
        call.close(status(e), new Metadata());
      }
    }

    @Override
    public void onHalfClose() {
      if (!refused) {
        super.onHalfClose();
      }
    }

    @Override
    public void onReady() {
      if (!refused) {
        super.onReady();
      }
    }
  }

  private static Status status(Throwable failure) {
    if (failure instanceof StatusRuntimeException known) {
      return known.getCause() instanceof InvalidProtocolBufferException malformed
          ? GrpcStatus.of(
              StatusCode.INVALID_ARGUMENT, "failed to parse the request: " + malformed.getMessage())
          : known.getStatus();
    }
    return GrpcStatus.of(failure);
  }
}
