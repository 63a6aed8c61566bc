package io.nereid.client;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import io.grpc.Drainable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;

/**
 * Describes the methods of the gRPC service, and copies messages into and out of the transport's
 * buffers. The transport's threads call it.
 */
final class GrpcMethods {

  /** The most bytes of a message that are inflated at a time. */
  private static final int INFLATED_BYTES = 16 << 10;

  private GrpcMethods() {}

  /** A method whose messages have no tensors; {@code reply} gives the type of its replies. */
  @SuppressWarnings("unchecked") // a message's own parser makes such messages
  static <Q extends MessageLite, R extends MessageLite> MethodDescriptor<Q, R> unary(
      String name, R reply) {
    return method(
        name, MethodType.UNARY, sending(), (Marshaller<R>) receiving(reply.getParserForType()));
  }

  /** ModelInfer with replies in memory of the pool. */
  static MethodDescriptor<GrpcRequest, GrpcReply> infer(MemoryPool pool) {
    return method("ModelInfer", MethodType.UNARY, requests(), replies(pool, GrpcReply::infer));
  }

  /** ModelStreamInfer with replies in memory of the pool. */
  static MethodDescriptor<GrpcRequest, GrpcReply> streamInfer(MemoryPool pool) {
    return method(
        "ModelStreamInfer",
        MethodType.BIDI_STREAMING,
        requests(),
        replies(pool, GrpcReply::stream));
  }

  private static <Q, R> MethodDescriptor<Q, R> method(
      String name, MethodType type, Marshaller<Q> requests, Marshaller<R> replies) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(
            MethodDescriptor.generateFullMethodName("inference.GRPCInferenceService", name))
        .setRequestMarshaller(requests)
        .setResponseMarshaller(replies)
        .build();
  }

  /** A marshaller for messages that are only sent. */
  private static <M extends MessageLite> Marshaller<M> sending() {
    return new Marshaller<>() {
      @Override
      public InputStream stream(M message) {
        return new RequestStream(message.getSerializedSize(), message::writeTo);
      }

      @Override
      public M parse(InputStream stream) {
        throw new UnsupportedOperationException("requests are only sent");
      }
    };
  }

  /** A marshaller for messages without tensors that are only received. */
  private static <M extends MessageLite> Marshaller<M> receiving(Parser<M> parser) {
    return new Receiving<>() {
      @Override
      public M parse(InputStream stream) {
        try {
          return parser.parseFrom(stream);
        } catch (InvalidProtocolBufferException e) {
          throw malformed(e);
        }
      }
    };
  }

  /** A marshaller for requests with tensors. */
  private static Marshaller<GrpcRequest> requests() {
    return new Marshaller<>() {
      @Override
      public InputStream stream(GrpcRequest request) {
        return new RequestStream((int) request.byteSize(), request::writeTo);
      }

      @Override
      public GrpcRequest parse(InputStream stream) {
        throw new UnsupportedOperationException("requests are only sent");
      }
    };
  }

  /** Reads a reply; from then on the reply owns the memory. */
  private interface ReplyReader {
    GrpcReply read(MemoryPool.Lease lease) throws InvalidProtocolBufferException;
  }

  /**
   * A marshaller for replies, whose tensors are received into memory of the pool and stay there.
   */
  private static Marshaller<GrpcReply> replies(MemoryPool pool, ReplyReader reader) {
    return new Receiving<>() {
      @Override
      public GrpcReply parse(InputStream stream) {
        MemoryPool.Lease lease = read(stream);
        try {
          return reader.read(lease);
        } catch (InvalidProtocolBufferException e) {
          lease.close();
          throw malformed(e);
        }
      }

      private MemoryPool.Lease read(InputStream stream) {
        try {
          if (!(stream instanceof KnownLength)) {
            return readInflated(stream, pool);
          }
          // for an uncompressed message, this is its size
          MemoryPool.Lease lease = pool.take(stream.available());
          readAll(stream, lease.buffer());
          return lease;
        } catch (IOException e) {
          throw malformed(e);
        }
      }
    };
  }

  /** Reads a compressed message, whose size is known only at its end. */
  private static MemoryPool.Lease readInflated(InputStream stream, MemoryPool pool)
      throws IOException {
    byte[] piece = new byte[INFLATED_BYTES];
    MemoryPool.Lease lease = pool.take(INFLATED_BYTES);
    int size = 0;
    for (int count = stream.read(piece); count >= 0; count = stream.read(piece)) {
      if (count > lease.byteSize() - size) {
        MemoryPool.Lease larger = pool.take(2 * (size + (long) count));
        larger.buffer().put(0, lease.buffer(), 0, size);
        lease.close();
        lease = larger;
      }
      lease.buffer().put(size, piece, 0, count);
      size += count;
    }
    return lease.first(size);
  }

  private static RuntimeException malformed(IOException e) {
    return Status.INTERNAL
        .withDescription("the server's reply is malformed: " + e.getMessage())
        .withCause(e)
        .asRuntimeException();
  }

  private static void readAll(InputStream stream, ByteBuffer to) throws IOException {
    if (stream instanceof HasByteBuffer buffers && buffers.byteBufferSupported()) {
      while (to.hasRemaining()) {
        ByteBuffer next = buffers.getByteBuffer();
        if (next == null) {
          throw new EOFException("the message ended " + to.remaining() + " bytes early");
        }
        int size = next.remaining();
        to.put(next);
        stream.skipNBytes(size);
      }
      return;
    }
    ReadableByteChannel channel = Channels.newChannel(stream);
    while (to.hasRemaining()) {
      if (channel.read(to) < 0) {
        throw new EOFException("the message ended " + to.remaining() + " bytes early");
      }
    }
  }

  private abstract static class Receiving<M> implements Marshaller<M> {
    @Override
    public InputStream stream(M message) {
      throw new UnsupportedOperationException("replies are only received");
    }
  }

  /** Writes a message to the transport. */
  private interface Encoder {
    void writeTo(OutputStream target) throws IOException;
  }

  /** A message that is encoded straight into the transport's buffers. */
  private static final class RequestStream extends InputStream implements Drainable, KnownLength {
    private final int byteSize;
    private final Encoder encoder;
    private InputStream rest; // null: read was not called

    private RequestStream(int byteSize, Encoder encoder) {
      this.byteSize = byteSize;
      this.encoder = encoder;
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      if (rest != null) {
        return (int) rest.transferTo(target);
      }
      rest = InputStream.nullInputStream();
      encoder.writeTo(target);
      return byteSize;
    }

    /** The message as a stream, for transports that read instead of draining. */
    private InputStream rest() throws IOException {
      if (rest == null) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(byteSize);
        encoder.writeTo(bytes);
        rest = new ByteArrayInputStream(bytes.toByteArray());
      }
      return rest;
    }

    @Override
    public int read() throws IOException {
      return rest().read();
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      return rest().read(to, offset, length);
    }

    @Override
    public int available() throws IOException {
      return rest == null ? byteSize : rest.available();
    }
  }
}
