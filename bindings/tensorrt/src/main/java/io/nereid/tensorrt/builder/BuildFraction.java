package io.nereid.tensorrt.builder;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.Optional;

/** Computes the completed fraction of the outermost phase, from nested phases. */
public final class BuildFraction implements BuildProgress {

  private static final class Phase {
    private final Optional<String> parent;
    private final int steps;
    private int done;

    private Phase(Optional<String> parent, int steps) {
      this.parent = parent;
      this.steps = Math.max(1, steps);
    }
  }

  /** The phases that run now, in the order in which they began; no two have the same name. */
  @GuardedBy("this")
  private final LinkedHashMap<String, Phase> phases = new LinkedHashMap<>();

  public BuildFraction() {}

  @Override
  public synchronized void started(String phase, Optional<String> parent, int steps) {
    phases.put(phase, new Phase(parent, steps));
  }

  @Override
  public synchronized boolean step(String phase, int step) {
    Phase known = phases.get(phase);
    if (known != null) {
      known.done = Math.min(known.steps, step + 1);
    }
    return true;
  }

  @Override
  public synchronized void finished(String phase) {
    phases.remove(phase);
  }

  /** The completed fraction of the outermost running phase, from 0 to 1; 0 between two phases. */
  public synchronized double value() {
    return phases.entrySet().stream()
        .filter(entry -> entry.getValue().parent.isEmpty())
        .findFirst()
        .map(entry -> of(entry.getKey(), entry.getValue()))
        .orElse(0.0);
  }

  /** The running phase that began last; empty between two phases. */
  public synchronized String innermost() {
    return phases.isEmpty() ? "" : phases.lastEntry().getKey();
  }

  /** The fraction of the steps that are done, with the completed part of the present step. */
  private synchronized double of(String name, Phase phase) {
    double within =
        phases.entrySet().stream()
            .filter(entry -> entry.getValue().parent.filter(name::equals).isPresent())
            .mapToDouble(entry -> of(entry.getKey(), entry.getValue()))
            .max()
            .orElse(0);
    return Math.min(1, (phase.done + within) / phase.steps);
  }
}
