package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.StringTokenizer;
import java.util.stream.Stream;

/**
 * Plain access to native memory by address, for the records of this package alone. One segment
 * spans the whole address space, so a field access of a pooled record costs neither an object nor a
 * liveness check; the callers, which own the records, decide who may touch which address.
 */
final class Memory {

  /** {@code nrd_string}. */
  static final StructLayout STRING = struct("long data, size");

  private static final MemorySegment ALL = whole();

  private Memory() {}

  @SuppressWarnings("restricted")
  private static MemorySegment whole() {
    return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }

  /** The whole address space, accessible until {@code arena} is closed. */
  @SuppressWarnings("restricted")
  static MemorySegment whole(Arena arena) {
    return MemorySegment.NULL.reinterpret(Long.MAX_VALUE, arena, null);
  }

  static int readInt(long address) {
    return ALL.get(JAVA_INT, address);
  }

  static void writeInt(long address, int value) {
    ALL.set(JAVA_INT, address, value);
  }

  static long readLong(long address) {
    return ALL.get(JAVA_LONG, address);
  }

  static void writeLong(long address, long value) {
    ALL.set(JAVA_LONG, address, value);
  }

  /** Copies {@code size} bytes of {@code source}, from its start, to {@code address}. */
  static void write(long address, MemorySegment source, long size) {
    MemorySegment.copy(source, 0, ALL, address, size);
  }

  /** Copies {@code size} bytes. */
  static void copy(long from, long to, long size) {
    MemorySegment.copy(ALL, from, ALL, to, size);
  }

  /** A copy of bytes in native memory. */
  static byte[] read(long address, long size) {
    return size == 0 ? new byte[0] : ALL.asSlice(address, size).toArray(JAVA_BYTE);
  }

  /** A copy of UTF-8 text in native memory. */
  static String readString(long address, long size) {
    return size == 0 ? "" : new String(read(address, size), StandardCharsets.UTF_8);
  }

  // ---- Layouts: pointers are laid out as longs, since they are only ever handled as addresses -

  /**
   * The layout of a struct by its fields, as C declares them: {@code "int code, size; long[8]
   * dims"}.
   *
   * @param nested the structs among the types of its fields, by their names
   */
  static StructLayout struct(String fields, StructLayout... nested) {
    List<MemoryLayout> members = new ArrayList<>();
    for (String declaration : fields.split(";")) {
      StringTokenizer words = new StringTokenizer(declaration, " ,");
      MemoryLayout type = type(words.nextToken(), nested);
      while (words.hasMoreTokens()) {
        members.add(type.withName(words.nextToken()));
      }
    }
    return MemoryLayout.structLayout(members.toArray(MemoryLayout[]::new));
  }

  private static MemoryLayout type(String name, StructLayout... nested) {
    int bracket = name.indexOf('[');
    if (bracket >= 0) {
      int count = Integer.parseInt(name, bracket + 1, name.length() - 1, 10);
      return MemoryLayout.sequenceLayout(count, type(name.substring(0, bracket), nested));
    }
    return switch (name) {
      case "byte" -> JAVA_BYTE;
      case "int" -> JAVA_INT;
      case "long" -> JAVA_LONG;
      case "double" -> JAVA_DOUBLE;
      case "string" -> STRING;
      default ->
          Stream.of(nested)
              .filter(struct -> struct.name().equals(Optional.of(name)))
              .findFirst()
              .orElseThrow();
    };
  }

  static long offset(StructLayout layout, String field) {
    return layout.byteOffset(PathElement.groupElement(field));
  }

  /** Size of {@code layout} as an int, as structs state their own size. */
  static int size(MemoryLayout layout) {
    return Math.toIntExact(layout.byteSize());
  }

  /** A cleared struct whose first field says its size. */
  static MemorySegment sized(Arena arena, StructLayout layout) {
    MemorySegment struct = arena.allocate(layout);
    struct.set(JAVA_INT, 0, size(layout));
    return struct;
  }
}
