package io.nereid;

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
      model.publish(loader.load(origin));
      return;
    }
    loading.lock();
    try {
      checkAcyclic(model.name(), origin.ensemble().get(), new HashSet<>());
      model.publish(loader.load(origin));
    } finally {
      loading.unlock();
    }
  }

  private void checkAcyclic(String name, Ensemble ensemble, Set<String> seen) {
    for (Ensemble.Step step : ensemble.steps()) {
      if (step.model().equals(name)) {
        throw Signature.invalid("ensemble '" + name + "' is a step of itself");
      }
      LoadedModel used = models.current(step);
      if (used != null && seen.add(step.model())) {
        used.spec().ensemble().ifPresent(inner -> checkAcyclic(name, inner, seen));
      }
    }
  }

  /** Lets the ensembles that name a model take notice of what became of it. */
  void follow(Model changed, long deadlineNs) {
    for (Model model : models.all()) {
      if (names(model, changed.name())) {
        model.followSteps(deadlineNs);
      }
    }
  }

  private static boolean names(Model model, String step) {
    return model.ensemble().map(Ensemble::steps).orElse(List.of()).stream()
        .anyMatch(one -> one.model().equals(step));
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

  /** Whether everything is there that an ensemble needs. */
  boolean isComplete(Model ensemble) {
    return !closing && missingStep(ensemble).isEmpty();
  }

  private Optional<Ensemble.Step> missingStep(Model ensemble) {
    return ensemble.ensemble().orElseThrow().steps().stream()
        .filter(step -> models.current(step) == null)
        .findFirst();
  }

  /** Why an ensemble is not complete. */
  NereidException missing(Model ensemble) {
    return missingStep(ensemble)
        .map(step ->
            new NereidException(
                StatusCode.UNAVAILABLE,
                "ensemble '"
                    + ensemble.name()
                    + "' needs model '"
                    + step.model()
                    + "', which was unloaded"))
        .orElseGet(() -> new NereidException(StatusCode.UNAVAILABLE, "Nereid is being closed"));
  }
}
