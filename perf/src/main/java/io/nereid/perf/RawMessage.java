package io.nereid.perf;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * A request that was encoded before, as the transport takes it. Neither its bytes nor those of
 * replies that nobody looks at are copied on the heap.
 *
 * @param head its first part
 * @param tail its second part
 */
record RawMessage(byte[] head, byte[] tail) {

  /** Writes requests. */
  static final Marshaller<RawMessage> REQUESTS =
      new Marshaller<>() {
        @Override
        public InputStream stream(RawMessage message) {
          return new Bytes(message);
        }

        @Override
        public RawMessage parse(InputStream stream) {
          throw new UnsupportedOperationException("requests are not received here");
        }
      };

  /** Reads replies to byte arrays, or leaves them unread: null is no reply for the transport. */
  static Marshaller<byte[]> replies(boolean read) {
    return new Marshaller<>() {
      private static final byte[] UNREAD = {};

      @Override
      public InputStream stream(byte[] reply) {
        throw new UnsupportedOperationException("replies are not sent here");
      }

      @Override
      public byte[] parse(InputStream stream) {
        try {
          return read ? stream.readAllBytes() : UNREAD;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }

  /** The transport asks for its length, and then takes all of it at once. */
  private static final class Bytes extends InputStream implements Drainable, KnownLength {
    private final RawMessage message;
    private int at;

    Bytes(RawMessage message) {
      this.message = message;
    }

    @Override
    public int available() {
      return message.head.length + message.tail.length - at;
    }

    @Override
    public int drainTo(OutputStream out) throws IOException {
      if (at > 0) {
        throw new IOException("the beginning was read already");
      }
      out.write(message.head);
      out.write(message.tail);
      at = message.head.length + message.tail.length;
      return at;
    }

    @Override
    public int read() {
      if (available() == 0) {
        return -1;
      }
      int index = at++;
      byte next =
          index < message.head.length
              ? message.head[index]
              : message.tail[index - message.head.length];
      return next & 0xff;
    }
  }
}
