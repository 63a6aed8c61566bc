package io.nereid.perf.tune;

import io.nereid.perf.tune.Candidate.Batching;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The settings to try for a model, in stages: related settings are in one, and a stage begins with
 * the best of the one before.
 *
 * @param present the model's present settings, which are in each stage
 * @param threads whether the backend has a setting for threads
 * @param processors of the machine; for a model on GPUs, the most instances to try
 * @param concurrency requests under way, which no batch can exceed
 * @param objective such as {@code p99 10ms}; null: none
 */
record Space(
    Candidate present, boolean threads, int processors, int concurrency, String objective) {

  private static final List<Long> DELAYS_US = List.of(0L, 100L, 300L, 1000L, 3000L);
  private static final int LEAST_PREFERRED = 4;

  List<Function<Candidate, Set<Candidate>>> stages() {
    return List.of(this::batchings, this::parallel, this::sizes);
  }

  /** The candidates for the number of instances and the threads of each, with adapted batches. */
  private Set<Candidate> parallel(Candidate from) {
    Set<Candidate> all = new LinkedHashSet<>();
    Set<Integer> counts = present.instances() == 0 ? Set.of(0) : powers(1, processors);
    for (Candidate sized : List.of(from, sizes(from).stream().findFirst().orElse(from))) {
      for (int instances : with(counts, present.instances())) {
        for (int count : threads ? with(powers(1, processors), 0) : Set.of(from.threads())) {
          if (Math.max(1, instances) * count <= 2 * processors) {
            all.add(new Candidate(instances, count, sized.maxBatch(), sized.batching()));
          }
        }
      }
    }
    return all;
  }

  /** The candidates for the time that requests wait for others. */
  private Set<Candidate> batchings(Candidate from) {
    Set<Candidate> all = new LinkedHashSet<>();
    if (from.maxBatch() > 1) {
      int preferred = from.batching() instanceof Batching.Waiting waiting ? waiting.preferred() : 0;
      all.add(with(from, new Batching.Alone()));
      DELAYS_US.forEach(delay -> all.add(with(from, new Batching.Waiting(delay, preferred))));
      if (objective != null) {
        all.add(with(from, new Batching.Objective(objective)));
      }
    }
    return all;
  }

  /**
   * The candidates for the rows of a batch, not fewer than clients may send now; the present number
   * first.
   */
  private Set<Candidate> sizes(Candidate from) {
    Set<Candidate> all = new LinkedHashSet<>();
    if (from.maxBatch() > 1 && !(from.batching() instanceof Batching.Alone)) {
      int least = present.maxBatch();
      for (int most : with(powers(least + 1, 2 * concurrency - 1), least).descendingSet()) {
        Candidate sized = new Candidate(from.instances(), from.threads(), most, from.batching());
        if (!(from.batching() instanceof Batching.Waiting waiting)) {
          all.add(sized);
        } else {
          for (int preferred : with(powers(LEAST_PREFERRED, Math.min(most, concurrency)), 0)) {
            all.add(with(sized, new Batching.Waiting(waiting.delayUs(), preferred)));
          }
        }
      }
    }
    return all;
  }

  private static Candidate with(Candidate from, Batching batching) {
    return new Candidate(from.instances(), from.threads(), from.maxBatch(), batching);
  }

  /** The powers of two from one number to another. */
  private static Set<Integer> powers(int least, int most) {
    Set<Integer> powers = new TreeSet<>();
    for (int power = 1; power <= most; power *= 2) {
      if (power >= least) {
        powers.add(power);
      }
    }
    return powers;
  }

  private static NavigableSet<Integer> with(Set<Integer> numbers, int one) {
    NavigableSet<Integer> all = new TreeSet<>(numbers);
    all.add(one);
    return all;
  }
}
