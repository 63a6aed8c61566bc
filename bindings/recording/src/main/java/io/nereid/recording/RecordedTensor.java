package io.nereid.recording;

import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Supplier;

/**
 * A tensor of a recorded request.
 *
 * @param name its name in the model's configuration
 * @param dataType the type of its elements
 * @param shape its dimensions
 * @param byteSize the size of its content, recorded or not
 * @param presence whether the content was recorded, or why not
 * @param content gives the elements as the protocol's binary form has them, while the recording is
 *     open; without any where they were not recorded
 */
public record RecordedTensor(
    String name,
    DataType dataType,
    List<Long> shape,
    long byteSize,
    Presence presence,
    Supplier<ByteBuffer> content) {

  /** The content, or zeros of its size where it was not recorded; texts are then one long one. */
  ByteBuffer buffer() {
    if (presence == Presence.THERE) {
      return content.get();
    }
    ByteBuffer zeros =
        ByteBuffer.allocate(Math.toIntExact(byteSize)).order(ByteOrder.LITTLE_ENDIAN);
    long elements = shape.stream().reduce(1L, (a, b) -> a * b);
    if (!dataType.isFixedSize() && elements > 0 && elements <= byteSize / Integer.BYTES) {
      int last = Math.toIntExact(byteSize - elements * Integer.BYTES);
      zeros.putInt(Math.toIntExact((elements - 1) * Integer.BYTES), last);
    }
    return zeros;
  }

  /** The same, in an array of its own. */
  public byte[] bytes() {
    ByteBuffer buffer = buffer();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  /** Says whether a content was recorded, or why not. */
  public enum Presence {
    /** It was. */
    THERE,
    /** It was left out by its name. */
    REDACTED,
    /** It lay in the memory of a GPU. */
    ON_DEVICE
  }
}
