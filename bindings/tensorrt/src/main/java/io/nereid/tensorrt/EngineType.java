package io.nereid.tensorrt;

import io.nereid.types.DataType;

/**
 * TensorRT's data types, in the order of its numbers.
 *
 * <p>FP8 has no type in the protocol: it is served as UINT8, byte for byte.
 */
enum EngineType {
  FLOAT(DataType.FP32),
  HALF(DataType.FP16),
  INT8(DataType.INT8),
  INT32(DataType.INT32),
  BOOL(DataType.BOOL),
  UINT8(DataType.UINT8),
  FP8(DataType.UINT8),
  BF16(DataType.BF16),
  INT64(DataType.INT64),
  /** Two elements in a byte: cannot be an input or output of a served model. */
  INT4(null);

  private static final EngineType[] ALL = values();

  private final DataType dataType;

  EngineType(DataType dataType) {
    this.dataType = dataType;
  }

  /** The type with TensorRT's number; null when this version of Nereid does not know it. */
  static EngineType ofNumber(int number) {
    return number >= 0 && number < ALL.length ? ALL[number] : null;
  }

  /** Returns the type that clients see; null when tensors of this type cannot be served. */
  DataType dataType() {
    return dataType;
  }

  int byteSize() {
    return dataType.byteSize();
  }
}
