package io.nereid.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.compare.Outcome.Metric;
import io.nereid.perf.compare.Outcome.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Findings on a simulated machine whose truth is known. */
class ComparisonTest {

  private static final String BASE = "base";
  private static final String CANDIDATE = "candidate";
  private static final Judge JUDGE = new Judge(0.05);

  private static final List<BenchmarkId> IDS =
      List.of(id("a.B.one"), id("a.B.two"), id("a.B.changed"), id("a.B.three"));

  private static BenchmarkId id(String name) {
    return BenchmarkId.of(name, Map.of());
  }

  private static List<Outcome> compare(SimulatedForks forks, Duration time) {
    return new Comparison<>(forks, BASE, CANDIDATE, JUDGE, time, forks::nowNs, line -> {}).run(IDS);
  }

  private static List<String> slower(List<Outcome> outcomes) {
    return outcomes.stream().filter(Outcome::isSlower).map(outcome -> outcome.id().name()).toList();
  }

  @Test
  void nothingIsFoundWhereNothingChanged() {
    int alarms = 0;
    for (int run = 0; run < 60; run++) {
      // From quiet to very noisy, with time for few forks and for more.
      double deviation = 0.01 + 0.02 * (run % 4);
      SimulatedForks forks = new SimulatedForks(run, CANDIDATE, 1, 1, deviation);
      alarms += slower(compare(forks, Duration.ofSeconds(60 + 60 * (run % 3)))).size();
    }
    assertEquals(0, alarms, "alarms in 60 comparisons of four benchmarks");
  }

  @Test
  void aSlowdownOfTenPercentIsFound() {
    int found = 0;
    for (int run = 0; run < 20; run++) {
      SimulatedForks forks = new SimulatedForks(run, CANDIDATE, 1.1, 1.1, 0.02);
      List<String> slower = slower(compare(forks, Duration.ofMinutes(5)));
      assertTrue(slower.size() <= 1, () -> "more than what changed: " + slower);
      found += slower.size();
    }
    assertTrue(found >= 18, "found " + found + " times of 20");
  }

  /** The forks of each test are as many as servers are started in five minutes. */
  @ParameterizedTest
  @CsvSource({"1.05,18,20", "1,0,0"})
  void aSlowdownOfFivePercentIsFoundWithAThresholdOfTwo(double factor, int least, int most) {
    int found = 0;
    for (int run = 0; run < 20; run++) {
      SimulatedForks forks = new SimulatedForks(run, CANDIDATE, factor, factor, 0.01);
      Comparison<String> comparison =
          new Comparison<>(
              forks,
              BASE,
              CANDIDATE,
              new Judge(0.02),
              Duration.ofSeconds(54),
              forks::nowNs,
              line -> {});
      found += slower(comparison.run(List.of(id("changed")))).size();
    }
    assertTrue(found >= least && found <= most, "found " + found + " times of 20");
  }

  @Test
  void waitingThatTakesNoProcessorTimeIsFoundByTheClock() {
    int found = 0;
    for (int run = 0; run < 20; run++) {
      SimulatedForks forks = new SimulatedForks(run, CANDIDATE, 1.3, 1, 0.02);
      found += slower(compare(forks, Duration.ofMinutes(6))).size();
    }
    assertTrue(found >= 18, "found " + found + " times of 20");
  }

  @Test
  void aSpeedupIsTold() {
    SimulatedForks forks = new SimulatedForks(5, CANDIDATE, 0.8, 0.8, 0.01);
    Outcome changed = compare(forks, Duration.ofMinutes(5)).get(2);
    assertEquals(Verdict.FASTER, changed.verdict());
    assertEquals(0.8, changed.estimates().get(Metric.CPU).ratio(), 0.03);
  }

  @Test
  void itEndsWhenTheTimeIsUpAndSpendsTheRestOnSuspects() {
    Duration time = Duration.ofMinutes(3);
    SimulatedForks quiet = new SimulatedForks(1, CANDIDATE, 1, 1, 0.08);
    List<Outcome> none = compare(quiet, time);
    assertFalse(none.stream().anyMatch(outcome -> outcome.pairs().size() < 4));
    // Two thirds, and what was under way then.
    assertTrue(quiet.nowNs() <= time.toNanos() * 2 / 3 + 6_000_000_000L, "took too long");

    SimulatedForks slow = new SimulatedForks(1, CANDIDATE, 1.5, 1.5, 0.02);
    Outcome changed = compare(slow, time).get(2);
    int secondCount =
        changed.pairs().size()
            - compare(new SimulatedForks(1, CANDIDATE, 1, 1, 0.02), time).get(2).pairs().size();
    assertTrue(changed.isSlower());
    assertTrue(secondCount > 0, "a second batch was made");
    assertTrue(slow.nowNs() <= time.toNanos() + 40_000_000_000L, "took too long");
  }

  @Test
  void forksTakeTurns() {
    List<String> order = new ArrayList<>();
    Fork.Source<String> forks =
        (side, id) -> {
          order.add(side);
          return new Fork(100, 100, 0);
        };
    new Comparison<>(forks, BASE, CANDIDATE, JUDGE, Duration.ofMinutes(1), () -> 0, line -> {})
        .run(List.of(id("a.B.one")));
    assertEquals(
        List.of(BASE, CANDIDATE, CANDIDATE, BASE, BASE, CANDIDATE, CANDIDATE, BASE), order);
  }

  @Test
  void aCaseThatCannotBeMeasuredIsToldAndTheRestGoesOn() {
    Fork.Source<String> forks =
        (side, id) -> {
          if (side.equals(CANDIDATE) && id.name().endsWith("changed")) {
            throw new MeasurementException("no such model");
          }
          return new Fork(100, 100, 0);
        };
    List<Outcome> outcomes =
        new Comparison<>(forks, BASE, CANDIDATE, JUDGE, Duration.ofMinutes(1), () -> 0, line -> {})
            .run(IDS);
    assertEquals("no such model", outcomes.get(2).failure());
    assertEquals(Verdict.NO_CHANGE, outcomes.get(3).verdict());
  }

  @Test
  void processorTimeThatCannotBeReadIsLeftOut() {
    Fork.Source<String> forks = (side, id) -> new Fork(100, Double.NaN, 0);
    Outcome outcome =
        new Comparison<>(forks, BASE, CANDIDATE, JUDGE, Duration.ofMinutes(1), () -> 0, line -> {})
            .run(IDS)
            .get(0);
    assertEquals(Map.of(Metric.TIME, Verdict.NO_CHANGE), outcome.verdicts());
    assertNotNull(outcome.estimates().get(Metric.TIME));
  }
}
