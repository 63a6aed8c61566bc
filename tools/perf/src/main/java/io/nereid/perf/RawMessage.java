package io.nereid.perf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import io.nereid.proto.InferParameter;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * An encoded request for gRPC's transport. Neither its bytes nor those of unchecked replies are
 * copied on the heap.
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

  /**
   * Reads replies to byte arrays, or leaves them unread as an empty array, since the transport does
   * not accept null.
   */
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

  /**
   * Writes the request into the transport's buffers, after the transport has asked for the length.
   */
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

  /**
   * One response of a stream, without its tensors, which are skipped.
   *
   * @param error the server's text; empty: none
   * @param isFinal whether it is marked as the last of its request
   * @param saysFinal whether it has such a mark
   * @param hasOutputs false for one that only marks the end
   * @param message the ModelInferResponse; null unless replies are checked
   */
  record StreamReply(
      String error, boolean isFinal, boolean saysFinal, boolean hasOutputs, byte[] message) {

    private static final String FINAL = "triton_final_response";

    /** Reads responses of a stream off the wire. */
    static final class Reader implements Marshaller<StreamReply> {
      private final boolean keep;

      Reader(boolean keep) {
        this.keep = keep;
      }

      @Override
      public InputStream stream(StreamReply reply) {
        throw new UnsupportedOperationException("replies are not sent here");
      }

      @Override
      public StreamReply parse(InputStream stream) {
        try {
          return new Scan(keep).read(CodedInputStream.newInstance(stream));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }

    /** Scans one message once. */
    private static final class Scan {
      private final boolean keep;
      private String error = "";
      private boolean isFinal;
      private boolean saysFinal;
      private boolean hasOutputs;
      private byte[] message;

      Scan(boolean keep) {
        this.keep = keep;
      }

      StreamReply read(CodedInputStream in) throws IOException {
        in.setSizeLimit(Integer.MAX_VALUE);
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
          switch (WireFormat.getTagFieldNumber(tag)) {
            case ModelStreamInferResponse.ERROR_MESSAGE_FIELD_NUMBER -> error = in.readString();
            case ModelStreamInferResponse.INFER_RESPONSE_FIELD_NUMBER -> {
              if (keep) {
                message = in.readByteArray();
                readResponse(CodedInputStream.newInstance(message));
              } else {
                int limit = in.pushLimit(in.readRawVarint32());
                readResponse(in);
                in.popLimit(limit);
              }
            }
            default -> in.skipField(tag);
          }
        }
        return new StreamReply(error, isFinal, saysFinal, hasOutputs, message);
      }

      private void readResponse(CodedInputStream in) throws IOException {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
          int field = WireFormat.getTagFieldNumber(tag);
          if (field == ModelInferResponse.PARAMETERS_FIELD_NUMBER) {
            readParameter(CodedInputStream.newInstance(in.readByteArray()));
          } else {
            hasOutputs |= field == ModelInferResponse.OUTPUTS_FIELD_NUMBER;
            in.skipField(tag);
          }
        }
      }

      /** Reads an entry of the map: a key and a value. */
      private void readParameter(CodedInputStream entry) throws IOException {
        String key = "";
        InferParameter value = InferParameter.getDefaultInstance();
        for (int tag = entry.readTag(); tag != 0; tag = entry.readTag()) {
          switch (WireFormat.getTagFieldNumber(tag)) {
            case 1 -> key = entry.readString();
            case 2 -> value = InferParameter.parseFrom(entry.readByteArray());
            default -> entry.skipField(tag);
          }
        }
        if (key.equals(FINAL)) {
          saysFinal = true;
          isFinal = value.getBoolParam();
        }
      }
    }
  }
}
