package io.nereid.perf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * Tensors of no particular content.
 *
 * @param zero all elements are zero, strings empty
 * @param least of numbers
 * @param most of numbers, exclusive unless it equals the least
 * @param string every string; null: random ones
 * @param stringLength characters of a random string
 */
record GeneratedData(boolean zero, double least, double most, String string, int stringLength) {

  /** A tensor; the same one for the same state of the generator. */
  Tensor tensor(TensorInfo input, long[] shape, Random random) {
    int count = Math.toIntExact(InputShapes.elementCount(shape));
    DataType type = input.type();
    if (type == DataType.BYTES) {
      return new Tensor(input, shape, strings(count, random));
    }
    ByteBuffer out = ByteBuffer.allocate(count * type.byteSize()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count && !zero; i++) {
      double value = least + random.nextDouble() * (most - least);
      switch (type) {
        case BOOL -> out.put((byte) (random.nextBoolean() ? 1 : 0));
        case FP16 -> out.putShort(Float.floatToFloat16((float) value));
        case BF16 -> out.putShort(ElementCodec.bfloat16((float) value));
        case FP32 -> out.putFloat((float) value);
        case FP64 -> out.putDouble(value);
        default -> ElementCodec.putInteger(out, type.byteSize(), whole(type, value));
      }
    }
    return new Tensor(input, shape, out.array());
  }

  /** The default range of floats has one whole number only, which would exercise little. */
  private long whole(DataType type, double value) {
    long number = (long) Math.floor(least == 0 && most == 1 ? value * 100 : value);
    return type.name().startsWith("U") ? Math.max(0, number) : number;
  }

  private byte[] strings(int count, Random random) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      ElementCodec.writeString(text(random), out);
    }
    return out.toByteArray();
  }

  private byte[] text(Random random) {
    if (string != null) {
      return string.getBytes(StandardCharsets.UTF_8);
    }
    byte[] text = new byte[zero ? 0 : stringLength];
    for (int i = 0; i < text.length; i++) {
      text[i] = (byte) ('a' + random.nextInt(26));
    }
    return text;
  }
}
