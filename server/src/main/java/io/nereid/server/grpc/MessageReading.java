package io.nereid.server.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Ends calls whose message cannot be read, with a status that says why. gRPC's own marshallers
 * throw for such messages; the transport takes that for a failure of the server, answers UNKNOWN,
 * and logs a stack trace. Event loops call it, for all methods that carry no tensors.
 */
final class MessageReading implements ServerInterceptor {

  /** The method whose messages may be large: they can have the files of a model. */
  private static final String MODEL_LOAD = "RepositoryModelLoad";

  /** The largest message of any other method, as in gRPC by default; some methods need no token. */
  private static final int MOST_BYTES = 4 << 20;

  /** The longest array. */
  private static final int LONGEST = Integer.MAX_VALUE - 8;

  private MessageReading() {}

  /** Wraps a service so that unreadable messages get a proper status. */
  static ServerServiceDefinition of(ServerServiceDefinition service) {
    return ServerInterceptors.intercept(
        ServerInterceptors.useMarshalledMessages(service, new Bytes()), new MessageReading());
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    return new Reader<>(call, next.startCall(call, headers));
  }

  /** Passes messages on as streams of bytes. */
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

  /** Parses messages and passes them on, until one cannot be read. */
  private static final class Reader<Q> extends SimpleForwardingServerCallListener<Q> {
    private final ServerCall<Q, ?> call;
    private boolean refused;
    private long takenBytes; // taken from the budget

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
        super.onMessage(limited(message));
      } catch (IOException | RuntimeException | Error e) {
        refused = true;
        call.close(status(e), new Metadata());
      }
    }

    /** Reads the message from its stream, up to the largest size. */
    @SuppressWarnings("unchecked") // all messages are streams of bytes here
    private Q limited(Q message) throws IOException {
      boolean isLoad = MODEL_LOAD.equals(call.getMethodDescriptor().getBareMethodName());
      long most = isLoad ? MessageBudget.HEAP.most() : MOST_BYTES;
      InputStream bytes = (InputStream) message;
      if (!(bytes instanceof KnownLength)) { // the stream is decompressed as it is read
        bytes = new ByteArrayInputStream(bytes.readNBytes((int) Math.min(most + 1, LONGEST)));
      }
      int length = bytes.available();
      if (length > MOST_BYTES) {
        if (!isLoad) {
          throw exhausted("expected a message of at most " + most + " bytes, got more");
        }
        if (length > most || !MessageBudget.HEAP.take(length)) {
          throw exhausted(MessageBudget.HEAP.refusal(length));
        }
        takenBytes += length;
      }
      return (Q) bytes;
    }

    private static NereidException exhausted(String message) {
      return new NereidException(StatusCode.RESOURCE_EXHAUSTED, message);
    }

    private void giveBack() {
      MessageBudget.HEAP.giveBack(takenBytes);
      takenBytes = 0;
    }

    @Override
    public void onComplete() {
      giveBack();
      super.onComplete();
    }

    @Override
    public void onCancel() {
      giveBack();
      super.onCancel();
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
    if (failure instanceof IOException broken) {
      return GrpcStatus.of(
          StatusCode.INVALID_ARGUMENT,
          "failed to parse the request: it cannot be decompressed (" + broken.getMessage() + ")");
    }
    if (failure instanceof StatusRuntimeException known) {
      return known.getCause() instanceof InvalidProtocolBufferException malformed
          ? GrpcStatus.of(
              StatusCode.INVALID_ARGUMENT, "failed to parse the request: " + malformed.getMessage())
          : known.getStatus();
    }
    return GrpcStatus.of(failure);
  }
}
