package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;

/**
 * An {@code nrd_error}: made by this class for calls that can fail, or given by the core to an
 * upcall.
 */
final class ErrorRecord {

  private static final int MESSAGE_CAPACITY = 1008;

  static final StructLayout LAYOUT =
      Memory.struct(
          "int struct_size, code, message_size, reserved; "
              + "byte["
              + MESSAGE_CAPACITY
              + "] message");

  private static final long CODE = offset(LAYOUT, "code");
  private static final long MESSAGE_SIZE = offset(LAYOUT, "message_size");
  static final long MESSAGE = offset(LAYOUT, "message");

  private ErrorRecord() {}

  /** The address of a fresh record that lives as long as {@code arena}. */
  static long allocate(Arena arena) {
    return Memory.sized(arena, LAYOUT).address();
  }

  /** The message in the record. */
  static String message(long error) {
    return Memory.readString(
        error + MESSAGE, Integer.toUnsignedLong(Memory.readInt(error + MESSAGE_SIZE)));
  }

  /** Throws if {@code status} is an error, with the message in the record. */
  static void check(int status, long error) {
    if (status != StatusCode.OK.number()) {
      throw exception(status, error);
    }
  }

  /** The exception for {@code status}, with the record's message. */
  static NereidException exception(int status, long error) {
    return new NereidException(StatusCode.ofNumber(status), message(error));
  }

  /** Fills a record that the core gave; a message that is too long is cut between characters. */
  static void write(long error, int code, String message) {
    if (error == 0) {
      return;
    }
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    int size = Math.min(bytes.length, MESSAGE_CAPACITY);
    while (size > 0 && size < bytes.length && (bytes[size] & 0xC0) == 0x80) {
      size--;
    }
    Memory.writeInt(error + CODE, code);
    Memory.writeInt(error + MESSAGE_SIZE, size);
    Memory.write(error + MESSAGE, MemorySegment.ofArray(bytes), size);
  }

  /**
   * Writes the exception that an upcall ended with into a record, and returns its status.
   *
   * @param who threw it, in words
   */
  static int report(Throwable t, long error, String who) {
    int code = StatusCode.INTERNAL.number();
    try {
      if (t instanceof NereidException e && e.code() != StatusCode.OK) {
        code = e.code().number();
        write(error, code, String.valueOf(e.getMessage()));
      } else {
        write(error, code, who + " threw " + t);
        CoreLog.LOGGER.log(Level.WARNING, who + " failed", t);
      }
    } catch (Throwable second) {
      // Out of memory or stack, or a broken toString: the status code has to suffice.
    }
    return code;
  }
}
