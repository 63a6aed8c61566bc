package io.nereid.client;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A reply with tensors, as it was received. The holder of a reply closes its lease.
 *
 * @param message the message without the raw contents
 * @param raw the raw contents, in the lease's memory
 * @param error a stream's error for a failed request; else empty
 * @param lease the memory it was received in
 */
record GrpcReply(
    ModelInferResponse message, List<ByteBuffer> raw, String error, MemoryPool.Lease lease) {

  /** Reads a ModelInferResponse; the reply refers to the lease's memory. */
  static GrpcReply infer(MemoryPool.Lease lease) throws InvalidProtocolBufferException {
    Scanner scanner = new Scanner(lease.buffer());
    scanner.scanResponse(lease.byteSize());
    return scanner.reply("", lease);
  }

  /** Reads a ModelStreamInferResponse; the reply refers to the lease's memory. */
  static GrpcReply stream(MemoryPool.Lease lease) throws InvalidProtocolBufferException {
    Scanner scanner = new Scanner(lease.buffer());
    ByteArrayOutputStream outer = new ByteArrayOutputStream();
    int end = lease.byteSize();
    while (scanner.at < end) {
      int from = scanner.at;
      int tag = scanner.tag(end);
      if (tag == WireFormat.WIRETYPE_LENGTH_DELIMITED + (Scanner.STREAM_REPLY << 3)) {
        scanner.scanResponse(scanner.length(end)); // repeated occurrences merge, as in protobuf
      } else {
        scanner.skip(tag, end);
        scanner.copy(from, outer);
      }
    }
    return scanner.reply(
        ModelStreamInferResponse.parseFrom(outer.toByteArray()).getErrorMessage(), lease);
  }

  /**
   * Finds the raw contents of a reply as slices of the memory in which it was received. Only the
   * rest goes through protobuf, which would copy each tensor to the heap.
   */
  private static final class Scanner {

    static final int STREAM_REPLY = ModelStreamInferResponse.INFER_RESPONSE_FIELD_NUMBER;
    private static final int RAW_CONTENTS = ModelInferResponse.RAW_OUTPUT_CONTENTS_FIELD_NUMBER;

    private final ByteBuffer bytes;
    private final List<ByteBuffer> raw = new ArrayList<>();

    /** Fields other than raw contents, as they were encoded. */
    private final ByteArrayOutputStream described = new ByteArrayOutputStream();

    private int at;

    private Scanner(ByteBuffer bytes) {
      this.bytes = bytes;
    }

    private GrpcReply reply(String error, MemoryPool.Lease lease)
        throws InvalidProtocolBufferException {
      return new GrpcReply(
          ModelInferResponse.parseFrom(described.toByteArray()), raw, error, lease);
    }

    private void scanResponse(int end) throws InvalidProtocolBufferException {
      while (at < end) {
        int from = at;
        int tag = tag(end);
        if (tag == WireFormat.WIRETYPE_LENGTH_DELIMITED + (RAW_CONTENTS << 3)) {
          int contentsEnd = length(end);
          raw.add(Buffers.slice(bytes, at, contentsEnd - at));
          at = contentsEnd;
        } else {
          skip(tag, end);
          copy(from, described);
        }
      }
    }

    private void copy(int from, ByteArrayOutputStream to) {
      byte[] piece = new byte[at - from];
      bytes.get(from, piece);
      to.writeBytes(piece);
    }

    private int tag(int end) throws InvalidProtocolBufferException {
      return (int) varint(end);
    }

    /** Reads the length of a field; returns where the field ends. */
    private int length(int end) throws InvalidProtocolBufferException {
      long length = varint(end);
      if (length < 0 || length > end - at) {
        throw new InvalidProtocolBufferException(
            "a field at byte " + at + " has " + length + " bytes, " + (end - at) + " are left");
      }
      return at + (int) length;
    }

    private void skip(int tag, int end) throws InvalidProtocolBufferException {
      switch (tag & 7) {
        case WireFormat.WIRETYPE_VARINT -> varint(end);
        case WireFormat.WIRETYPE_FIXED64 -> advance(Long.BYTES, end);
        case WireFormat.WIRETYPE_FIXED32 -> advance(Integer.BYTES, end);
        case WireFormat.WIRETYPE_LENGTH_DELIMITED -> at = length(end);
        default ->
            throw new InvalidProtocolBufferException(
                "a field before byte " + at + " has the wire type " + (tag & 7));
      }
    }

    private void advance(int count, int end) throws InvalidProtocolBufferException {
      if (count > end - at) {
        throw new InvalidProtocolBufferException("it ends within a field at byte " + at);
      }
      at += count;
    }

    private long varint(int end) throws InvalidProtocolBufferException {
      long value = 0;
      for (int shift = 0; shift < Long.SIZE; shift += 7) {
        advance(1, end);
        byte next = bytes.get(at - 1);
        value |= (next & 0x7fL) << shift;
        if (next >= 0) {
          return value;
        }
      }
      throw new InvalidProtocolBufferException("a number at byte " + at + " is too long");
    }
  }
}
