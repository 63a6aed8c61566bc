package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.ForkRunner.Timing;
import io.nereid.benchmarks.peers.Plan.Case;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Holds what all forks of a run saw. */
final class Results {

  /** Answers differ in the order of additions only. */
  private static final double TOLERANCE = 1e-3;

  /**
   * A fork.
   *
   * @param cases by their ids
   */
  record ForkResult(Plan plan, int round, Side side, Map<String, Load.Result> cases) {}

  private final Instant at = Instant.now();
  private final Timing timing;
  private final Path directory;
  private final List<ForkResult> forks = new ArrayList<>();

  Results(Places places, Timing timing) throws IOException {
    this.timing = timing;
    String name =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC).format(at);
    directory = Files.createDirectories(places.directory().resolve("results").resolve(name));
  }

  Instant at() {
    return at;
  }

  Timing timing() {
    return timing;
  }

  Path directory() {
    return directory;
  }

  /** Takes up a fork, whose answers must be those of the others. */
  void add(Plan plan, int round, Side side, Map<String, Load.Result> cases) {
    for (ForkResult other : forks) {
      if (other.plan() == plan) {
        cases.forEach((id, seen) -> checkSame(id, other, side, seen));
      }
    }
    forks.add(new ForkResult(plan, round, side, cases));
  }

  private static void checkSame(String id, ForkResult other, Side side, Load.Result seen) {
    double expected = other.cases().get(id).answer();
    if (!(Math.abs(expected - seen.answer()) <= TOLERANCE * Math.max(1, Math.abs(expected)))) {
      throw new IllegalStateException(
          "%s: %s answers with %s, %s with %s"
              .formatted(id, other.side().label, expected, side.label, seen.answer()));
    }
  }

  /** The figures of a side for a case, in the order of the rounds. */
  List<Load.Result> of(Plan plan, Side side, Case each) {
    return forks.stream()
        .filter(fork -> fork.plan() == plan && fork.side() == side)
        .map(fork -> fork.cases().get(each.id()))
        .toList();
  }
}
