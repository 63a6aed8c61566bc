package io.nereid.perf;

import io.nereid.client.Tensor;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.jr.ob.JSON;

/** Translates elements of tensors between values of JSON and bytes. */
final class ElementCodec {

  private ElementCodec() {}

  /** Returns the bytes of values, which are numbers, booleans and strings. */
  static byte[] bytes(TensorInfo input, List<?> values) {
    DataType type = input.type();
    if (type == DataType.BYTES) {
      return strings(input, values);
    }
    ByteBuffer out =
        ByteBuffer.allocate(values.size() * type.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
    for (Object value : values) {
      put(input, value, out);
    }
    return out.array();
  }

  private static byte[] strings(TensorInfo input, List<?> values) {
    byte[][] strings = new byte[values.size()][];
    for (int i = 0; i < strings.length; i++) {
      if (!(values.get(i) instanceof String text)) {
        throw wrong(input, "strings", values.get(i));
      }
      strings[i] = text.getBytes(StandardCharsets.UTF_8);
    }
    return bytes(strings);
  }

  static byte[] bytes(byte[][] strings) {
    return Tensor.ofByteStrings(strings, strings.length).toByteArray();
  }

  private static void put(TensorInfo input, Object value, ByteBuffer out) {
    switch (input.type()) {
      case BOOL -> out.put((byte) (truth(input, value) ? 1 : 0));
      case FP16 -> out.putShort(HalfPrecision.floatToFp16(number(input, value).floatValue()));
      case BF16 -> out.putShort(HalfPrecision.floatToBf16(number(input, value).floatValue()));
      case FP32 -> out.putFloat(number(input, value).floatValue());
      case FP64 -> out.putDouble(number(input, value).doubleValue());
      default -> putInteger(out, input.type().byteSize(), integer(input, value));
    }
  }

  static void putInteger(ByteBuffer out, int byteSize, long value) {
    switch (byteSize) {
      case 1 -> out.put((byte) value);
      case 2 -> out.putShort((short) value);
      case 4 -> out.putInt((int) value);
      default -> out.putLong(value);
    }
  }

  private static boolean truth(TensorInfo input, Object value) {
    if (value instanceof Boolean truth) {
      return truth;
    }
    if (value instanceof Number number
        && (number.doubleValue() == 0 || number.doubleValue() == 1)) {
      return number.doubleValue() == 1;
    }
    throw wrong(input, "true, false, 1 or 0", value);
  }

  private static Number number(TensorInfo input, Object value) {
    if (value instanceof Number number) {
      return number;
    }
    throw wrong(input, "numbers", value);
  }

  private static long integer(TensorInfo input, Object value) {
    int bits = 8 * input.type().byteSize();
    boolean unsigned = input.type().name().startsWith("U");
    BigInteger least = unsigned ? BigInteger.ZERO : BigInteger.ONE.shiftLeft(bits - 1).negate();
    BigInteger most = BigInteger.ONE.shiftLeft(unsigned ? bits : bits - 1).subtract(BigInteger.ONE);
    try {
      BigInteger number = new BigDecimal(number(input, value).toString()).toBigIntegerExact();
      if (number.compareTo(least) >= 0 && number.compareTo(most) <= 0) {
        return number.longValue();
      }
    } catch (ArithmeticException e) {
      throw wrong(input, "whole numbers", value);
    }
    throw wrong(input, "numbers from " + least + " to " + most, value);
  }

  private static PerfException wrong(TensorInfo input, String expected, Object got) {
    return new PerfException(
        "expected "
            + expected
            + " for input '"
            + input.name()
            + "' of type "
            + input.type()
            + ", got "
            + got);
  }

  /** Appends the elements as JSON, with commas between them. */
  static void json(TensorInfo input, byte[] bytes, StringBuilder out) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (boolean first = true; in.hasRemaining(); first = false) {
      if (!first) {
        out.append(',');
      }
      switch (input.type()) {
        case BOOL -> out.append(in.get() != 0);
        case INT8 -> out.append(in.get());
        case UINT8 -> out.append(in.get() & 0xff);
        case INT16 -> out.append(in.getShort());
        case UINT16 -> out.append(in.getShort() & 0xffff);
        case INT32 -> out.append(in.getInt());
        case UINT32 -> out.append(in.getInt() & 0xffff_ffffL);
        case INT64 -> out.append(in.getLong());
        case UINT64 -> out.append(Long.toUnsignedString(in.getLong()));
        case FP32 -> out.append(in.getFloat());
        case FP64 -> out.append(in.getDouble());
        case BYTES -> out.append(string(in));
        case FP16, BF16 ->
            throw new PerfException(
                "input '"
                    + input.name()
                    + "' is of type "
                    + input.type()
                    + ", which has no form in JSON: use --input-form binary or shm");
      }
    }
  }

  private static String string(ByteBuffer in) {
    byte[] text = new byte[in.getInt()];
    in.get(text);
    try {
      return JSON.std.asString(new String(text, StandardCharsets.UTF_8));
    } catch (tools.jackson.core.JacksonException e) {
      throw new PerfException("a string cannot be written as JSON: " + e.getMessage(), e);
    }
  }

  /** True if raw bytes have as many elements as the shape. */
  static boolean fits(DataType type, long elements, byte[] bytes) {
    if (type != DataType.BYTES) {
      return bytes.length == elements * type.byteSize();
    }
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long count = 0;
    while (in.remaining() >= 4) {
      int length = in.getInt();
      if (length < 0 || length > in.remaining()) {
        return false;
      }
      in.position(in.position() + length);
      count++;
    }
    return !in.hasRemaining() && count == elements;
  }
}
