package io.nereid.perf;

/** The type of a tensor's elements: the protocol's thirteen and BF16. */
enum DataType {
  BOOL(1),
  UINT8(1),
  UINT16(2),
  UINT32(4),
  UINT64(8),
  INT8(1),
  INT16(2),
  INT32(4),
  INT64(8),
  FP16(2),
  BF16(2),
  FP32(4),
  FP64(8),
  /** Each element a 32-bit little-endian length and that many bytes. */
  BYTES(0);

  private final int byteSize;

  DataType(int byteSize) {
    this.byteSize = byteSize;
  }

  /** Bytes per element; 0 for {@link #BYTES}. */
  int byteSize() {
    return byteSize;
  }

  boolean hasJsonForm() {
    return this != FP16 && this != BF16;
  }

  /** By the protocol's name, which a server told for a tensor. */
  static DataType of(String name, String tensor) {
    for (DataType type : values()) {
      if (type.name().equals(name)) {
        return type;
      }
    }
    throw new PerfException(
        "the server says that tensor '"
            + tensor
            + "' has the datatype '"
            + name
            + "', which is none of the protocol's");
  }
}
