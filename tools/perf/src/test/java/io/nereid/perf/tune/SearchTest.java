package io.nereid.perf.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.tune.Candidate.Batching;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The search on models whose figures are a formula with noise. */
class SearchTest {

  private static final int PROCESSORS = 8;
  private static final int CONCURRENCY = 32;

  @TempDir private Path directory;

  /** A model of which each kind of setting has a best value, which depends on the others. */
  private static final class Machine implements Search.Meter {
    private final Trials trials;
    private final Random random;
    private int measured;

    Machine(Trials trials, long seed) {
      this.trials = trials;
      random = new Random(seed);
    }

    static double perSecond(Candidate settings) {
      int threads = Math.max(1, settings.threads() == 0 ? 2 : settings.threads());
      double busy = Math.min(PROCESSORS, settings.instances() * threads);
      double efficiency = 1 / (1 + 0.15 * (threads - 1)) / (1 + 0.05 * settings.instances());
      double rows = 1;
      double waitUs = 0;
      if (settings.batching() instanceof Batching.Waiting waiting) {
        int most = Math.min(settings.maxBatch(), CONCURRENCY / settings.instances());
        rows = waiting.preferred() == 0 ? most : Math.min(most, waiting.preferred());
        waitUs = waiting.delayUs() / rows;
      }
      double us = (200 + 40 * rows) / rows / (busy * efficiency) + waitUs / 4;
      return 1e6 / us;
    }

    @Override
    public void measure(Candidate settings) throws IOException {
      measured++;
      double noisy = perSecond(settings) * (1 + 0.03 * random.nextGaussian());
      trials.add(settings, new Trial(noisy, 1e6 * CONCURRENCY / noisy, 0, null));
    }

    @Override
    public boolean isOver() {
      return false;
    }
  }

  private static Set<Candidate> grid(Space space) {
    Set<Candidate> all = new LinkedHashSet<>(Set.of(space.present()));
    for (Function<Candidate, Set<Candidate>> stage : space.stages()) {
      for (Candidate from : new ArrayList<>(all)) {
        all.addAll(stage.apply(from));
      }
    }
    return all;
  }

  private Trials trials(String name) throws IOException {
    return new Trials(directory.resolve(name), "it", Double.POSITIVE_INFINITY, Long.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aFifthOfTheGridFindsNearlyTheBest(long seed) throws Exception {
    Candidate present = new Candidate(1, 0, 8, new Batching.Waiting(500_000, 0));
    Space space = new Space(present, true, PROCESSORS, CONCURRENCY, null);
    Trials trials = trials("trials");
    Machine machine = new Machine(trials, seed);
    Candidate found = new Search(space, trials, machine).run();
    Set<Candidate> grid = grid(space);
    double best = grid.stream().mapToDouble(Machine::perSecond).max().orElseThrow();
    String said = found.text() + " after " + machine.measured + " of " + grid.size();
    assertTrue(Machine.perSecond(found) >= 0.95 * best, said);
    assertTrue(machine.measured <= grid.size() / 5, said);
  }

  @Test
  void aSecondRunMeasuresNothingAgain() throws Exception {
    Candidate present = new Candidate(1, 0, 8, new Batching.Waiting(0, 0));
    Space space = new Space(present, true, 2, 8, "p99 10ms");
    Trials trials = trials("again");
    Candidate found = new Search(space, trials, new Machine(trials, 1)).run();
    Trials known = trials("again");
    Machine idle = new Machine(known, 2);
    assertEquals(found, new Search(space, known, idle).run());
    assertEquals(0, idle.measured);
    assertEquals(trials.middles(), known.middles());
  }

  @Test
  void inTimeAndWithinMemoryComesBeforeMuch() throws Exception {
    Trials trials = new Trials(directory.resolve("limits"), "it", 1000, 100);
    Candidate slow = new Candidate(1, 0, 0, new Batching.Alone());
    Candidate quick = new Candidate(2, 0, 0, new Batching.Alone());
    Candidate large = new Candidate(4, 0, 0, new Batching.Alone());
    trials.add(slow, new Trial(9000, 1001, 100, null));
    trials.add(quick, new Trial(10, 999, 100, null));
    trials.add(large, new Trial(9000, 999, 101, null));
    assertTrue(trials.value(quick) > trials.value(slow));
    assertTrue(trials.value(slow) > trials.value(large));
  }

  @Test
  void aConfigurationChangesWhereTheSettingsDo() {
    Map<String, Object> config =
        Map.of(
            "name",
            "m",
            "max_batch_size",
            8,
            "instance_group",
            List.of(Map.of("kind", "KIND_CPU", "count", 1)),
            "dynamic_batching",
            Map.of("max_queue_delay_microseconds", 500L, "preserve_ordering", true),
            "parameters",
            Map.of("other", Map.of("string_value", "x")));
    Candidate present = Candidate.of(config);
    assertEquals(new Candidate(1, 0, 8, new Batching.Waiting(500, 0)), present);
    assertEquals(config, present.in(config));
    for (Candidate changed :
        List.of(
            new Candidate(2, 1, 16, new Batching.Waiting(100, 4)),
            new Candidate(1, 4, 8, new Batching.Alone()),
            new Candidate(4, 0, 8, new Batching.Objective("p99 5ms")))) {
      Map<String, Object> other = changed.in(config);
      assertEquals(changed, Candidate.of(other));
      assertTrue(other.get("parameters").toString().contains("other"), other::toString);
      assertEquals(present, Candidate.of(present.in(other)), other::toString);
    }
  }
}
