package io.nereid.server.trace;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A copy of a tensor at one moment of its request, owned by the trace.
 *
 * @param activity the moment, by Triton's name
 * @param contents a copy; empty: there was no room for one, or the tensor is on a GPU
 */
record TracedTensor(
    String activity, String name, DataType dataType, long[] shape, byte[] contents) {

  /** The heap of an entry, beside its contents. */
  static final int ENTRY_BYTES = 256;

  /** The longest text from a client, so that long ones do not add up in the queue. */
  private static final int MOST_TEXT = 512;

  private static final byte[] NONE = {};

  /** Records a tensor that can be read now, with its contents if {@code copied}. */
  static TracedTensor of(String activity, String name, Tensor tensor, boolean copied) {
    return new TracedTensor(
        activity,
        name,
        tensor.dataType(),
        tensor.shape(),
        copied ? tensor.segment().toArray(JAVA_BYTE) : NONE);
  }

  /** Returns a foreign text, cut to the longest that a trace keeps. */
  static String limited(String text) {
    return text.length() <= MOST_TEXT ? text : text.substring(0, MOST_TEXT);
  }

  /** The tensor's elements as text, one after the other. */
  Elements elements() {
    return new Elements(dataType, contents);
  }

  /** Reads the elements of a tensor out of its contents. */
  static final class Elements {

    private final DataType type;
    private final ByteBuffer left;

    private Elements(DataType type, byte[] contents) {
      this.type = type;
      left = ByteBuffer.wrap(contents).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** True if there is another whole element: inputs are recorded before they are checked. */
    boolean hasNext() {
      int least = type == DataType.BYTES ? Integer.BYTES : type.byteSize();
      if (left.remaining() < least) {
        return false;
      }
      int length = type == DataType.BYTES ? left.getInt(left.position()) : 0;
      return length >= 0 && left.remaining() - least >= length;
    }

    /** The next element as Triton writes it: booleans as 1 and 0, strings between quotes. */
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
}
