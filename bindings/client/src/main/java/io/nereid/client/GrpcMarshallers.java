package io.nereid.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Drainable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;

/** How messages get into the transport's buffers and out of them. */
final class GrpcMarshallers {

  /** Pieces in which a message is written. */
  private static final int WRITE_BYTES = 16 << 10;

  private GrpcMarshallers() {}

  /** A message, and the memory that its tensors lie in. */
  record Received<M>(M message, MemoryPool.Lease lease) {}

  /** For messages that are only sent. */
  static <M extends MessageLite> Marshaller<M> sending() {
    return new Marshaller<>() {
      @Override
      public InputStream stream(M message) {
        return new MessageStream(message);
      }

      @Override
      public M parse(InputStream stream) {
        throw new UnsupportedOperationException("requests are only sent");
      }
    };
  }

  /** For messages that are only received and hold no tensors. */
  static <M extends MessageLite> Marshaller<M> receiving(Parser<M> parser) {
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

  /** For messages whose tensors stay where they were received: in memory of the pool. */
  static <M extends MessageLite> Marshaller<Received<M>> receiving(
      Parser<M> parser, MemoryPool pool) {
    return new Receiving<>() {
      @Override
      public Received<M> parse(InputStream stream) {
        MemoryPool.Lease lease = null;
        try {
          int size = stream.available(); // of messages that is all of it
          lease = pool.take(size);
          ByteBuffer buffer = lease.segment().asByteBuffer();
          readAll(stream, buffer);
          CodedInputStream input = UnsafeByteOperations.unsafeWrap(buffer.flip()).newCodedInput();
          input.enableAliasing(true);
          M message = parser.parseFrom(input);
          input.checkLastTagWas(0);
          return new Received<>(message, lease);
        } catch (InvalidProtocolBufferException e) {
          lease.close();
          throw malformed(e);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }

  private static RuntimeException malformed(InvalidProtocolBufferException e) {
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

  /** A message that is encoded straight into the transport's buffers. */
  private static final class MessageStream extends InputStream implements Drainable, KnownLength {
    private final MessageLite message;
    private InputStream rest; // null: nothing was read

    private MessageStream(MessageLite message) {
      this.message = message;
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      if (rest != null) {
        int size = rest.available();
        rest.transferTo(target);
        return size;
      }
      int size = message.getSerializedSize();
      CodedOutputStream output =
          CodedOutputStream.newInstance(target, Math.clamp(size, 1, WRITE_BYTES));
      message.writeTo(output);
      output.flush();
      rest = InputStream.nullInputStream();
      return size;
    }

    /** The way of transports that cannot be written to. */
    private InputStream rest() {
      if (rest == null) {
        ByteString bytes = message.toByteString();
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
      return rest == null ? message.getSerializedSize() : rest.available();
    }
  }
}
