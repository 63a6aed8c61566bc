package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.statistics.BatchEnd;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.SequenceStatistics;
import io.nereid.statistics.StageHistograms;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Reads the figures that the core reports about itself, in structs that live only while they are
 * read.
 */
public final class StatisticsRecord {

  /** The numbers of objects that the core counts as alive in this process. */
  public record HandleCounts(long runtimes, long models, long requests) {}

  // NRD_HISTOGRAM_*
  private static final int QUEUE = 0;
  private static final int COMPUTE = 1;
  private static final int TOTAL = 2;
  private static final int COMPUTE_INPUT = 3;
  private static final int COMPUTE_INFER = 4;
  private static final int COMPUTE_OUTPUT = 5;
  private static final int CACHE_HIT = 6;
  private static final int CACHE_MISS = 7;

  static final StructLayout HANDLE_COUNTS =
      Memory.struct("int struct_size, reserved; long runtimes, models, requests");

  static final StructLayout POOL =
      Memory.struct(
          "int struct_size, reserved; long byte_limit, reserved_bytes, live_bytes, "
              + "high_water_bytes, live_buffers, allocations, failures, locked_bytes");

  static final StructLayout MEMORY =
      Memory.struct("int struct_size, reserved; long weight_bytes, working_bytes, pool_bytes");

  static final StructLayout SEQUENCES =
      Memory.struct(
          "int struct_size, reserved; long slots, active, backlog, started, ended, "
              + "idle_ended, state_bytes");

  static final StructLayout CACHE =
      Memory.struct(
          "int struct_size, reserved; long byte_limit, bytes, entries, hits, misses, "
              + "evictions");

  private static final StructLayout DURATION = Memory.struct("long count, ns").withName("duration");

  static final StructLayout MODEL =
      Memory.struct(
          ("int struct_size, instance_count; long last_inference_ms, inference_count, "
                  + "execution_count, inline_count, pending_count, executing_count; duration "
                  + "success, fail, queue, compute_input, compute_infer, compute_output, "
                  + "cache_hit, cache_miss; long fail_rejected, fail_cancelled, fail_backend, "
                  + "fail_other; long[%s] batch_ends")
              .formatted(BatchEnd.values().length),
          DURATION);

  static final StructLayout BATCH =
      Memory.struct(
          "long batch_size; duration compute_input, compute_infer, compute_output", DURATION);

  private static volatile long[] histogramBoundsNs;

  private final StructLayout layout;
  private final MemorySegment record;

  private StatisticsRecord(StructLayout layout, MemorySegment record) {
    this.layout = layout;
    this.record = record;
  }

  /**
   * Returns a record of the arena that a function of the core has filled in for a runtime or a
   * model.
   */
  private static StatisticsRecord read(
      Arena arena, StructLayout layout, MethodHandle function, long subject) {
    StatisticsRecord stats = new StatisticsRecord(layout, Memory.sized(arena, layout));
    NativeCalls.run(() -> {
      function.invokeExact(subject, stats.record.address());
    });
    return stats;
  }

  /** A call that fills an array of at most so many records, and writes how many there are. */
  interface ArrayCall {
    void fill(long array, int capacity, long count) throws Throwable;
  }

  /**
   * Reads the array of records of any length that a function of the core writes.
   *
   * @param reader makes a value from a record
   */
  static <T> List<T> readAll(
      Arena arena, StructLayout layout, ArrayCall call, Function<MemorySegment, T> reader) {
    MemorySegment count = arena.allocate(JAVA_INT);
    int capacity = 16;
    while (true) {
      MemorySegment array = arena.allocate(layout, capacity);
      int room = capacity;
      NativeCalls.run(() -> call.fill(array.address(), room, count.address()));
      int found = count.get(JAVA_INT, 0);
      if (found <= capacity) {
        return array.elements(layout).limit(found).map(reader).toList();
      }
      capacity = found + 16; // there may be more at the next call
    }
  }

  private long get(String field) {
    return record.get(JAVA_LONG, offset(layout, field));
  }

  private DurationStatistic duration(String field) {
    long at = offset(layout, field);
    return new DurationStatistic(
        record.get(JAVA_LONG, at + offset(DURATION, "count")),
        record.get(JAVA_LONG, at + offset(DURATION, "ns")));
  }

  private Map<BatchEnd, Long> batchEnds() {
    long at = offset(layout, "batch_ends");
    Map<BatchEnd, Long> ends = new EnumMap<>(BatchEnd.class);
    for (BatchEnd end : BatchEnd.values()) {
      ends.put(end, record.get(JAVA_LONG, at + end.ordinal() * JAVA_LONG.byteSize()));
    }
    return ends;
  }

  /** Reads the numbers of objects that the core counts as alive in this process. */
  public static HandleCounts handleCounts() {
    try (Arena arena = Arena.ofConfined()) {
      StatisticsRecord counts =
          new StatisticsRecord(HANDLE_COUNTS, Memory.sized(arena, HANDLE_COUNTS));
      NativeCalls.run(() -> {
        Handles.HANDLE_COUNTS_READ.invokeExact(counts.record.address());
      });
      return new HandleCounts(counts.get("runtimes"), counts.get("models"), counts.get("requests"));
    }
  }

  static PoolStatistics pool(long runtime) {
    try (Arena arena = Arena.ofConfined()) {
      StatisticsRecord stats = read(arena, POOL, Handles.RUNTIME_POOL_STATS, runtime);
      return new PoolStatistics(
          stats.get("byte_limit"),
          stats.get("reserved_bytes"),
          stats.get("live_bytes"),
          stats.get("high_water_bytes"),
          stats.get("live_buffers"),
          stats.get("allocations"),
          stats.get("failures"),
          stats.get("locked_bytes"));
    }
  }

  static CacheStatistics cache(long runtime) {
    try (Arena arena = Arena.ofConfined()) {
      StatisticsRecord stats = read(arena, CACHE, Handles.RUNTIME_CACHE_STATS, runtime);
      return new CacheStatistics(
          stats.get("byte_limit"),
          stats.get("bytes"),
          stats.get("entries"),
          stats.get("hits"),
          stats.get("misses"),
          stats.get("evictions"));
    }
  }

  static MemoryUsage memory(long model) {
    try (Arena arena = Arena.ofConfined()) {
      StatisticsRecord stats = read(arena, MEMORY, Handles.MODEL_MEMORY_READ, model);
      return new MemoryUsage(
          stats.get("weight_bytes"), stats.get("working_bytes"), stats.get("pool_bytes"));
    }
  }

  static Optional<SequenceStatistics> sequences(long model) {
    try (Arena arena = Arena.ofConfined()) {
      StatisticsRecord stats = read(arena, SEQUENCES, Handles.MODEL_SEQUENCE_STATS_READ, model);
      return stats.get("slots") == 0
          ? Optional.empty()
          : Optional.of(
              new SequenceStatistics(
                  stats.get("slots"),
                  stats.get("active"),
                  stats.get("backlog"),
                  stats.get("started"),
                  stats.get("ended"),
                  stats.get("idle_ended"),
                  stats.get("state_bytes")));
    }
  }

  static ModelStatistics model(long model, boolean stages) {
    try (Arena arena = Arena.ofConfined()) {
      StatisticsRecord stats = read(arena, MODEL, Handles.MODEL_STATS_READ, model);
      long lastMs = stats.get("last_inference_ms");
      return new ModelStatistics(
          stats.record.get(JAVA_INT, offset(MODEL, "instance_count")),
          lastMs == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(lastMs)),
          stats.get("inference_count"),
          stats.get("execution_count"),
          stats.get("inline_count"),
          stats.get("pending_count"),
          stats.get("executing_count"),
          stats.duration("success"),
          stats.duration("fail"),
          stats.duration("queue"),
          stats.duration("compute_input"),
          stats.duration("compute_infer"),
          stats.duration("compute_output"),
          stats.duration("cache_hit"),
          stats.duration("cache_miss"),
          stats.get("fail_rejected"),
          stats.get("fail_cancelled"),
          stats.get("fail_backend"),
          stats.get("fail_other"),
          stats.batchEnds(),
          batches(arena, model),
          histogram(arena, model, QUEUE),
          histogram(arena, model, COMPUTE),
          histogram(arena, model, TOTAL),
          stages ? Optional.of(stages(arena, model)) : Optional.empty(),
          sequences(model),
          ObjectiveRecord.read(arena, model));
    }
  }

  private static StageHistograms stages(Arena arena, long model) {
    return new StageHistograms(
        histogram(arena, model, COMPUTE_INPUT),
        histogram(arena, model, COMPUTE_INFER),
        histogram(arena, model, COMPUTE_OUTPUT),
        histogram(arena, model, CACHE_HIT),
        histogram(arena, model, CACHE_MISS));
  }

  private static List<BatchStatistics> batches(Arena arena, long model) {
    return readAll(
        arena,
        BATCH,
        (array, capacity, count) -> {
          Handles.OfFigures.MODEL_BATCH_STATS_READ.invokeExact(model, array, capacity, count);
        },
        StatisticsRecord::batch);
  }

  private static BatchStatistics batch(MemorySegment record) {
    StatisticsRecord stats = new StatisticsRecord(BATCH, record);
    return new BatchStatistics(
        stats.get("batch_size"),
        stats.duration("compute_input"),
        stats.duration("compute_infer"),
        stats.duration("compute_output"));
  }

  private static Histogram histogram(Arena arena, long model, int which) {
    long[] bounds = histogramBoundsNs();
    MemorySegment counts = arena.allocate(JAVA_LONG, bounds.length);
    int status;
    try {
      status =
          (int)
              Handles.OfFigures.MODEL_HISTOGRAM_READ.invokeExact(
                  model, which, counts.address(), bounds.length);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    if (status != StatusCode.OK.number()) {
      throw new NereidException(
          StatusCode.ofNumber(status), "the core did not give histogram " + which);
    }
    return new Histogram(bounds, counts.toArray(JAVA_LONG));
  }

  private static long[] histogramBoundsNs() {
    long[] bounds = histogramBoundsNs;
    if (bounds == null) {
      bounds = new long[histogramBucketCount()];
      for (int i = 0; i < bounds.length; i++) {
        bounds[i] = histogramBucketNs(i);
      }
      histogramBoundsNs = bounds;
    }
    return bounds;
  }

  private static int histogramBucketCount() {
    try {
      return (int) Handles.OfFigures.HISTOGRAM_BUCKET_COUNT.invokeExact();
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** The longest duration that belongs to a bucket. */
  public static long histogramBucketNs(int bucket) {
    try {
      return (long) Handles.OfFigures.HISTOGRAM_BUCKET_NS.invokeExact(bucket);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }
}
