package io.nereid.server.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.shared.HeapArrays;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.function.LongConsumer;

/** Writes the elements of a JSON array, nested in any way, into a tensor's memory. */
final class TensorJsonReader {

  private final JsonReader parser;
  private final String input;
  private final DataType type;
  private final long count;
  private int depth = 1;

  /** Makes a reader of the array at the parser's position. */
  TensorJsonReader(JsonReader parser, String input, DataType type, long count) {
    this.parser = parser;
    this.input = input;
    this.type = type;
    this.count = count;
  }

  /** Reads elements of a fixed size. */
  void read(MemorySegment to) {
    long index = 0;
    for (Token token = next(); token != null; token = next()) {
      checkRoom(index);
      put(to, index, token);
      index++;
    }
    checkComplete(index);
  }

  /** Reads strings, encoded with the length before each; throws beyond {@code mostBytes}. */
  BytesBuffer readBytes(long mostBytes) {
    BytesBuffer encoded = new BytesBuffer(parser::takeHeap);
    long index = 0;
    for (Token token = next(); token != null; token = next()) {
      checkRoom(index);
      if (token != Token.STRING) {
        throw wrong(index, "a string");
      }
      byte[] utf8 = parser.utf8();
      int length = parser.utf8Length();
      long byteSize = encoded.size() + (long) Integer.BYTES + length;
      if (byteSize > mostBytes) {
        throw tooLarge(input, byteSize, mostBytes);
      }
      encoded.add(utf8, length);
      index++;
    }
    checkComplete(index);
    return encoded;
  }

  static HttpFailure tooLarge(String input, long byteSize, long mostBytes) {
    return new HttpFailure(
        Status.CONTENT_TOO_LARGE,
        ("JSON input '%s' has a byte_size (%s) that exceeds the maximum allowed value of %s. "
                + "Use --http-max-input-size to increase the limit.")
            .formatted(input, byteSize, mostBytes));
  }

  /** The next element; null at the end of the outermost array. */
  private Token next() {
    while (true) {
      Token token = parser.next();
      if (token == Token.ARRAY) {
        depth++;
      } else if (token != Token.END_ARRAY) {
        return token;
      } else if (--depth == 0) {
        return null;
      }
    }
  }

  private void checkRoom(long index) {
    if (index == count) {
      throw HttpFailure.badRequest(
          ("Unable to parse 'data': Shape does not match true shape of 'data' field: input '%s' "
                  + "has %s elements by its shape, and more in 'data'")
              .formatted(input, count));
    }
  }

  private void checkComplete(long index) {
    if (index < count) {
      throw HttpFailure.badRequest(
          ("Failed to parse 'data' field: shape does not match true shape: input '%s' has %s "
                  + "elements by its shape, and %s in 'data'")
              .formatted(input, count, index));
    }
  }

  private void put(MemorySegment to, long index, Token token) {
    switch (type) {
      case FP32 -> to.set(JAVA_FLOAT_UNALIGNED, index * Float.BYTES, floatValue(index, token));
      case FP64 -> to.set(JAVA_DOUBLE_UNALIGNED, index * Double.BYTES, doubleValue(index, token));
      case BOOL -> to.set(JAVA_BYTE, index, boolValue(index, token));
      case INT8 -> to.set(JAVA_BYTE, index, (byte) integer(index, token, Byte.MIN_VALUE, 127));
      case UINT8 -> to.set(JAVA_BYTE, index, (byte) integer(index, token, 0, 255));
      case INT16 ->
          to.set(JAVA_SHORT_UNALIGNED, index * 2, (short) integer(index, token, -32768, 32767));
      case UINT16 ->
          to.set(JAVA_SHORT_UNALIGNED, index * 2, (short) integer(index, token, 0, 65535));
      case INT32 ->
          to.set(
              JAVA_INT_UNALIGNED,
              index * Integer.BYTES,
              (int) integer(index, token, Integer.MIN_VALUE, Integer.MAX_VALUE));
      case UINT32 ->
          to.set(JAVA_INT_UNALIGNED, index * 4, (int) integer(index, token, 0, 0xffff_ffffL));
      case INT64 ->
          to.set(
              JAVA_LONG_UNALIGNED,
              index * 8,
              integer(index, token, Long.MIN_VALUE, Long.MAX_VALUE));
      case UINT64 -> to.set(JAVA_LONG_UNALIGNED, index * 8, unsignedLong(index, token));
      case FP16, BF16, BYTES -> throw new IllegalStateException(type + " is not read here");
    }
  }

  private float floatValue(long index, Token token) {
    if (token != Token.FRACTION && token != Token.INTEGER) {
      throw wrong(index, "a number");
    }
    float value = parser.floatValue();
    if (Float.isInfinite(value) && !parser.isSpecial()) {
      throw wrong(index, "a number that fits FP32");
    }
    return value;
  }

  private double doubleValue(long index, Token token) {
    if (token != Token.FRACTION && token != Token.INTEGER) {
      throw wrong(index, "a number");
    }
    double value = parser.doubleValue();
    if (Double.isInfinite(value) && !parser.isSpecial()) {
      throw wrong(index, "a number that fits FP64");
    }
    return value;
  }

  private byte boolValue(long index, Token token) {
    return switch (token) {
      case TRUE -> 1;
      case FALSE -> 0;
      default -> throw wrong(index, "true or false");
    };
  }

  private long integer(long index, Token token, long least, long most) {
    if (token == Token.INTEGER && parser.isLong()) {
      long value = parser.longValue();
      if (value >= least && value <= most) {
        return value;
      }
    }
    throw wrong(index, "an integer from " + least + " to " + most);
  }

  private long unsignedLong(long index, Token token) {
    if (token == Token.INTEGER) {
      BigInteger value = parser.bigIntegerValue();
      if (value.signum() >= 0 && value.bitLength() <= Long.SIZE) {
        return value.longValue();
      }
    }
    throw wrong(index, "an integer from 0 to 18446744073709551615");
  }

  private HttpFailure wrong(long index, String expected) {
    boolean number = parser.token() == Token.INTEGER || parser.token() == Token.FRACTION;
    String got = number ? parser.numberText() : parser.kind();
    if (got.length() > 40) {
      got = got.substring(0, 40) + "...";
    }
    return HttpFailure.badRequest(
        "Unable to parse 'data': element %s of input '%s' of %s: expected %s, got %s"
            .formatted(index, input, type, expected, got));
  }

  /** Collects the elements of a BYTES tensor of unknown size: each one's length, then its bytes. */
  static final class BytesBuffer {

    private final LongConsumer heap;
    private byte[] bytes = new byte[256];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int size;

    /** {@code heap} takes each growth from the heap's budget, and throws if that is exhausted. */
    private BytesBuffer(LongConsumer heap) {
      this.heap = heap;
    }

    int size() {
      return size;
    }

    /** Adds an element, whose bytes are at the start of {@code element}. */
    private void add(byte[] element, int length) {
      int end = Math.addExact(size, Integer.BYTES + length);
      if (end > bytes.length) {
        int room = HeapArrays.grown(bytes.length, end);
        heap.accept(HeapArrays.cost(room) - HeapArrays.cost(bytes.length));
        bytes = Arrays.copyOf(bytes, room);
        segment = MemorySegment.ofArray(bytes);
      }
      segment.set(JAVA_INT_UNALIGNED, size, length);
      System.arraycopy(element, 0, bytes, size + Integer.BYTES, length);
      size = end;
    }

    void copyTo(MemorySegment target) {
      MemorySegment.copy(bytes, 0, target, JAVA_BYTE, 0, size);
    }
  }
}
