package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelState;
import io.nereid.recording.Shadow;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * One version of a model at one moment, with its work in the preceding interval.
 *
 * @param namespace its repository, if repositories are name spaces
 * @param name its name
 * @param version its version; empty: unknown
 * @param state its state, in capitals
 * @param backend its backend; empty: unknown
 * @param reason the reason why it does not serve, or not its newest files; null: all is well
 * @param work its work; empty: it was never loaded
 * @param history its work in earlier intervals
 * @param shadow the verdict on it; empty: it is no shadow
 */
record ModelFigures(
    String namespace,
    String name,
    String version,
    String state,
    String backend,
    String reason,
    Optional<Work> work,
    ModelHistory history,
    Optional<Shadow.Verdict> shadow) {

  /** Returns the figures of a model that was never loaded. */
  static ModelFigures unknown(String name) {
    return new ModelFigures(
        "", name, "", "UNKNOWN", "", null, Optional.empty(), new ModelHistory(), Optional.empty());
  }

  /** The key of this model among all. */
  String key() {
    return key(namespace, name, version);
  }

  static String key(String namespace, String name, String version) {
    return (namespace.isEmpty() ? "" : namespace + "/") + name + "/" + version;
  }

  /** The version of a model; empty: unknown. */
  static String version(Model model) {
    return model.version() == 0 ? "" : Long.toString(model.version());
  }

  boolean isReady() {
    return state.equals(ModelState.READY.name());
  }

  long number() {
    return version.isEmpty() ? 0 : Long.parseLong(version);
  }

  /**
   * The work that a model has done.
   *
   * @param now its statistics since it was loaded
   * @param before its statistics at the last sample; null: none
   * @param seconds between the two
   * @param minute the growth of its histograms in the last minute: total, queue, compute
   * @param isolation the process that it runs in; empty: the server's
   * @param cached whether its responses are cached
   */
  record Work(
      ModelStatistics now,
      ModelStatistics before,
      double seconds,
      List<Histogram> minute,
      MemoryUsage memory,
      List<InstanceStatistics> instances,
      Optional<IsolationStatistics> isolation,
      boolean cached) {

    static boolean isCached(Model model, long cacheByteLimit) {
      return cacheByteLimit > 0 && model.spec().responseCache();
    }

    /** The growth of a counter in the interval; from 0 if the model was reloaded. */
    long added(ToLongFunction<ModelStatistics> counter) {
      long value = counter.applyAsLong(now);
      long earlier = before == null ? value : counter.applyAsLong(before);
      return value >= earlier ? value - earlier : value;
    }

    double perSecond(ToLongFunction<ModelStatistics> counter) {
      return seconds <= 0 ? 0 : added(counter) / seconds;
    }

    /** The growth of a histogram in the interval. */
    Histogram recent(Function<ModelStatistics, Histogram> which) {
      Histogram durations = which.apply(now);
      return durations.since(before == null ? durations : which.apply(before));
    }

    /** The number of instances that executed, on average over the interval. */
    double busy() {
      long ns = added(figures -> figures.batches().stream().mapToLong(Work::executionNs).sum());
      return seconds <= 0 ? 0 : Math.min(now.instanceCount(), ns / 1e9 / seconds);
    }

    private static long executionNs(BatchStatistics batch) {
      return batch.computeInput().totalNs()
          + batch.computeInfer().totalNs()
          + batch.computeOutput().totalNs();
    }

    /** The executions of a batch size until the last sample. */
    long executionsBefore(long batchSize) {
      return before == null
          ? executions(now, batchSize)
          : Math.min(executions(before, batchSize), executions(now, batchSize));
    }

    private static long executions(ModelStatistics figures, long batchSize) {
      return figures.batches().stream()
          .filter(batch -> batch.batchSize() == batchSize)
          .mapToLong(batch -> batch.computeInfer().count())
          .sum();
    }

    /** A stage of the interval's requests on average, in microseconds; NaN: there were none. */
    double meanUs(Function<ModelStatistics, DurationStatistic> stage) {
      long count = added(figures -> stage.apply(figures).count());
      return count == 0
          ? Double.NaN
          : added(figures -> stage.apply(figures).totalNs()) / 1e3 / count;
    }
  }
}
