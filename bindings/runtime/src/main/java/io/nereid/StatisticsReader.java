package io.nereid;

import static io.nereid.internal.ffi.StatisticsLayout.BATCH;
import static io.nereid.internal.ffi.StatisticsLayout.BATCH_COMPUTE_INFER;
import static io.nereid.internal.ffi.StatisticsLayout.BATCH_COMPUTE_INPUT;
import static io.nereid.internal.ffi.StatisticsLayout.BATCH_COMPUTE_OUTPUT;
import static io.nereid.internal.ffi.StatisticsLayout.BATCH_SIZE;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE_BYTE_LIMIT;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE_ENTRIES;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE_EVICTIONS;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE_HITS;
import static io.nereid.internal.ffi.StatisticsLayout.CACHE_MISSES;
import static io.nereid.internal.ffi.StatisticsLayout.DURATION_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.DURATION_NS;
import static io.nereid.internal.ffi.StatisticsLayout.HISTOGRAM_COMPUTE;
import static io.nereid.internal.ffi.StatisticsLayout.HISTOGRAM_QUEUE;
import static io.nereid.internal.ffi.StatisticsLayout.HISTOGRAM_TOTAL;
import static io.nereid.internal.ffi.StatisticsLayout.MEMORY;
import static io.nereid.internal.ffi.StatisticsLayout.MEMORY_POOL_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.MEMORY_WEIGHT_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.MEMORY_WORKING_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_CACHE_HIT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_CACHE_MISS;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_COMPUTE_INFER;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_COMPUTE_INPUT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_COMPUTE_OUTPUT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_EXECUTING_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_EXECUTION_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_FAIL;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_FAIL_BACKEND;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_FAIL_CANCELLED;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_FAIL_OTHER;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_FAIL_REJECTED;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_INFERENCE_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_INLINE_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_INSTANCE_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_LAST_INFERENCE_MS;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_PENDING_COUNT;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_QUEUE;
import static io.nereid.internal.ffi.StatisticsLayout.MODEL_SUCCESS;
import static io.nereid.internal.ffi.StatisticsLayout.POOL;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_ALLOCATIONS;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_BYTE_LIMIT;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_FAILURES;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_HIGH_WATER_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_LIVE_BUFFERS;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_LIVE_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_LOCKED_BYTES;
import static io.nereid.internal.ffi.StatisticsLayout.POOL_RESERVED_BYTES;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ModelCalls;
import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.internal.ffi.StatisticsLayout;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.StageHistograms;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the core's statistics into records. The handles must be alive. */
final class StatisticsReader {

  private static volatile long[] histogramBoundsNs;

  private StatisticsReader() {}

  static PoolStatistics pool(long runtime) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stats = ModelOptionsWriter.sized(arena, POOL);
      RuntimeCalls.poolStats(runtime, stats.address());
      return new PoolStatistics(
          stats.get(JAVA_LONG, POOL_BYTE_LIMIT),
          stats.get(JAVA_LONG, POOL_RESERVED_BYTES),
          stats.get(JAVA_LONG, POOL_LIVE_BYTES),
          stats.get(JAVA_LONG, POOL_HIGH_WATER_BYTES),
          stats.get(JAVA_LONG, POOL_LIVE_BUFFERS),
          stats.get(JAVA_LONG, POOL_ALLOCATIONS),
          stats.get(JAVA_LONG, POOL_FAILURES),
          stats.get(JAVA_LONG, POOL_LOCKED_BYTES));
    }
  }

  static CacheStatistics cache(long runtime) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stats = ModelOptionsWriter.sized(arena, CACHE);
      RuntimeCalls.cacheStats(runtime, stats.address());
      return new CacheStatistics(
          stats.get(JAVA_LONG, CACHE_BYTE_LIMIT),
          stats.get(JAVA_LONG, CACHE_BYTES),
          stats.get(JAVA_LONG, CACHE_ENTRIES),
          stats.get(JAVA_LONG, CACHE_HITS),
          stats.get(JAVA_LONG, CACHE_MISSES),
          stats.get(JAVA_LONG, CACHE_EVICTIONS));
    }
  }

  static MemoryUsage memory(long model) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stats = ModelOptionsWriter.sized(arena, MEMORY);
      ModelCalls.memoryRead(model, stats.address());
      return new MemoryUsage(
          stats.get(JAVA_LONG, MEMORY_WEIGHT_BYTES),
          stats.get(JAVA_LONG, MEMORY_WORKING_BYTES),
          stats.get(JAVA_LONG, MEMORY_POOL_BYTES));
    }
  }

  /** {@code stages}: whether the runtime keeps their histograms. */
  static ModelStatistics model(long model, boolean stages) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stats = ModelOptionsWriter.sized(arena, MODEL);
      ModelCalls.statsRead(model, stats.address());
      long lastMs = stats.get(JAVA_LONG, MODEL_LAST_INFERENCE_MS);
      return new ModelStatistics(
          stats.get(JAVA_INT, MODEL_INSTANCE_COUNT),
          lastMs == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(lastMs)),
          stats.get(JAVA_LONG, MODEL_INFERENCE_COUNT),
          stats.get(JAVA_LONG, MODEL_EXECUTION_COUNT),
          stats.get(JAVA_LONG, MODEL_INLINE_COUNT),
          stats.get(JAVA_LONG, MODEL_PENDING_COUNT),
          stats.get(JAVA_LONG, MODEL_EXECUTING_COUNT),
          duration(stats, MODEL_SUCCESS),
          duration(stats, MODEL_FAIL),
          duration(stats, MODEL_QUEUE),
          duration(stats, MODEL_COMPUTE_INPUT),
          duration(stats, MODEL_COMPUTE_INFER),
          duration(stats, MODEL_COMPUTE_OUTPUT),
          duration(stats, MODEL_CACHE_HIT),
          duration(stats, MODEL_CACHE_MISS),
          stats.get(JAVA_LONG, MODEL_FAIL_REJECTED),
          stats.get(JAVA_LONG, MODEL_FAIL_CANCELLED),
          stats.get(JAVA_LONG, MODEL_FAIL_BACKEND),
          stats.get(JAVA_LONG, MODEL_FAIL_OTHER),
          batches(arena, model),
          histogram(arena, model, HISTOGRAM_QUEUE),
          histogram(arena, model, HISTOGRAM_COMPUTE),
          histogram(arena, model, HISTOGRAM_TOTAL),
          stages ? Optional.of(stages(arena, model)) : Optional.empty());
    }
  }

  private static StageHistograms stages(Arena arena, long model) {
    return new StageHistograms(
        histogram(arena, model, StatisticsLayout.HISTOGRAM_COMPUTE_INPUT),
        histogram(arena, model, StatisticsLayout.HISTOGRAM_COMPUTE_INFER),
        histogram(arena, model, StatisticsLayout.HISTOGRAM_COMPUTE_OUTPUT),
        histogram(arena, model, StatisticsLayout.HISTOGRAM_CACHE_HIT),
        histogram(arena, model, StatisticsLayout.HISTOGRAM_CACHE_MISS));
  }

  private static List<BatchStatistics> batches(Arena arena, long model) {
    MemorySegment count = arena.allocate(JAVA_INT);
    int capacity = 16;
    while (true) {
      MemorySegment array = arena.allocate(BATCH, capacity);
      ModelCalls.batchStatsRead(model, array.address(), capacity, count.address());
      int found = count.get(JAVA_INT, 0);
      if (found <= capacity) {
        List<BatchStatistics> batches = new ArrayList<>(found);
        for (int i = 0; i < found; i++) {
          batches.add(batch(array.asSlice(i * BATCH.byteSize(), BATCH)));
        }
        return List.copyOf(batches);
      }
      capacity = found + 16; // sizes may appear between two calls
    }
  }

  private static BatchStatistics batch(MemorySegment stats) {
    return new BatchStatistics(
        stats.get(JAVA_LONG, BATCH_SIZE),
        duration(stats, BATCH_COMPUTE_INPUT),
        duration(stats, BATCH_COMPUTE_INFER),
        duration(stats, BATCH_COMPUTE_OUTPUT));
  }

  private static DurationStatistic duration(MemorySegment stats, long offset) {
    return new DurationStatistic(
        stats.get(JAVA_LONG, offset + DURATION_COUNT), stats.get(JAVA_LONG, offset + DURATION_NS));
  }

  private static Histogram histogram(Arena arena, long model, int which) {
    long[] bounds = histogramBoundsNs();
    MemorySegment counts = arena.allocate(JAVA_LONG, bounds.length);
    int status = ModelCalls.histogramRead(model, which, counts.address(), bounds.length);
    if (status != StatusCode.OK.number()) {
      throw new NereidException(
          StatusCode.ofNumber(status), "the core did not give histogram " + which);
    }
    return new Histogram(bounds, counts.toArray(JAVA_LONG));
  }

  private static long[] histogramBoundsNs() {
    long[] bounds = histogramBoundsNs;
    if (bounds == null) {
      bounds = new long[RuntimeCalls.histogramBucketCount()];
      for (int i = 0; i < bounds.length; i++) {
        bounds[i] = RuntimeCalls.histogramBucketNs(i);
      }
      histogramBoundsNs = bounds;
    }
    return bounds;
  }
}
