package io.nereid.server.console;

import io.nereid.Model;
import io.nereid.model.ModelState;
import io.nereid.recording.Shadow;
import io.nereid.server.metrics.SlidingWindow;
import io.nereid.server.shared.ModelFacts;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Optional;

/**
 * Computes the figures of one version of a model between two samples. Used by the sampling thread.
 */
final class ModelSeries {

  private final ModelHistory history = new ModelHistory();
  private final List<SlidingWindow> windows =
      List.of(new SlidingWindow(), new SlidingWindow(), new SlidingWindow());
  private ModelStatistics before; // null: not sampled yet
  private long beforeNs;

  /** Samples the model. */
  ModelFigures look(Model model, Optional<Shadow.Verdict> shadow, long cacheByteLimit, long nowNs) {
    ModelState state = model.state();
    Optional<ModelFigures.Work> work = work(model, cacheByteLimit, nowNs);
    work.ifPresent(this::remember);
    return new ModelFigures(
        model.namespace(),
        model.name(),
        ModelFigures.version(model),
        state.name(),
        backend(model),
        state == ModelState.UNLOADED ? null : model.failure().orElse(null),
        work,
        history,
        shadow);
  }

  private Optional<ModelFigures.Work> work(Model model, long cacheByteLimit, long nowNs) {
    try {
      ModelStatistics now = model.statistics();
      List<Histogram> minute =
          List.of(
              windows.get(0).look(now.totalHistogram(), nowNs),
              windows.get(1).look(now.queueHistogram(), nowNs),
              windows.get(2).look(now.computeHistogram(), nowNs));
      ModelFigures.Work work =
          new ModelFigures.Work(
              now,
              before,
              before == null ? 0 : (nowNs - beforeNs) / 1e9,
              minute,
              model.memoryUsage(),
              model.instanceStatistics(),
              model.isolationStatistics(),
              ModelFigures.Work.isCached(model, cacheByteLimit));
      before = now;
      beforeNs = nowNs;
      return Optional.of(work);
    } catch (NereidException | IllegalStateException e) {
      return Optional.empty(); // the model was never loaded, or is being unloaded
    }
  }

  private void remember(ModelFigures.Work work) {
    if (work.before() != null) {
      history.add(work);
    }
  }

  private static String backend(Model model) {
    try {
      return model.spec().ensemble().isPresent() ? "ensemble" : model.spec().backendName();
    } catch (NereidException | IllegalStateException e) {
      return platform(model);
    }
  }

  /** The platform of a model that could not be loaded, by its configuration. */
  private static String platform(Model model) {
    try {
      return ModelFacts.platform(model);
    } catch (NereidException | IllegalStateException e) {
      return "";
    }
  }
}
