package io.nereid;

import io.nereid.internal.request.Signature;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which ensembles use which models. An ensemble is loaded for particular loads of its models; when
 * one of these is replaced or leaves, the ensemble is loaded anew, and what it used goes when its
 * last request is answered.
 */
final class EnsembleGraph {

  private final ModelTable models;
  private final ModelLoader loader;

  /** One ensemble at a time, so that no two can come to use each other. */
  private final ReentrantLock loading = new ReentrantLock();

  private volatile boolean closing;

  EnsembleGraph(ModelTable models, ModelLoader loader) {
    this.models = models;
    this.loader = loader;
  }

  /** From now on models only leave. */
  void close() {
    closing = true;
  }

  /** Loads a model and lets requests go there. */
  void load(Model model, ModelOrigin origin) {
    if (origin.ensemble().isEmpty()) {
      model.publish(origin, loader.load(origin));
      return;
    }
    loading.lock();
    try {
      checkAcyclic(model, origin.ensemble().get());
      model.publish(origin, loader.load(origin));
    } finally {
      loading.unlock();
    }
  }

  private void checkAcyclic(Model model, Ensemble ensemble) {
    for (Ensemble.Step step : ensemble.steps()) {
      LoadedModel used = models.current(step);
      boolean itself = step.model().equals(model.key());
      if (itself || (used != null && uses(used, model.key(), new HashSet<>()))) {
        throw Signature.invalid("ensemble '" + model.name() + "' is a step of itself");
      }
    }
  }

  private static boolean uses(LoadedModel loaded, String key, Set<LoadedModel> seen) {
    List<Ensemble.Step> steps = loaded.spec().ensemble().map(Ensemble::steps).orElse(List.of());
    return seen.add(loaded)
        && (steps.stream().anyMatch(step -> step.model().equals(key))
            || loaded.steps().stream().anyMatch(step -> uses(step, key, seen)));
  }

  /** Lets the ensembles that name a model take notice of what became of it. */
  void follow(Model changed, long deadlineNs) {
    if (closing) {
      return; // they leave by themselves, and keep what they use until then
    }
    for (Model model : models.all()) {
      if (names(model, changed.key())) {
        model.followSteps(deadlineNs);
      }
    }
  }

  private static boolean names(Model model, String key) {
    return model.ensemble().map(Ensemble::steps).orElse(List.of()).stream()
        .anyMatch(one -> one.model().equals(key));
  }

  /** Whether an ensemble is loaded for what takes requests of its models now. */
  boolean isUpToDate(Model ensemble) {
    LoadedModel loaded = ensemble.current();
    if (loaded == null) {
      return false;
    }
    List<Ensemble.Step> steps = loaded.spec().ensemble().orElseThrow().steps();
    for (int i = 0; i < steps.size(); i++) {
      if (models.current(steps.get(i)) != loaded.steps().get(i)) {
        return false;
      }
    }
    return true;
  }

  /** Why an ensemble cannot be served: a model that no request would find; empty: it can. */
  Optional<NereidException> missing(Model ensemble) {
    return ensemble.ensemble().orElseThrow().steps().stream()
        .filter(step -> models.current(step) == null)
        .findFirst()
        .map(step ->
            new NereidException(
                StatusCode.UNAVAILABLE,
                "ensemble '"
                    + ensemble.name()
                    + "' needs model '"
                    + ModelId.shown(step.model())
                    + "', which is not loaded"));
  }
}
