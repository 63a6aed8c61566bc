package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.LevelResult.Reading;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The search for the highest load, over measurements that are made up. */
class SloSearchTest {

  private static final SloSearch.Goal TARGET = SloSearch.Goal.of("p99<=10ms");

  private int measurements;

  private static LevelResult result(LoadLevel level, double latencyMs, long errors) {
    Tally tally = new Tally();
    for (int i = 0; i < 100; i++) {
      tally.success((long) (latencyMs * 1e6), 1);
    }
    for (int i = 0; i < errors; i++) {
      tally.error("HTTP 503");
    }
    Tally.Counts counts = new Tally.Counts();
    tally.drainInto(counts);
    Reading begin = new Reading(0, 0, Optional.empty(), Optional.empty());
    Reading end = new Reading(1_000_000_000, 0, Optional.empty(), Optional.empty());
    return new LevelResult(level, begin, end, counts, 1, 3, true, 0, 0, 1, null, List.of());
  }

  private SloSearch.Outcome search(LoadRange range, double capacity, double noise, long seed) {
    Random random = new Random(seed);
    return new SloSearch(
            TARGET,
            range,
            value ->
                range.whole() ? LoadLevel.closed((int) value) : LoadLevel.open(value, false, 64),
            level -> {
              measurements++;
              double factor = 1 + noise * (2 * random.nextDouble() - 1);
              return result(level, 10 * level.value() / capacity * factor, 0);
            })
        .run();
  }

  @Test
  void lessLoadMayAnswerMore() {
    LevelResult busy = result(LoadLevel.closed(2), 5, 0);
    LevelResult crowded = result(LoadLevel.closed(4), 9, 0);
    LevelResult missing = result(LoadLevel.closed(8), 20, 0);
    busy.counts().add(busy.counts()); // twice as many answers
    SloSearch.Outcome outcome =
        new SloSearch.Outcome(
            crowded,
            false,
            List.of(
                new SloSearch.Probe(busy, 2, true),
                new SloSearch.Probe(crowded, 2, true),
                new SloSearch.Probe(missing, 1, false)));
    assertEquals(
        "p99<=10ms is met up to concurrency 4: 100 requests/s; the best throughput within it is"
            + " 200 requests/s, at concurrency 2",
        outcome.text(TARGET));
  }

  @Test
  void itFindsTheHighestConcurrency() {
    Random random = new Random(5);
    LoadRange range = LoadRange.of("1:1024", true);
    for (int run = 0; run < 200; run++) {
      int capacity = 1 + random.nextInt(1023);
      SloSearch.Outcome outcome = search(range, capacity + 0.1, 0, 0);
      double found = outcome.best().level().value();
      assertTrue(
          found <= capacity && found >= Math.min(capacity, 0.97 * capacity - 1),
          capacity + ": " + found);
      assertEquals(found == 1024, outcome.atEnd());
    }
    assertTrue(measurements / 200 < 32, measurements + " measurements in 200 searches");
  }

  @Test
  void itFindsTheHighestRateInSpiteOfNoise() {
    LoadRange range = LoadRange.of("10:100000", false);
    for (int run = 0; run < 50; run++) {
      double found = search(range, 3000, 0.05, run).best().level().value();
      assertTrue(found > 2700 && found < 3300, "run " + run + ": " + found);
    }
  }

  @Test
  void theEndsOfTheRangeAreTold() {
    assertNull(search(LoadRange.of("8:64", true), 4, 0, 0).best());
    SloSearch.Outcome all = search(LoadRange.of("1:64", true), 1000, 0, 0);
    assertEquals(64, all.best().level().value());
    assertTrue(all.atEnd());
  }

  @Test
  void aHitIsMeasuredTwiceAndAClearMissOnce() {
    SloSearch.Outcome outcome = search(LoadRange.of("1:64", true), 8.1, 0, 0);
    for (SloSearch.Probe probe : outcome.probes()) {
      boolean clear = probe.result().level().value() > 12.2;
      assertEquals(clear ? 1 : 2, probe.measurements(), probe.toString());
    }
  }

  @Test
  void failuresDoNotMeetATarget() {
    assertTrue(TARGET.isMetBy(result(LoadLevel.closed(1), 1, 0)));
    assertTrue(!TARGET.isMetBy(result(LoadLevel.closed(1), 1, 1)));
  }

  @Test
  void targetsAreReadWithTheirUnits() {
    assertEquals(500, SloSearch.Goal.of(" p99.9 < 500us").limitUs());
    assertEquals(99.9, SloSearch.Goal.of("p99.9<500us").percentile());
    assertEquals(2e6, SloSearch.Goal.of("MAX<=2S").limitUs());
    assertEquals(0, SloSearch.Goal.of("avg<=1ms").percentile());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"p99", "p99<=10", "p101<=1ms", "q99<=1ms", "p99>=1ms", "p99<=1.2.3ms", "p99<=0ms"})
  void otherTargetsAreRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> SloSearch.Goal.of(text));
  }
}
