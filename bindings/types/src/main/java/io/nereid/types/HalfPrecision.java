package io.nereid.types;

/**
 * Conversion between floats and the 16-bit datatypes {@link DataType#FP16}, {@link DataType#BF16}.
 */
public final class HalfPrecision {

  private HalfPrecision() {}

  /** The value of an FP16 bit pattern. */
  public static float fp16ToFloat(short bits) {
    return Float.float16ToFloat(bits);
  }

  /** The nearest FP16; ties go to the even one, values that are too large become infinite. */
  public static short floatToFp16(float value) {
    return Float.floatToFloat16(value);
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
