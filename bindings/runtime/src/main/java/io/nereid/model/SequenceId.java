package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.charset.StandardCharsets;

/**
 * The id of a sequence of requests: a name, or a number if the name is empty.
 *
 * @param number an unsigned number; 0 if there is a name
 * @param name at most {@value #MAX_NAME_BYTES} bytes of UTF-8
 */
public record SequenceId(long number, String name) {

  /** The longest name, in bytes. */
  public static final int MAX_NAME_BYTES = 128;

  /** The id of a request that belongs to no sequence. */
  public static final SequenceId NONE = new SequenceId(0, "");

  /**
   * Checks the values.
   *
   * @throws NereidException with {@link StatusCode#UNIMPLEMENTED} for a name that is too long
   */
  public SequenceId {
    Checks.notNull(name, "name");
    if (number != 0 && !name.isEmpty()) {
      throw new IllegalArgumentException("a sequence has a number or a name, not both");
    }
    // A character takes at least a byte, so long names need not be encoded.
    if (name.length() > MAX_NAME_BYTES
        || name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "string correlation ID cannot be longer than " + MAX_NAME_BYTES + " characters");
    }
  }

  /** A number; 0 is {@link #NONE}. */
  public static SequenceId of(long number) {
    return new SequenceId(number, "");
  }

  /** A name; the empty one is {@link #NONE}. */
  public static SequenceId of(String name) {
    return new SequenceId(0, name);
  }

  /** True if this is no sequence. */
  public boolean isNone() {
    return number == 0 && name.isEmpty();
  }

  /** The name, or the number. */
  @Override
  public String toString() {
    return name.isEmpty() ? Long.toUnsignedString(number) : name;
  }
}
