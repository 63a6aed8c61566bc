package io.nereid.server.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.function.LongPredicate;

/**
 * Limits of messages that carry no tensors, and what is told of those that cannot be read. They
 * become objects of protobuf's classes, which stand on the heap.
 */
final class MessageReading {

  /** The method whose messages may be large: they can have the files of a model. */
  private static final String MODEL_LOAD = "RepositoryModelLoad";

  /** The largest message of any other method, some of which need no token; gRPC's usual limit. */
  private static final int MOST_BYTES = 4 << 20;

  /** The longest array. */
  private static final int LONGEST = Integer.MAX_VALUE - 8;

  private MessageReading() {}

  /** Whether a method's messages can be read that have not come as a whole. */
  static boolean readsAsItComes(MethodDescriptor<?, ?> method) {
    return method.getRequestMarshaller() instanceof ReadsAsItComes;
  }

  /**
   * Reads a message, of which there is not more than there may be.
   *
   * @param holdHeap takes so many bytes of the heap's budget; false: there are not as many
   */
  static <Q> Q read(MethodDescriptor<Q, ?> method, InputStream message, LongPredicate holdHeap)
      throws IOException {
    return method.parseRequest(
        readsAsItComes(method) ? message : limited(method, message, holdHeap));
  }

  /** The bytes of a message, of which there are not more than there may be. */
  private static InputStream limited(
      MethodDescriptor<?, ?> method, InputStream message, LongPredicate holdHeap)
      throws IOException {
    boolean isLoad = MODEL_LOAD.equals(method.getBareMethodName());
    long most = isLoad ? MessageBudget.HEAP.most() : MOST_BYTES;
    InputStream bytes = message;
    if (!(bytes instanceof KnownLength)) { // it is decompressed as it is read
      byte[] all = bytes.readNBytes((int) Math.min(most + 1, LONGEST));
      bytes = new WholeMessage(ByteBuffer.wrap(all));
    }
    int length = bytes.available();
    if (length > MOST_BYTES) {
      if (!isLoad) {
        throw exhausted("expected a message of at most " + most + " bytes, got more");
      }
      if (length > most || !holdHeap.test(length)) {
        throw exhausted(MessageBudget.HEAP.refusal(length));
      }
    }
    return bytes;
  }

  private static NereidException exhausted(String message) {
    return new NereidException(StatusCode.RESOURCE_EXHAUSTED, message);
  }

  /** The status of a call whose message cannot be read, or whose listener fails. */
  static Status status(Throwable failure) {
    if (failure instanceof IOException broken) {
      return GrpcStatus.of(
          StatusCode.INVALID_ARGUMENT,
          "failed to parse the request: it cannot be decompressed (" + broken.getMessage() + ")");
    }
    if (failure instanceof StatusRuntimeException known) {
      return known.getCause() instanceof InvalidProtocolBufferException malformed
          ? malformed.getCause() instanceof IOException broken
              ? status(broken)
              : malformed(malformed)
          : known.getStatus();
    }
    return GrpcStatus.of(failure);
  }

  private static Status malformed(InvalidProtocolBufferException why) {
    return GrpcStatus.of(
        StatusCode.INVALID_ARGUMENT, "failed to parse the request: " + why.getMessage());
  }
}
