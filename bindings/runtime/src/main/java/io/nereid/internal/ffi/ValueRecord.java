package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An {@code nrd_value}: a named value that travels with a request, or with a response. */
public final class ValueRecord {

  // NRD_VALUE_*
  private static final int STRING = 0;
  private static final int INT = 1;
  private static final int BOOL = 2;
  private static final int DOUBLE = 3;

  private static final StructLayout LAYOUT = RequestRecord.VALUE;

  private static final long NAME = offset(LAYOUT, "name");
  private static final long TEXT = offset(LAYOUT, "text");
  private static final long NUMBER = offset(LAYOUT, "number");
  private static final long REAL = offset(LAYOUT, "real");
  private static final long KIND = offset(LAYOUT, "kind");
  private static final long SIZE = LAYOUT.byteSize();

  /** The offset of a string's size, behind its address. */
  private static final long STRING_SIZE = JAVA_LONG.byteSize();

  private ValueRecord() {}

  /**
   * Writes a name and values, the values first.
   *
   * @param before memory to reuse; null: none
   * @param idString address of the {@code nrd_string} to write the name to
   * @return the memory that was written, to be reused by the next call
   */
  static MemorySegment write(
      MemorySegment before, long idString, String id, Map<String, Object> values) {
    List<byte[]> texts = new ArrayList<>();
    texts.add(id.getBytes(StandardCharsets.UTF_8));
    values.forEach((name, value) -> {
      texts.add(name.getBytes(StandardCharsets.UTF_8));
      texts.add(value instanceof String text ? text.getBytes(StandardCharsets.UTF_8) : new byte[0]);
    });
    long size = SIZE * values.size() + texts.stream().mapToLong(text -> text.length).sum();
    MemorySegment memory =
        before != null && before.byteSize() >= size
            ? before
            : Arena.ofAuto().allocate(Math.max(size, SIZE), JAVA_LONG.byteAlignment());
    long at = memory.address() + SIZE * values.size();
    at = text(idString, at, texts.getFirst());
    long record = memory.address();
    int next = 1;
    for (Object value : values.values()) {
      at = text(record + NAME, at, texts.get(next++));
      at = text(record + TEXT, at, texts.get(next++));
      value(record, value);
      record += SIZE;
    }
    return memory;
  }

  private static long text(long string, long at, byte[] text) {
    Memory.write(at, MemorySegment.ofArray(text), text.length);
    TensorSpecRecord.writeString(string, text.length == 0 ? 0 : at, text.length);
    return at + text.length;
  }

  private static void value(long record, Object value) {
    int kind =
        switch (value) {
          case Boolean truth -> BOOL;
          case Float real -> DOUBLE;
          case Double real -> DOUBLE;
          case Number number -> INT;
          default -> STRING;
        };
    long number =
        switch (value) {
          case Boolean truth -> truth ? 1 : 0;
          case Number any -> any.longValue();
          default -> 0;
        };
    double real = kind == DOUBLE ? ((Number) value).doubleValue() : 0;
    Memory.writeLong(record + NUMBER, number);
    Memory.writeLong(record + REAL, Double.doubleToRawLongBits(real));
    Memory.writeInt(record + KIND, kind);
  }

  /** The values at an address by name: each a String, a Long, a Boolean or a Double. */
  static Map<String, Object> read(long values, int count) {
    Map<String, Object> read = new LinkedHashMap<>();
    for (long record = values; record < values + count * SIZE; record += SIZE) {
      long number = Memory.readLong(record + NUMBER);
      Object value =
          switch (Memory.readInt(record + KIND)) {
            case INT -> number;
            case BOOL -> number != 0;
            case DOUBLE -> Double.longBitsToDouble(Memory.readLong(record + REAL));
            default -> TensorSpecRecord.readString(record + TEXT);
          };
      read.put(TensorSpecRecord.readString(record + NAME), value);
    }
    return read;
  }

  /** The contents of the strings among values, by name. */
  public static Map<String, byte[]> readContents(MemorySegment values, int count) {
    Map<String, byte[]> read = new LinkedHashMap<>();
    long end = values.address() + count * SIZE;
    for (long record = values.address(); record < end; record += SIZE) {
      long data = Memory.readLong(record + TEXT);
      byte[] content = Memory.read(data, Memory.readLong(record + TEXT + STRING_SIZE));
      read.put(TensorSpecRecord.readString(record + NAME), content);
    }
    return read;
  }
}
