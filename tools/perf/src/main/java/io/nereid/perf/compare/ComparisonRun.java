package io.nereid.perf.compare;

import java.time.Instant;
import java.util.List;

/**
 * One comparison that has ended.
 *
 * @param at when it began
 * @param base the base's name
 * @param candidate what was compared
 * @param suite the name of the benchmarks
 * @param threshold the least slowdown that counts, as a share
 * @param machine the machine and its load
 * @param outcomes of the benchmarks that both sides have
 * @param onlyBase benchmarks that only the base has
 * @param onlyCandidate benchmarks that only the candidate has
 */
record ComparisonRun(
    Instant at,
    String base,
    String candidate,
    String suite,
    double threshold,
    String machine,
    List<Outcome> outcomes,
    List<BenchmarkId> onlyBase,
    List<BenchmarkId> onlyCandidate) {

  List<Outcome> measured() {
    return outcomes.stream().filter(outcome -> outcome.failure() == null).toList();
  }

  List<Outcome> failed() {
    return outcomes.stream().filter(outcome -> outcome.failure() != null).toList();
  }

  List<Outcome> slower() {
    return outcomes.stream().filter(Outcome::isSlower).toList();
  }
}
