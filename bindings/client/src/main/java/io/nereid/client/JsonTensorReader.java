package io.nereid.client;

import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the elements of a JSON array, nested in any way, as a tensor's memory. Servers write values
 * differently, and all unambiguous forms are accepted: 0 and 1 for booleans, {@code null} for NaN,
 * integers with a fraction of zero.
 */
final class JsonTensorReader {

  private final JsonParser parser;
  private final String output;
  private final DataType type;
  private final long count;
  private int depth = 1;

  /** Makes a reader of the array at the parser's position. */
  JsonTensorReader(JsonParser parser, String output, DataType type, long count) {
    this.parser = parser;
    this.output = output;
    this.type = type;
    this.count = count;
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw InferenceException.malformed("'data' of output '" + output + "' is not an array");
    }
  }

  /** Reads elements of a fixed size into memory with room for all. */
  void read(ByteBuffer to) {
    long index = 0;
    for (JsonToken token = next(); token != null; token = next()) {
      checkCount(index < count, index);
      Buffers.put(to, type.byteSize(), bits(index, token));
      index++;
    }
    checkCount(index == count, index);
  }

  /** Reads strings as {@link DataType#BYTES}. */
  ByteBuffer readBytes() {
    ByteArrayOutputStream encoded = new ByteArrayOutputStream();
    long index = 0;
    for (JsonToken token = next(); token != null; token = next()) {
      checkCount(index < count, index);
      if (token != JsonToken.VALUE_STRING) {
        throw wrong(index);
      }
      byte[] utf8 = parser.getString().getBytes(StandardCharsets.UTF_8);
      for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
        encoded.write(utf8.length >> shift);
      }
      encoded.writeBytes(utf8);
      index++;
    }
    checkCount(index == count, index);
    return ByteBuffer.wrap(encoded.toByteArray());
  }

  /** Returns the next element; null at the end of the outermost array. */
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

  private void checkCount(boolean fits, long index) {
    if (!fits) {
      throw InferenceException.malformed(
          "output '%s' has %s elements by its shape, and %s in 'data'"
              .formatted(output, count, index < count ? index : "more"));
    }
  }

  /** The bits of the element at the parser's position. */
  private long bits(long index, JsonToken token) {
    return switch (type) {
      case FP32 -> Float.floatToRawIntBits(floatValue(index, token));
      case FP64 -> Double.doubleToRawLongBits(doubleValue(index, token));
      case FP16, BF16 -> HalfPrecision.ofFloat(type, floatValue(index, token));
      case BOOL -> boolValue(index, token);
      case INT8 -> integer(index, token, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case UINT8 -> integer(index, token, 0, 0xff);
      case INT16 -> integer(index, token, Short.MIN_VALUE, Short.MAX_VALUE);
      case UINT16 -> integer(index, token, 0, 0xffff);
      case INT32 -> integer(index, token, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case UINT32 -> integer(index, token, 0, 0xffff_ffffL);
      case INT64 -> integer(index, token, Long.MIN_VALUE, Long.MAX_VALUE);
      case UINT64 -> unsignedLong(index, token);
      case BYTES -> throw new IllegalStateException("BYTES are not read here");
    };
  }

  private float floatValue(long index, JsonToken token) {
    return switch (token) {
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getFloatValue();
      case VALUE_NULL -> Float.NaN;
      default -> throw wrong(index);
    };
  }

  private double doubleValue(long index, JsonToken token) {
    return switch (token) {
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_NULL -> Double.NaN;
      default -> throw wrong(index);
    };
  }

  private byte boolValue(long index, JsonToken token) {
    return switch (token) {
      case VALUE_TRUE -> 1;
      case VALUE_FALSE -> 0;
      default -> (byte) integer(index, token, 0, 1);
    };
  }

  private long integer(long index, JsonToken token, long least, long most) {
    if (token == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      long value = parser.getLongValue();
      if (value >= least && value <= most) {
        return value;
      }
    } else if (token == JsonToken.VALUE_NUMBER_FLOAT) {
      double value = parser.getDoubleValue();
      if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
        if (value >= least && value <= most) {
          return (long) value;
        }
      }
    }
    throw wrong(index);
  }

  private long unsignedLong(long index, JsonToken token) {
    if (token == JsonToken.VALUE_NUMBER_INT) {
      BigInteger value = parser.getBigIntegerValue();
      if (value.signum() >= 0 && value.bitLength() <= Long.SIZE) {
        return value.longValue();
      }
    }
    throw wrong(index);
  }

  private InferenceException wrong(long index) {
    return InferenceException.malformed(
        "element %s of output '%s' is no %s: %s"
            .formatted(
                index, output, type, HttpFailures.shortened(String.valueOf(parser.getString()))));
  }
}
