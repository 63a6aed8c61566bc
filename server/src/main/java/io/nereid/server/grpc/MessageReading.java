package io.nereid.server.grpc;

import com.google.protobuf.CodedInputStream;
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
import io.nereid.server.access.EndpointGroup;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Ends calls whose message cannot be read, with a status that says why. gRPC's own marshallers
 * throw for such messages; the transport takes that for a failure of the server, answers UNKNOWN,
 * and logs a stack trace. Event loops call it, for all methods that carry no tensors. A message
 * counts in {@link MessageBudget#HEAP} until its call is over or the next one of the call comes.
 */
final class MessageReading implements ServerInterceptor {

  /** The method whose messages may be large: they can have the files of a model. */
  private static final String MODEL_LOAD = "RepositoryModelLoad";

  /**
   * The largest message about health and metadata: it has names at most, the longest of 255 bytes,
   * and for some of these methods a client needs no token.
   */
  private static final int MOST_OF_NAMES = 4 << 10;

  /** The largest message of any other method: it has a few settings, with paths at most. */
  private static final int MOST_OF_SETTINGS = 64 << 10;

  /**
   * The longest message that does not count. Every name fits in, and the calls that may be open
   * ({@link OpenCalls}) hold a sixth of the heap with such messages, at worst.
   */
  private static final int FREE_BYTES = 512;

  /**
   * The count of a byte of a message with settings. The budget takes three bytes of heap for each:
   * parsed maps and lists of short strings take 20.
   */
  private static final int SETTINGS_COUNT = 8;

  /** The count of a field of a load, beside its bytes: a parsed parameter takes 200 of the heap. */
  private static final int ENTRY_BYTES = 96;

  /** The length of the pieces in which a message is decompressed. */
  private static final int PIECE_BYTES = 16 << 10;

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
    private final boolean isLoad;
    private final EndpointGroup group;
    private final long most; // the longest message
    private boolean refused;
    private long takenBytes; // taken from the budget

    Reader(ServerCall<Q, ?> call, ServerCall.Listener<Q> next) {
      super(next);
      this.call = call;
      isLoad = MODEL_LOAD.equals(call.getMethodDescriptor().getBareMethodName());
      group = MethodGroups.of(call.getMethodDescriptor());
      most =
          switch (group) {
            case HEALTH, METADATA -> MOST_OF_NAMES;
            default -> isLoad ? Math.min(MessageBudget.HEAP.most(), LONGEST) : MOST_OF_SETTINGS;
          };
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
        giveBack();
        call.close(status(e), new Metadata());
      }
    }

    /** Reads the message from its stream, and counts what it takes when it is parsed. */
    @SuppressWarnings("unchecked") // all messages are streams of bytes here
    private Q limited(Q message) throws IOException {
      giveBack(); // a message before this one was served
      byte[] bytes = read((InputStream) message);
      if (isLoad) {
        take(ENTRY_BYTES * fieldCount(bytes));
      } else if (group != EndpointGroup.HEALTH && bytes.length > FREE_BYTES) {
        take((long) SETTINGS_COUNT * bytes.length);
      }
      return (Q) new ByteArrayInputStream(bytes);
    }

    private byte[] read(InputStream in) throws IOException {
      if (in instanceof KnownLength) {
        int length = in.available();
        count(length, length);
        return in.readNBytes(length);
      }
      ByteArrayOutputStream all = new ByteArrayOutputStream(); // decompressed as it is read
      for (byte[] piece = in.readNBytes(PIECE_BYTES);
          piece.length > 0;
          piece = in.readNBytes(PIECE_BYTES)) {
        count((long) all.size() + piece.length, piece.length);
        all.writeBytes(piece);
      }
      return all.toByteArray();
    }

    /** Checks the length so far, of which {@code more} bytes are about to be kept. */
    private void count(long length, int more) {
      if (length > most) {
        throw exhausted(
            isLoad
                ? MessageBudget.HEAP.refusal(length)
                : "expected a message of at most " + most + " bytes, got more");
      }
      if (isLoad) {
        take(more);
      }
    }

    private void take(long more) {
      if (!MessageBudget.HEAP.take(more)) {
        throw exhausted(MessageBudget.HEAP.refusal(more));
      }
      takenBytes += more;
    }

    /** The number of fields, without those of messages in the message. */
    private static long fieldCount(byte[] bytes) throws IOException {
      CodedInputStream in = CodedInputStream.newInstance(bytes);
      long count = 0;
      for (int tag = in.readTag(); tag != 0 && in.skipField(tag); tag = in.readTag()) {
        count++;
      }
      return count;
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
    if (failure instanceof InvalidProtocolBufferException malformed) {
      return unreadable(malformed);
    }
    if (failure instanceof IOException broken) {
      return GrpcStatus.of(
          StatusCode.INVALID_ARGUMENT,
          "failed to parse the request: it cannot be decompressed (" + broken.getMessage() + ")");
    }
    if (failure instanceof StatusRuntimeException known) {
      return known.getCause() instanceof InvalidProtocolBufferException malformed
          ? unreadable(malformed)
          : known.getStatus();
    }
    return GrpcStatus.of(failure);
  }

  private static Status unreadable(InvalidProtocolBufferException malformed) {
    return GrpcStatus.of(
        StatusCode.INVALID_ARGUMENT, "failed to parse the request: " + malformed.getMessage());
  }
}
