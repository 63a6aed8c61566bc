package io.nereid.client;

/** The type of a tensor's elements: the protocol's thirteen and BF16. */
public enum DataType {
  /** One byte, 0 or 1. */
  BOOL(1),
  /** Unsigned 8-bit integer. */
  UINT8(1),
  /** Unsigned 16-bit integer. */
  UINT16(2),
  /** Unsigned 32-bit integer. */
  UINT32(4),
  /** Unsigned 64-bit integer. */
  UINT64(8),
  /** Signed 8-bit integer. */
  INT8(1),
  /** Signed 16-bit integer. */
  INT16(2),
  /** Signed 32-bit integer. */
  INT32(4),
  /** Signed 64-bit integer. */
  INT64(8),
  /** IEEE 754 half precision. */
  FP16(2),
  /** The upper half of an FP32. */
  BF16(2),
  /** IEEE 754 single precision. */
  FP32(4),
  /** IEEE 754 double precision. */
  FP64(8),
  /** Byte strings: each a 32-bit little-endian length and that many bytes, one after another. */
  BYTES(0);

  private static final DataType[] VALUES = values();

  private final int byteSize;

  DataType(int byteSize) {
    this.byteSize = byteSize;
  }

  /** Bytes per element; 0 for {@link #BYTES}, whose elements differ in size. */
  public int byteSize() {
    return byteSize;
  }

  /** Whether every element has the same size: all but {@link #BYTES}. */
  public boolean isFixedSize() {
    return byteSize != 0;
  }

  /** The type that a server names in its reply. */
  static DataType ofReply(String name, String tensor) {
    for (DataType type : VALUES) {
      if (type.name().equals(name)) {
        return type;
      }
    }
    throw InferenceException.malformed("output '" + tensor + "' has the datatype '" + name + "'");
  }
}
