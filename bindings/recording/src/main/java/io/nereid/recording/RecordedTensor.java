package io.nereid.recording;

import io.nereid.types.DataType;
import java.nio.ByteBuffer;
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

  /** Whether a content was recorded. */
  public enum Presence {
    /** It was. */
    THERE,
    /** It was left out by its name. */
    REDACTED,
    /** It lay in the memory of a GPU. */
    ON_DEVICE
  }
}
