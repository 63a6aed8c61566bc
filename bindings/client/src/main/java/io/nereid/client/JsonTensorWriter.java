package io.nereid.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;

/** Writes a tensor's elements as a flat JSON array, for servers that know nothing else. */
final class JsonTensorWriter {

  private JsonTensorWriter() {}

  static void write(String input, Tensor tensor, JsonWriter json) {
    DataType type = tensor.dataType();
    if (type == DataType.FP16 || type == DataType.BF16) {
      throw new IllegalArgumentException(
          "input '" + input + "': " + type + " has no form in JSON, only as binary data");
    }
    json.raw('[');
    if (type == DataType.BYTES) {
      byte[][] values = tensor.toByteStrings();
      for (int i = 0; i < values.length; i++) {
        if (i > 0) {
          json.raw(',');
        }
        json.string(values[i]);
      }
    } else {
      MemorySegment data = tensor.segment();
      long count = data.byteSize() / type.byteSize();
      for (long i = 0; i < count; i++) {
        if (i > 0) {
          json.raw(',');
        }
        element(type, data, i, json);
      }
    }
    json.raw(']');
  }

  private static void element(DataType type, MemorySegment data, long i, JsonWriter json) {
    switch (type) {
      case BOOL -> json.raw(data.get(JAVA_BYTE, i) == 0 ? "false" : "true");
      case INT8 -> json.number(data.get(JAVA_BYTE, i));
      case UINT8 -> json.number(Byte.toUnsignedLong(data.get(JAVA_BYTE, i)));
      case INT16 -> json.number(data.get(Layouts.SHORT, i * Short.BYTES));
      case UINT16 -> json.number(Short.toUnsignedLong(data.get(Layouts.SHORT, i * Short.BYTES)));
      case INT32 -> json.number(data.get(Layouts.INT, i * Integer.BYTES));
      case UINT32 -> json.number(Integer.toUnsignedLong(data.get(Layouts.INT, i * Integer.BYTES)));
      case INT64 -> json.number(data.get(Layouts.LONG, i * Long.BYTES));
      case UINT64 -> json.raw(Long.toUnsignedString(data.get(Layouts.LONG, i * Long.BYTES)));
      case FP32 -> json.raw(Float.toString(data.get(Layouts.FLOAT, i * Float.BYTES)));
      case FP64 -> json.raw(Double.toString(data.get(Layouts.DOUBLE, i * Double.BYTES)));
      case FP16, BF16, BYTES -> throw new IllegalStateException(type + " is not written here");
    }
  }
}
