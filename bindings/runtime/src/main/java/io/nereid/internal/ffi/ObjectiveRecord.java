package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.Memory.offset;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.Checks;
import io.nereid.model.Objective;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Writes a model's objective for the core, and reads the core's figures of it. */
public final class ObjectiveRecord {

  /**
   * The objective that a model is loaded with, and the facts that the core needs for it.
   *
   * @param share the GPU, or the processors, whose models execute in turns; empty: the model shares
   *     nothing
   * @param shareWidth the most executions at a time in the share
   * @param costs the costs of executions that are known already
   * @param kinds one for each instance; instances of the same kind take the same time
   */
  public record Given(
      Objective objective,
      String share,
      int shareWidth,
      List<ObjectiveStatistics.Cost> costs,
      int[] kinds) {}

  private static final double PPM_OF_A_PERCENT = 10_000;

  static final StructLayout COST =
      Memory.struct("int kind, reserved; long rows, row_elements; double mean_ns, high_ns, weight");

  static final StructLayout OBJECTIVE =
      Memory.struct(
          "long latency_ns; int quantile_ppm, share_width; string share; long costs; "
              + "int cost_count, reserved; long instance_kinds");

  static final StructLayout STATISTICS =
      Memory.struct(
          "int struct_size, quantile_ppm; long latency_ns, max_rows, wait_ns, backlog, "
              + "backlog_ns, rows_per_second, kept, late, refused_backlog, refused_cost, "
              + "refused_waiting, refused_deadline, outside_ns");

  private ObjectiveRecord() {}

  /** Writes an {@code nrd_objective} and returns its address. */
  static long write(Arena arena, Given given) {
    MemorySegment record = arena.allocate(OBJECTIVE);
    Objective objective = given.objective();
    record.set(JAVA_LONG, offset(OBJECTIVE, "latency_ns"), Checks.nanos(objective.latency()));
    int ppm = (int) Math.round(objective.percentile() * PPM_OF_A_PERCENT);
    record.set(JAVA_INT, offset(OBJECTIVE, "quantile_ppm"), ppm);
    record.set(JAVA_INT, offset(OBJECTIVE, "share_width"), given.shareWidth());
    TensorSpecRecord.string(arena, record, offset(OBJECTIVE, "share"), given.share());
    record.set(JAVA_LONG, offset(OBJECTIVE, "costs"), costs(arena, given.costs()));
    record.set(JAVA_INT, offset(OBJECTIVE, "cost_count"), given.costs().size());
    long kinds = arena.allocateFrom(JAVA_INT, given.kinds()).address();
    record.set(JAVA_LONG, offset(OBJECTIVE, "instance_kinds"), kinds);
    return record.address();
  }

  private static long costs(Arena arena, List<ObjectiveStatistics.Cost> costs) {
    MemorySegment array = arena.allocate(COST, costs.size());
    for (int i = 0; i < costs.size(); i++) {
      ObjectiveStatistics.Cost cost = costs.get(i);
      MemorySegment target = array.asSlice(i * COST.byteSize(), COST);
      target.set(JAVA_INT, offset(COST, "kind"), cost.kind());
      target.set(JAVA_LONG, offset(COST, "rows"), cost.rows());
      target.set(JAVA_LONG, offset(COST, "row_elements"), cost.rowElements());
      target.set(JAVA_DOUBLE, offset(COST, "mean_ns"), cost.meanNs());
      target.set(JAVA_DOUBLE, offset(COST, "high_ns"), cost.highNs());
      target.set(JAVA_DOUBLE, offset(COST, "weight"), cost.weight());
    }
    return array.address();
  }

  /** Tells the core that a request's answer has left, {@code tookNs} after the request came. */
  public static void sent(RequestRecord request, long tookNs) {
    try {
      Handles.REQUEST_SENT.invokeExact(request.address, tookNs);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Reads the figures of a model's objective; empty: the model has none. */
  static Optional<ObjectiveStatistics> read(Arena arena, long model) {
    MemorySegment record = Memory.sized(arena, STATISTICS);
    int status;
    try {
      status = (int) Handles.OfFigures.MODEL_OBJECTIVE_READ.invokeExact(model, record.address());
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    if (status != StatusCode.OK.number()) {
      return Optional.empty();
    }
    return Optional.of(
        new ObjectiveStatistics(
            record.get(JAVA_INT, offset(STATISTICS, "quantile_ppm")) / PPM_OF_A_PERCENT,
            Duration.ofNanos(get(record, "latency_ns")),
            get(record, "max_rows"),
            Duration.ofNanos(get(record, "wait_ns")),
            get(record, "backlog"),
            Duration.ofNanos(get(record, "backlog_ns")),
            get(record, "rows_per_second"),
            get(record, "kept"),
            get(record, "late"),
            get(record, "refused_backlog"),
            get(record, "refused_cost"),
            get(record, "refused_waiting"),
            get(record, "refused_deadline"),
            Duration.ofNanos(get(record, "outside_ns")),
            readCosts(arena, model)));
  }

  private static long get(MemorySegment record, String field) {
    return record.get(JAVA_LONG, offset(STATISTICS, field));
  }

  private static List<ObjectiveStatistics.Cost> readCosts(Arena arena, long model) {
    return StatisticsRecord.readAll(
        arena,
        COST,
        (array, capacity, count) -> {
          Handles.OfFigures.MODEL_COST_CURVE_READ.invokeExact(model, array, capacity, count);
        },
        ObjectiveRecord::cost);
  }

  private static ObjectiveStatistics.Cost cost(MemorySegment record) {
    return new ObjectiveStatistics.Cost(
        record.get(JAVA_INT, offset(COST, "kind")),
        record.get(JAVA_LONG, offset(COST, "rows")),
        record.get(JAVA_LONG, offset(COST, "row_elements")),
        record.get(JAVA_DOUBLE, offset(COST, "mean_ns")),
        record.get(JAVA_DOUBLE, offset(COST, "high_ns")),
        record.get(JAVA_DOUBLE, offset(COST, "weight")));
  }
}
