package io.nereid.server.trace;

import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The elements of a traced tensor as text, one after the other. */
final class TensorText {

  private final DataType type;
  private final ByteBuffer left;

  TensorText(TracedTensor tensor) {
    type = tensor.dataType();
    left = ByteBuffer.wrap(tensor.contents()).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Whether there is another whole element: inputs are recorded before they are checked. */
  boolean hasNext() {
    int least = type == DataType.BYTES ? Integer.BYTES : type.byteSize();
    if (left.remaining() < least) {
      return false;
    }
    int length = type == DataType.BYTES ? left.getInt(left.position()) : 0;
    return length >= 0 && left.remaining() - least >= length;
  }

  /** As Triton has it: truth as 1 and 0, strings between quotes. */
  String next() {
    return switch (type) {
      case BOOL -> left.get() == 0 ? "0" : "1";
      case INT8 -> Integer.toString(left.get());
      case UINT8 -> Integer.toString(left.get() & 0xff);
      case INT16 -> Integer.toString(left.getShort());
      case UINT16 -> Integer.toString(left.getShort() & 0xffff);
      case INT32 -> Integer.toString(left.getInt());
      case UINT32 -> Integer.toUnsignedString(left.getInt());
      case INT64 -> Long.toString(left.getLong());
      case UINT64 -> Long.toUnsignedString(left.getLong());
      case FP16 -> Float.toString(Float.float16ToFloat(left.getShort()));
      case BF16 -> Float.toString(Float.intBitsToFloat(left.getShort() << 16));
      case FP32 -> Float.toString(left.getFloat());
      case FP64 -> Double.toString(left.getDouble());
      case BYTES -> string();
    };
  }

  private String string() {
    byte[] bytes = new byte[left.getInt()];
    left.get(bytes);
    return '"' + new String(bytes, StandardCharsets.UTF_8) + '"';
  }
}
