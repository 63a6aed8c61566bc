package io.nereid.server.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Writes a tensor's elements as a flat JSON array. */
final class TensorJsonWriter {

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

  private TensorJsonWriter() {}

  static void write(Tensor tensor, String output, JsonBuffer json) {
    json.write('[');
    writeElements(tensor, output, json);
    json.write(']');
  }

  /** The elements with commas between them. */
  static void writeElements(Tensor tensor, String output, JsonBuffer json) {
    DataType type = tensor.dataType();
    if (type == DataType.FP16 || type == DataType.BF16) {
      throw HttpFailure.badRequest(
          "sending "
              + type
              + " data via JSON is not supported. Please use the binary data format for output "
              + output);
    }
    MemorySegment data = tensor.segment();
    if (type == DataType.BYTES) {
      writeStrings(data, json);
    } else if (type == DataType.FP32) {
      writeFloats(data, json);
    } else {
      long count = data.byteSize() / type.byteSize();
      for (long i = 0; i < count; i++) {
        if (i > 0) {
          json.write(',');
        }
        element(type, data, i, json);
      }
    }
  }

  private static void writeFloats(MemorySegment data, JsonBuffer json) {
    for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
      if (at > 0) {
        json.write(',');
      }
      // The shortest text that reads back as the same value; NaN and Infinity as such.
      json.number(data.get(FLOAT, at));
    }
  }

  private static void element(DataType type, MemorySegment data, long i, JsonBuffer json) {
    switch (type) {
      case BOOL -> json.ascii(data.get(JAVA_BYTE, i) == 0 ? "false" : "true");
      case INT8 -> json.number(data.get(JAVA_BYTE, i));
      case UINT8 -> json.number(data.get(JAVA_BYTE, i) & 0xff);
      case INT16 -> json.number(data.get(SHORT, i * 2));
      case UINT16 -> json.number(data.get(SHORT, i * 2) & 0xffff);
      case INT32 -> json.number(data.get(INT, i * 4));
      case UINT32 -> json.number(data.get(INT, i * 4) & 0xffff_ffffL);
      case INT64 -> json.number(data.get(LONG, i * 8));
      case UINT64 -> {
        long value = data.get(LONG, i * 8);
        if (value >= 0) {
          json.number(value);
        } else {
          json.ascii(Long.toUnsignedString(value));
        }
      }
      case FP64 -> json.ascii(Double.toString(data.get(DOUBLE, i * 8)));
      case FP32, FP16, BF16, BYTES ->
          throw new IllegalStateException(type + " is not written here");
    }
  }

  /** The runtime has checked the lengths. */
  private static void writeStrings(MemorySegment data, JsonBuffer json) {
    byte[] utf8 = new byte[256];
    for (long at = 0; at < data.byteSize(); ) {
      int length = data.get(INT, at);
      if (length > utf8.length) {
        json.takeHeap(HeapArrays.cost(length));
        utf8 = new byte[length];
      }
      MemorySegment.copy(data, JAVA_BYTE, at + Integer.BYTES, utf8, 0, length);
      if (at > 0) {
        json.write(',');
      }
      json.utf8String(utf8, 0, length);
      at += Integer.BYTES + length;
    }
  }
}
