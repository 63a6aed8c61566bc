package io.nereid.types;

/**
 * Conversion between floats and the 16-bit datatypes {@link DataType#FP16}, {@link DataType#BF16}.
 */
public final class HalfPrecision {

  private HalfPrecision() {}

  /** The value of an FP16 bit pattern. */
  public static float fp16ToFloat(short bits) {
    int sign = (bits & 0x8000) << 16;
    int magnitude = bits & 0x7FFF;
    if (magnitude < 0x0400) { // zero or subnormal: a multiple of 2^-24
      return Float.intBitsToFloat(sign | Float.floatToRawIntBits(magnitude * 0x1p-24f));
    }
    // The exponent's bias is 112 less than a float's; infinity and NaN take another 112.
    int rebias = magnitude < 0x7C00 ? 112 << 23 : 224 << 23;
    return Float.intBitsToFloat(sign | (magnitude << 13) + rebias);
  }

  /** The nearest FP16; ties go to the even one, values that are too large become infinite. */
  public static short floatToFp16(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = (bits >>> 16) & 0x8000;
    int magnitude = bits & 0x7FFF_FFFF;
    if (magnitude > 0x7F80_0000) { // stays a NaN when its payload is cut off
      return (short) (sign | 0x7E00 | ((magnitude >>> 13) & 0x1FF));
    }
    if (magnitude >= 0x477F_F000) { // 65520 and more round to infinity
      return (short) (sign | 0x7C00);
    }
    if (magnitude < 0x3880_0000) { // below 2^-14 the result is a multiple of 2^-24
      return (short) (sign | (int) Math.rint(Math.abs(value) * 0x1p24));
    }
    int roundToEven = 0xFFF + ((magnitude >>> 13) & 1);
    return (short) (sign | (magnitude - (112 << 23) + roundToEven) >>> 13);
  }

  /** The value of a BF16 bit pattern. */
  public static float bf16ToFloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /** The nearest BF16; ties go to the even one. */
  public static short floatToBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) ((bits >>> 16) | 0x40); // stays a NaN when its payload is cut off
    }
    int roundToEven = 0x7FFF + ((bits >>> 16) & 1);
    return (short) ((bits + roundToEven) >>> 16);
  }

  public static float toFloat(DataType type, short bits) {
    return type == DataType.FP16 ? fp16ToFloat(bits) : bf16ToFloat(bits);
  }

  public static short ofFloat(DataType type, float value) {
    return type == DataType.FP16 ? floatToFp16(value) : floatToBf16(value);
  }
}
