package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.RequestLayout.offset;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** Layouts of what the core reports about itself. */
public final class StatisticsLayout {

  /** {@code NRD_HISTOGRAM_*}. */
  public static final int HISTOGRAM_QUEUE = 0;

  public static final int HISTOGRAM_COMPUTE = 1;
  public static final int HISTOGRAM_TOTAL = 2;
  public static final int HISTOGRAM_COMPUTE_INPUT = 3;
  public static final int HISTOGRAM_COMPUTE_INFER = 4;
  public static final int HISTOGRAM_COMPUTE_OUTPUT = 5;
  public static final int HISTOGRAM_CACHE_HIT = 6;
  public static final int HISTOGRAM_CACHE_MISS = 7;

  public static final StructLayout HANDLE_COUNTS =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("reserved"),
          JAVA_LONG.withName("runtimes"),
          JAVA_LONG.withName("models"),
          JAVA_LONG.withName("requests"));

  public static final long HANDLES_RUNTIMES = offset(HANDLE_COUNTS, "runtimes");
  public static final long HANDLES_MODELS = offset(HANDLE_COUNTS, "models");
  public static final long HANDLES_REQUESTS = offset(HANDLE_COUNTS, "requests");

  public static final StructLayout POOL =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("reserved"),
          JAVA_LONG.withName("byte_limit"),
          JAVA_LONG.withName("reserved_bytes"),
          JAVA_LONG.withName("live_bytes"),
          JAVA_LONG.withName("high_water_bytes"),
          JAVA_LONG.withName("live_buffers"),
          JAVA_LONG.withName("allocations"),
          JAVA_LONG.withName("failures"),
          JAVA_LONG.withName("locked_bytes"));

  public static final long POOL_BYTE_LIMIT = offset(POOL, "byte_limit");
  public static final long POOL_RESERVED_BYTES = offset(POOL, "reserved_bytes");
  public static final long POOL_LIVE_BYTES = offset(POOL, "live_bytes");
  public static final long POOL_HIGH_WATER_BYTES = offset(POOL, "high_water_bytes");
  public static final long POOL_LIVE_BUFFERS = offset(POOL, "live_buffers");
  public static final long POOL_ALLOCATIONS = offset(POOL, "allocations");
  public static final long POOL_FAILURES = offset(POOL, "failures");
  public static final long POOL_LOCKED_BYTES = offset(POOL, "locked_bytes");

  public static final StructLayout MEMORY =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("reserved"),
          JAVA_LONG.withName("weight_bytes"),
          JAVA_LONG.withName("working_bytes"),
          JAVA_LONG.withName("pool_bytes"));

  public static final long MEMORY_WEIGHT_BYTES = offset(MEMORY, "weight_bytes");
  public static final long MEMORY_WORKING_BYTES = offset(MEMORY, "working_bytes");
  public static final long MEMORY_POOL_BYTES = offset(MEMORY, "pool_bytes");

  public static final StructLayout CACHE =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("reserved"),
          JAVA_LONG.withName("byte_limit"),
          JAVA_LONG.withName("bytes"),
          JAVA_LONG.withName("entries"),
          JAVA_LONG.withName("hits"),
          JAVA_LONG.withName("misses"),
          JAVA_LONG.withName("evictions"));

  public static final long CACHE_BYTE_LIMIT = offset(CACHE, "byte_limit");
  public static final long CACHE_BYTES = offset(CACHE, "bytes");
  public static final long CACHE_ENTRIES = offset(CACHE, "entries");
  public static final long CACHE_HITS = offset(CACHE, "hits");
  public static final long CACHE_MISSES = offset(CACHE, "misses");
  public static final long CACHE_EVICTIONS = offset(CACHE, "evictions");

  public static final StructLayout DURATION =
      structLayout(JAVA_LONG.withName("count"), JAVA_LONG.withName("ns"));

  public static final long DURATION_COUNT = offset(DURATION, "count");
  public static final long DURATION_NS = offset(DURATION, "ns");

  public static final StructLayout MODEL =
      structLayout(
          JAVA_INT.withName("struct_size"),
          JAVA_INT.withName("instance_count"),
          JAVA_LONG.withName("last_inference_ms"),
          JAVA_LONG.withName("inference_count"),
          JAVA_LONG.withName("execution_count"),
          JAVA_LONG.withName("inline_count"),
          JAVA_LONG.withName("pending_count"),
          JAVA_LONG.withName("executing_count"),
          DURATION.withName("success"),
          DURATION.withName("fail"),
          DURATION.withName("queue"),
          DURATION.withName("compute_input"),
          DURATION.withName("compute_infer"),
          DURATION.withName("compute_output"),
          DURATION.withName("cache_hit"),
          DURATION.withName("cache_miss"),
          JAVA_LONG.withName("fail_rejected"),
          JAVA_LONG.withName("fail_cancelled"),
          JAVA_LONG.withName("fail_backend"),
          JAVA_LONG.withName("fail_other"));

  public static final long MODEL_INSTANCE_COUNT = offset(MODEL, "instance_count");
  public static final long MODEL_LAST_INFERENCE_MS = offset(MODEL, "last_inference_ms");
  public static final long MODEL_INFERENCE_COUNT = offset(MODEL, "inference_count");
  public static final long MODEL_EXECUTION_COUNT = offset(MODEL, "execution_count");
  public static final long MODEL_INLINE_COUNT = offset(MODEL, "inline_count");
  public static final long MODEL_PENDING_COUNT = offset(MODEL, "pending_count");
  public static final long MODEL_EXECUTING_COUNT = offset(MODEL, "executing_count");
  public static final long MODEL_SUCCESS = offset(MODEL, "success");
  public static final long MODEL_FAIL = offset(MODEL, "fail");
  public static final long MODEL_QUEUE = offset(MODEL, "queue");
  public static final long MODEL_COMPUTE_INPUT = offset(MODEL, "compute_input");
  public static final long MODEL_COMPUTE_INFER = offset(MODEL, "compute_infer");
  public static final long MODEL_COMPUTE_OUTPUT = offset(MODEL, "compute_output");
  public static final long MODEL_CACHE_HIT = offset(MODEL, "cache_hit");
  public static final long MODEL_CACHE_MISS = offset(MODEL, "cache_miss");
  public static final long MODEL_FAIL_REJECTED = offset(MODEL, "fail_rejected");
  public static final long MODEL_FAIL_CANCELLED = offset(MODEL, "fail_cancelled");
  public static final long MODEL_FAIL_BACKEND = offset(MODEL, "fail_backend");
  public static final long MODEL_FAIL_OTHER = offset(MODEL, "fail_other");

  public static final StructLayout BATCH =
      structLayout(
          JAVA_LONG.withName("batch_size"),
          DURATION.withName("compute_input"),
          DURATION.withName("compute_infer"),
          DURATION.withName("compute_output"));

  public static final long BATCH_SIZE = offset(BATCH, "batch_size");
  public static final long BATCH_COMPUTE_INPUT = offset(BATCH, "compute_input");
  public static final long BATCH_COMPUTE_INFER = offset(BATCH, "compute_infer");
  public static final long BATCH_COMPUTE_OUTPUT = offset(BATCH, "compute_output");

  private StatisticsLayout() {}
}
