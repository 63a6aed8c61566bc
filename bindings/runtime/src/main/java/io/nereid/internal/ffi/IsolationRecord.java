package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.statistics.IsolationStatistics;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Optional;

/** Reads {@code nrd_isolation_stats}: the process of a model that has one. */
final class IsolationRecord {

  // NRD_ISOLATION_*
  private static final int UP = 1;
  private static final int FAILED = 2;

  static final StructLayout LAYOUT =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("state"),
          JAVA_LONG.withName("restarts"),
          JAVA_INT.withName("deaths_in_a_row"),
          JAVA_INT.withName("process"),
          JAVA_LONG.withName("resident_bytes"));

  private IsolationRecord() {}

  /** The process of a model; empty: it is not isolated. */
  static Optional<IsolationStatistics> read(long model) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment record = Memory.sized(arena, LAYOUT);
      long error = ErrorRecord.allocate(arena);
      int status =
          (int)
              Handles.OfIsolation.MODEL_ISOLATION_READ.invokeExact(model, record.address(), error);
      if (status != StatusCode.OK.number()) {
        return Optional.empty();
      }
      int state = record.get(JAVA_INT, offset(LAYOUT, "state"));
      return Optional.of(
          new IsolationStatistics(
              state == UP,
              state == FAILED,
              record.get(JAVA_LONG, offset(LAYOUT, "restarts")),
              record.get(JAVA_INT, offset(LAYOUT, "deaths_in_a_row")),
              record.get(JAVA_INT, offset(LAYOUT, "process")),
              record.get(JAVA_LONG, offset(LAYOUT, "resident_bytes")),
              ErrorRecord.message(error)));
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }
}
