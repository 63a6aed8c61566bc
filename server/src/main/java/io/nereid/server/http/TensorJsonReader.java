package io.nereid.server.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.DataType;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Writes the elements of a JSON array, nested in any way, into a tensor's memory. */
final class TensorJsonReader {

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final JsonParser parser;
  private final String input;
  private final DataType type;
  private final long count;

  /** Reads the array that the parser is at. */
  TensorJsonReader(JsonParser parser, String input, DataType type, long count) {
    this.parser = parser;
    this.input = input;
    this.type = type;
    this.count = count;
  }

  /** Reads elements of a fixed size. */
  void read(MemorySegment to) {
    long index = 0;
    for (JsonToken token = next(); token != null; token = next()) {
      checkRoom(index);
      put(to, index, token);
      index++;
    }
    checkComplete(index);
  }

  /** Reads strings, with the length before each; fails beyond {@code mostBytes}. */
  byte[] readBytes(long mostBytes) {
    ByteArrayOutputStream encoded = new ByteArrayOutputStream();
    long index = 0;
    for (JsonToken token = next(); token != null; token = next()) {
      checkRoom(index);
      if (token != JsonToken.VALUE_STRING) {
        throw wrong(index, "a string");
      }
      byte[] utf8 = parser.getString().getBytes(StandardCharsets.UTF_8);
      if (encoded.size() + (long) utf8.length + Integer.BYTES > mostBytes) {
        throw tooLarge(input, encoded.size() + (long) utf8.length + Integer.BYTES, mostBytes);
      }
      for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
        encoded.write(utf8.length >> shift);
      }
      encoded.writeBytes(utf8);
      index++;
    }
    checkComplete(index);
    return encoded.toByteArray();
  }

  static HttpFailure tooLarge(String input, long byteSize, long mostBytes) {
    return new HttpFailure(
        Status.CONTENT_TOO_LARGE,
        "JSON input '"
            + input
            + "' has a byte_size ("
            + byteSize
            + ") that exceeds the maximum allowed value of "
            + mostBytes
            + ". Use --http-max-input-size to increase the limit.");
  }

  private int depth = 1;

  /** The next element; null at the end of the outermost array. */
  private JsonToken next() {
    while (true) {
      JsonToken token = parser.nextToken();
      if (token == JsonToken.START_ARRAY) {
        depth++;
      } else if (token != JsonToken.END_ARRAY) {
        return token;
      } else if (--depth == 0) {
        return null;
      }
    }
  }

  private void checkRoom(long index) {
    if (index == count) {
      throw HttpFailure.badRequest(
          "Unable to parse 'data': Shape does not match true shape of 'data' field: input '"
              + input
              + "' has "
              + count
              + " elements by its shape, and more in 'data'");
    }
  }

  private void checkComplete(long index) {
    if (index < count) {
      throw HttpFailure.badRequest(
          "Failed to parse 'data' field: shape does not match true shape: input '"
              + input
              + "' has "
              + count
              + " elements by its shape, and "
              + index
              + " in 'data'");
    }
  }

  private void put(MemorySegment to, long index, JsonToken token) {
    switch (type) {
      case FP32 -> to.set(FLOAT, index * Float.BYTES, floatValue(index, token));
      case FP64 -> to.set(DOUBLE, index * Double.BYTES, doubleValue(index, token));
      case BOOL -> to.set(JAVA_BYTE, index, boolValue(index, token));
      case INT8 -> to.set(JAVA_BYTE, index, (byte) integer(index, token, Byte.MIN_VALUE, 127));
      case UINT8 -> to.set(JAVA_BYTE, index, (byte) integer(index, token, 0, 255));
      case INT16 -> to.set(SHORT, index * 2, (short) integer(index, token, -32768, 32767));
      case UINT16 -> to.set(SHORT, index * 2, (short) integer(index, token, 0, 65535));
      case INT32 ->
          to.set(
              INT,
              index * Integer.BYTES,
              (int) integer(index, token, Integer.MIN_VALUE, Integer.MAX_VALUE));
      case UINT32 -> to.set(INT, index * 4, (int) integer(index, token, 0, 0xffff_ffffL));
      case INT64 -> to.set(LONG, index * 8, integer(index, token, Long.MIN_VALUE, Long.MAX_VALUE));
      case UINT64 -> to.set(LONG, index * 8, unsignedLong(index, token));
      case FP16, BF16, BYTES -> throw new IllegalStateException(type + " is not read here");
    }
  }

  private float floatValue(long index, JsonToken token) {
    if (token != JsonToken.VALUE_NUMBER_FLOAT && token != JsonToken.VALUE_NUMBER_INT) {
      throw wrong(index, "a number");
    }
    double quick =
        DecimalText.readFloat(
            parser.getStringCharacters(), parser.getStringOffset(), parser.getStringLength());
    if (!Double.isNaN(quick)) {
      return (float) quick;
    }
    float value = parser.getFloatValue();
    if (Float.isInfinite(value) && !parser.isNaN()) {
      throw wrong(index, "a number that fits FP32");
    }
    return value;
  }

  private double doubleValue(long index, JsonToken token) {
    if (token != JsonToken.VALUE_NUMBER_FLOAT && token != JsonToken.VALUE_NUMBER_INT) {
      throw wrong(index, "a number");
    }
    double quick =
        DecimalText.readDouble(
            parser.getStringCharacters(), parser.getStringOffset(), parser.getStringLength());
    if (!Double.isNaN(quick)) {
      return quick;
    }
    double value = parser.getDoubleValue();
    if (Double.isInfinite(value) && !parser.isNaN()) {
      throw wrong(index, "a number that fits FP64");
    }
    return value;
  }

  private byte boolValue(long index, JsonToken token) {
    return switch (token) {
      case VALUE_TRUE -> 1;
      case VALUE_FALSE -> 0;
      default -> throw wrong(index, "true or false");
    };
  }

  private long integer(long index, JsonToken token, long least, long most) {
    if (token == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      long value = parser.getLongValue();
      if (value >= least && value <= most) {
        return value;
      }
    }
    throw wrong(index, "an integer from " + least + " to " + most);
  }

  private long unsignedLong(long index, JsonToken token) {
    if (token == JsonToken.VALUE_NUMBER_INT) {
      BigInteger value = parser.getBigIntegerValue();
      if (value.signum() >= 0 && value.bitLength() <= Long.SIZE) {
        return value.longValue();
      }
    }
    throw wrong(index, "an integer from 0 to 18446744073709551615");
  }

  private HttpFailure wrong(long index, String expected) {
    String got =
        switch (parser.currentToken()) {
          case START_OBJECT -> "an object";
          case VALUE_NULL -> "null";
          case VALUE_STRING -> "a string";
          default -> {
            String text = parser.getString();
            yield text.length() > 40 ? text.substring(0, 40) + "..." : text;
          }
        };
    return HttpFailure.badRequest(
        "Unable to parse 'data': element "
            + index
            + " of input '"
            + input
            + "' of "
            + type
            + ": expected "
            + expected
            + ", got "
            + got);
  }
}
