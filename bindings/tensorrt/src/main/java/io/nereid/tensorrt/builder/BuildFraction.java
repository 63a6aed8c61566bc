package io.nereid.tensorrt.builder;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.Optional;

/** Makes one number out of phases within phases: how much of the outermost one is done. */
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

  /** From 0 to 1, of the outermost phase that runs; 0 between two of them. */
  public synchronized double value() {
    return phases.entrySet().stream()
        .filter(entry -> entry.getValue().parent.isEmpty())
        .findFirst()
        .map(entry -> of(entry.getKey(), entry.getValue()))
        .orElse(0.0);
  }

  /** The phase that began last, of those that run; empty between two of them. */
  public synchronized String innermost() {
    return phases.isEmpty() ? "" : phases.lastEntry().getKey();
  }

  /** The steps that are done, and of the one that is under way what its own phase has done. */
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
