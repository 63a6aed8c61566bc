package io.nereid.types;

import java.util.Locale;

/** The type of a tensor's elements: the protocol's thirteen and BF16. */
public enum DataType {
  /** One byte, 0 or 1. */
  BOOL(1, 1),
  /** Unsigned 8-bit integer. */
  UINT8(2, 1),
  /** Unsigned 16-bit integer. */
  UINT16(3, 2),
  /** Unsigned 32-bit integer. */
  UINT32(4, 4),
  /** Unsigned 64-bit integer. */
  UINT64(5, 8),
  /** Signed 8-bit integer. */
  INT8(6, 1),
  /** Signed 16-bit integer. */
  INT16(7, 2),
  /** Signed 32-bit integer. */
  INT32(8, 4),
  /** Signed 64-bit integer. */
  INT64(9, 8),
  /** IEEE 754 half precision. */
  FP16(10, 2),
  /** IEEE 754 single precision. */
  FP32(11, 4),
  /** IEEE 754 double precision. */
  FP64(12, 8),
  /** Byte strings: each a 32-bit little-endian length and that many bytes, one after another. */
  BYTES(13, 0),
  /** The upper half of an FP32. */
  BF16(14, 2);

  private static final DataType[] BY_CODE = new DataType[15];

  static {
    for (DataType type : values()) {
      BY_CODE[type.code] = type;
    }
  }

  private final int code;
  private final int byteSize;

  DataType(int code, int byteSize) {
    this.code = code;
    this.byteSize = byteSize;
  }

  /** Bytes per element; 0 for {@link #BYTES}, whose elements differ in size. */
  public int byteSize() {
    return byteSize;
  }

  /** True if every element has the same size: all but {@link #BYTES}. */
  public boolean isFixedSize() {
    return byteSize != 0;
  }

  /** The type with the protocol's name, such as {@code FP32}; upper and lower case alike. */
  public static DataType ofName(String name) {
    String upper = name.toUpperCase(Locale.ROOT);
    for (DataType type : BY_CODE) {
      if (type != null && type.name().equals(upper)) {
        return type;
      }
    }
    throw new NereidException(StatusCode.INVALID_ARGUMENT, "unknown data-type '" + name + "'");
  }

  /** The type's number, in the C ABI of the core and in Triton's model configuration alike. */
  public int code() {
    return code;
  }

  /** The type with the number that the core gave. */
  public static DataType ofCode(int code) {
    DataType type = code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    if (type == null) {
      throw new NereidException(StatusCode.INTERNAL, "the core answered with data-type " + code);
    }
    return type;
  }
}
