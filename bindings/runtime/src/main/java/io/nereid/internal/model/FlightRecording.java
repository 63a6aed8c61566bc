package io.nereid.internal.model;

import io.nereid.internal.recording.FlightRecorderWatch;
import io.nereid.internal.recording.RecordedModel;
import io.nereid.internal.recording.RecordedPool;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.types.NereidException;
import java.util.function.Supplier;

/**
 * Reports a runtime's figures to Java's Flight Recorder, from construction to closing. The
 * recorder's own thread calls it.
 */
public final class FlightRecording implements AutoCloseable {

  private final ModelTable models;
  private final Supplier<PoolStatistics> pool;
  private final FlightRecorderWatch.Figures figures =
      new FlightRecorderWatch.Figures(this::models, this::pool);

  /**
   * Makes a recording and registers it with the recorder; {@code pool} may throw when the runtime
   * is closed.
   */
  public FlightRecording(ModelTable models, Supplier<PoolStatistics> pool) {
    this.models = models;
    this.pool = pool;
    FlightRecorderWatch.add(figures);
  }

  private void models() {
    for (ModelEntry model : models.all()) {
      LoadedModel loaded = model.current();
      if (loaded != null) {
        model(model, loaded);
      }
    }
  }

  private static void model(ModelEntry model, LoadedModel loaded) {
    ModelStatistics figures;
    RecordedModel event = new RecordedModel();
    try {
      figures = loaded.statistics();
      event.poolBytes = loaded.memory().pool();
    } catch (NereidException e) {
      return; // it was unloaded since
    }
    event.model = model.name();
    event.version = model.version();
    event.success = figures.success().count();
    event.failed = figures.fail().count();
    event.rejected = figures.failRejected();
    event.inferences = figures.inferenceCount();
    event.executions = figures.executionCount();
    event.pending = figures.pendingCount();
    event.executing = figures.executingCount();
    event.queue = figures.queue().totalNs();
    event.compute = figures.computeInfer().totalNs();
    loaded
        .isolation()
        .ifPresent(process -> {
          event.process = process.process();
          event.restarts = process.restarts();
          event.lastEnd = process.lastEnd();
        });
    event.commit();
  }

  private void pool() {
    PoolStatistics figures;
    try {
      figures = pool.get();
    } catch (NereidException e) {
      return; // the runtime was closed since
    }
    RecordedPool event = new RecordedPool();
    event.limit = figures.byteLimit();
    event.reserved = figures.reservedBytes();
    event.live = figures.liveBytes();
    event.buffers = figures.liveBuffers();
    event.allocations = figures.allocations();
    event.failures = figures.failures();
    event.commit();
  }

  @Override
  public void close() {
    FlightRecorderWatch.remove(figures);
  }
}
