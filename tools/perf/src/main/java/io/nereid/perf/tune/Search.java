package io.nereid.perf.tune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Looks for the best settings. The candidates of a stage are measured once, the better half of them
 * again, and so on; the best one is where the next stage begins. The search ends when no stage
 * finds anything better, or when time is up. For one thread.
 */
final class Search {

  /** The most rounds in which the better candidates of a stage are measured. */
  private static final int MOST_ROUNDS = 3;

  private static final int MOST_PASSES = 3;

  /** A smaller gain is noise: then the earlier settings stay, the present or the simplest ones. */
  private static final double LEAST_GAIN = 1.01;

  /** Measures candidates. */
  interface Meter {

    /** Measures once, and stores the result in the trials. */
    void measure(Candidate settings) throws IOException;

    /** True if no more time is to be spent. */
    boolean isOver();
  }

  private final Space space;
  private final Trials trials;
  private final Meter meter;

  Search(Space space, Trials trials, Meter meter) {
    this.space = space;
    this.trials = trials;
    this.meter = meter;
  }

  Candidate run() throws IOException {
    Candidate best = space.present();
    for (int pass = 0; pass < MOST_PASSES; pass++) {
      Candidate before = best;
      for (Function<Candidate, Set<Candidate>> stage : space.stages()) {
        best = best(best, stage.apply(best));
      }
      if (best.equals(before) || meter.isOver()) {
        break;
      }
    }
    return best;
  }

  private Candidate best(Candidate present, Set<Candidate> stage) throws IOException {
    Set<Candidate> all = new LinkedHashSet<>(List.of(present));
    all.addAll(stage);
    List<Candidate> left = new ArrayList<>(all);
    for (int round = 1; round <= MOST_ROUNDS && left.size() > 1; round++) {
      for (Candidate settings : left) {
        if (trials.count(settings) < round && !meter.isOver()) {
          meter.measure(settings);
        }
      }
      left.sort(Comparator.comparingDouble(trials::value).reversed());
      if (round < MOST_ROUNDS) {
        left = new ArrayList<>(left.subList(0, Math.max(2, (left.size() + 1) / 2)));
      }
    }
    double enough = trials.value(left.get(0)) / LEAST_GAIN;
    List<Candidate> last = left;
    return all.stream()
        .filter(settings -> settings.equals(present) || last.contains(settings))
        .filter(settings -> trials.value(settings) >= enough)
        .findFirst()
        .orElseThrow();
  }
}
