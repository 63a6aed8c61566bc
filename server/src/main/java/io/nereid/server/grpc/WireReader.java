package io.nereid.server.grpc;

import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads protobuf's wire format in one pass, from the transport's own buffers if it lends them, else
 * from the stream. It accepts and rejects what protobuf-java accepts and rejects. One thread reads
 * one message with it.
 *
 * <p>It is written by hand so that contents go straight to the model's memory. A request with 600
 * KB of FP32 thereby takes 6 KB of the heap instead of 1.2 MB with protobuf's generated classes;
 * one with 64 bytes takes 1.2 KB instead of 5.2 KB ({@code GrpcCodecBenchmark}).
 */
final class WireReader {

  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int DELIMITED = 2;
  static final int START_GROUP = 3;
  static final int END_GROUP = 4;
  static final int FIXED32 = 5;

  /** The depth to which messages and groups may be nested, as in protobuf-java. */
  private static final int DEPTH_LIMIT = 100;

  /**
   * Most inputs, outputs, contents and parameters of a message, all counted together: each takes up
   * to a hundred times the memory that it takes on the wire.
   */
  static final int PART_LIMIT = 65_536;

  /** The limit of a message of unknown length, which ends with its stream. */
  private static final long UNKNOWN = Long.MAX_VALUE / 2;

  private static final int CHUNK_BYTES = 16 << 10;

  /**
   * The most bytes that are allocated on the word of a length field, before the bytes have come.
   */
  private static final int TRUSTED_BYTES = 64 << 10;

  private final InputStream stream; // null: the first chunk is the whole message
  private final boolean lendsBuffers;
  private final boolean lengthKnown;

  /** The part of the message that is read now; its limit is not beyond {@link #limit}. */
  private ByteBuffer chunk = ByteBuffer.allocate(0);

  private int chunkBegin; // where the chunk's unread part began
  private int chunkEnd; // where the chunk itself ends
  private long chunkOffset; // position of the chunk's index 0 in the message
  private long limit; // where the innermost message ends
  private int depth;
  private int partCount;

  private final MessageBudget heap; // null: there is no limit
  private int freeBytes = TRUSTED_BYTES; // bytes left for arrays that need no budget
  private long takenBytes; // bytes taken from the budget, for all other arrays

  /** Reads a message from the transport's stream; arrays are taken from a budget. */
  WireReader(InputStream stream, MessageBudget heap) {
    this.stream = stream;
    this.heap = heap;
    lendsBuffers = stream instanceof HasByteBuffer lender && lender.byteBufferSupported();
    lengthKnown = stream instanceof KnownLength;
    try {
      limit = lengthKnown ? stream.available() : UNKNOWN;
    } catch (IOException e) {
      throw broken(e);
    }
  }

  /** Reads bytes that were set aside, {@code depth} messages deep. */
  WireReader(byte[] bytes, int depth) {
    stream = null;
    heap = null; // the bytes are counted already
    lendsBuffers = false;
    lengthKnown = true;
    chunk = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    chunkEnd = bytes.length;
    limit = bytes.length;
    this.depth = depth;
  }

  // ---- Fields ----------------------------------------------------------------------------------

  /** The next field's tag; 0 at the end of the innermost message. */
  int readTag() {
    if (!chunk.hasRemaining()) {
      if (position() == limit) {
        return 0;
      }
      if (!fill()) {
        if (limit == UNKNOWN) {
          return 0;
        }
        throw truncated();
      }
    }
    int tag = (int) readVarint();
    if (tag >>> 3 == 0) {
      throw malformed("a field has the number 0");
    }
    return tag;
  }

  /** The length of a field, which lies within the innermost message. */
  int readLength() {
    int length = (int) readVarint();
    if (length < 0) {
      throw malformed("a field has a negative length");
    }
    if (length > limit - position()) {
      throw truncated();
    }
    return length;
  }

  long readVarint() {
    byte b = next();
    if (b >= 0) {
      return b;
    }
    long value = b & 0x7F;
    for (int shift = 7; shift < Long.SIZE; shift += 7) {
      b = next();
      value |= (long) (b & 0x7F) << shift;
      if (b >= 0) {
        return value;
      }
    }
    throw malformed("a number has more than 10 bytes");
  }

  int readFixed32() {
    if (chunk.remaining() >= Integer.BYTES) {
      return chunk.getInt();
    }
    int value = 0;
    for (int i = 0; i < Integer.SIZE; i += 8) {
      value |= (next() & 0xFF) << i;
    }
    return value;
  }

  long readFixed64() {
    if (chunk.remaining() >= Long.BYTES) {
      return chunk.getLong();
    }
    long value = 0;
    for (int i = 0; i < Long.SIZE; i += 8) {
      value |= (next() & 0xFFL) << i;
    }
    return value;
  }

  /** A string with its length. */
  String readString() {
    byte[] bytes = readBytes(readLength());
    for (byte b : bytes) {
      if (b < 0) {
        return decode(bytes);
      }
    }
    return new String(bytes, StandardCharsets.ISO_8859_1); // ASCII
  }

  private static String decode(byte[] bytes) {
    try {
      CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return text.toString();
    } catch (CharacterCodingException e) {
      throw malformed("a string is not UTF-8");
    }
  }

  /** Returns the next bytes; allocation is bounded by the bytes that have come. */
  byte[] readBytes(int length) {
    takeHeap(length);
    byte[] bytes = new byte[lengthKnown ? length : Math.min(length, TRUSTED_BYTES)];
    int done = 0;
    while (done < length) {
      more();
      int count = Math.min(chunk.remaining(), length - done);
      if (count > bytes.length - done) {
        int twice = (int) Math.min(length, 2L * bytes.length);
        bytes = Arrays.copyOf(bytes, Math.max(done + count, twice));
      }
      chunk.get(bytes, done, count);
      done += count;
    }
    return bytes;
  }

  /** Takes heap from the budget, except for small messages. */
  void takeHeap(long length) {
    if (heap == null || length <= freeBytes) {
      freeBytes -= (int) Math.min(length, freeBytes);
      return;
    }
    if (!heap.fits(length) || !heap.take(length)) {
      throw new NereidException(StatusCode.RESOURCE_EXHAUSTED, heap.refusal(length));
    }
    takenBytes += length;
  }

  /** Gives back the budget of the arrays, which are not needed any more. */
  void giveBackHeap() {
    if (takenBytes > 0) {
      heap.giveBack(takenBytes);
      takenBytes = 0;
    }
  }

  /** Copies the next bytes to {@code target}, from {@code offset} on. */
  void readTo(MemorySegment target, long offset, long length) {
    long done = 0;
    while (done < length) {
      more();
      int count = (int) Math.min(chunk.remaining(), length - done);
      MemorySegment.copy(MemorySegment.ofBuffer(chunk), 0, target, offset + done, count);
      chunk.position(chunk.position() + count);
      done += count;
    }
  }

  void skip(long length) {
    long left = length;
    while (left > 0) {
      more();
      int count = (int) Math.min(chunk.remaining(), left);
      chunk.position(chunk.position() + count);
      left -= count;
    }
  }

  /** Skips the value behind an unknown tag. */
  void skipField(int tag) {
    switch (tag & 7) {
      case VARINT -> readVarint();
      case FIXED64 -> skip(Long.BYTES);
      case DELIMITED -> skip(readLength());
      case START_GROUP -> skipGroup(tag >>> 3);
      case END_GROUP -> throw malformed("a group ends that did not begin");
      case FIXED32 -> skip(Integer.BYTES);
      default -> throw malformed("a field has the wire type " + (tag & 7));
    }
  }

  private void skipGroup(int number) {
    deeper();
    while (true) {
      int tag = readTag();
      if (tag == 0) {
        throw truncated();
      }
      if ((tag & 7) == END_GROUP) {
        if (tag >>> 3 != number) {
          throw malformed("a group ends that is not the innermost");
        }
        depth--;
        return;
      }
      skipField(tag);
    }
  }

  // ---- Messages in messages --------------------------------------------------------------------

  /** Begins to read a message of this length; the result is for {@link #leave}. */
  long enter(int length) {
    deeper();
    long outer = limit;
    limit = position() + length;
    limitChunk();
    return outer;
  }

  /** Goes back to the message around the one that was read to its end. */
  void leave(long outer) {
    depth--;
    limit = outer;
    limitChunk();
  }

  private void deeper() {
    if (++depth > DEPTH_LIMIT) {
      throw malformed("messages are nested more than " + DEPTH_LIMIT + " deep");
    }
  }

  /** Counts an input, an output, contents or a parameter. */
  void countPart() {
    if (++partCount > PART_LIMIT) {
      throw malformed("it has more than " + PART_LIMIT + " inputs, outputs and parameters");
    }
  }

  /** Bytes to the end of the innermost message; a very large number if unknown. */
  long remaining() {
    return limit - position();
  }

  // ---- Bytes -----------------------------------------------------------------------------------

  private long position() {
    return chunkOffset + chunk.position();
  }

  private byte next() {
    if (!chunk.hasRemaining()) {
      more();
    }
    return chunk.get();
  }

  /** Makes sure that a byte of the innermost message is there. */
  private void more() {
    if (!chunk.hasRemaining() && (position() == limit || !fill())) {
      throw truncated();
    }
  }

  /** Goes on to the next chunk; false at the end of the stream. */
  private boolean fill() {
    if (stream == null) {
      return false;
    }
    long position = position();
    try {
      if (!(lendsBuffers ? fillFromBuffers() : fillFromStream())) {
        return false;
      }
    } catch (IOException e) {
      throw broken(e);
    }
    chunkBegin = chunk.position();
    chunkEnd = chunk.limit();
    chunkOffset = position - chunkBegin;
    limitChunk();
    return true;
  }

  private boolean fillFromBuffers() throws IOException {
    long used = chunkEnd - chunkBegin;
    chunkBegin = chunkEnd;
    while (used > 0) {
      used -= stream.skip(used);
    }
    ByteBuffer next = ((HasByteBuffer) stream).getByteBuffer();
    if (next == null || !next.hasRemaining()) {
      return false;
    }
    chunk = next.order(ByteOrder.LITTLE_ENDIAN);
    return true;
  }

  private boolean fillFromStream() throws IOException {
    if (chunk.capacity() == 0) {
      chunk = ByteBuffer.allocate(CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }
    int count = stream.read(chunk.array(), 0, chunk.capacity());
    if (count <= 0) {
      return false;
    }
    chunk.clear().limit(count);
    return true;
  }

  private void limitChunk() {
    chunk.limit((int) Math.min(chunkEnd, limit - chunkOffset));
  }

  // ---- What is wrong ---------------------------------------------------------------------------

  private static NereidException truncated() {
    return malformed("it ends too early, or a field reaches beyond the message around it");
  }

  private static NereidException broken(IOException cause) {
    return malformed("it cannot be decompressed (" + cause.getMessage() + ")");
  }

  static NereidException malformed(String what) {
    return GrpcStatus.invalidArgument("failed to parse the request: " + what);
  }
}
