package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** An {@code nrd_error}: made here for calls that can fail, or given by the core to an upcall. */
public final class ErrorRecord {

  private ErrorRecord() {}

  /** The address of a fresh record that lives as long as {@code arena}. */
  public static long allocate(Arena arena) {
    MemorySegment record = arena.allocate(RequestLayout.ERROR);
    record.set(JAVA_INT, 0, RequestLayout.size(RequestLayout.ERROR));
    return record.address();
  }

  /** The message in the record. */
  public static String message(long error) {
    return Memory.readString(
        error + RequestLayout.ERROR_MESSAGE,
        Integer.toUnsignedLong(Memory.readInt(error + RequestLayout.ERROR_MESSAGE_SIZE)));
  }

  /** Throws when {@code status} is an error; its message is in the record. */
  public static void check(int status, long error) {
    if (status != StatusCode.OK.number()) {
      throw exception(status, error);
    }
  }

  /** The exception for {@code status}, with the record's message. */
  public static NereidException exception(int status, long error) {
    return new NereidException(StatusCode.ofNumber(status), message(error));
  }

  /** Fills a record that the core gave; a message that is too long is cut between characters. */
  public static void write(long error, int code, String message) {
    if (error == 0) {
      return;
    }
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    int size = Math.min(bytes.length, RequestLayout.ERROR_MESSAGE_CAPACITY);
    while (size > 0 && size < bytes.length && (bytes[size] & 0xC0) == 0x80) {
      size--;
    }
    Memory.writeInt(error + RequestLayout.ERROR_CODE, code);
    Memory.writeInt(error + RequestLayout.ERROR_MESSAGE_SIZE, size);
    Memory.write(error + RequestLayout.ERROR_MESSAGE, MemorySegment.ofArray(bytes), size);
  }
}
