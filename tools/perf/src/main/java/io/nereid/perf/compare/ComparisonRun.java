package io.nereid.perf.compare;

import java.time.Instant;
import java.util.List;

/**
 * One comparison that has ended.
 *
 * @param at when it began
 * @param base what was compared with
 * @param candidate what was compared
 * @param suite which benchmarks
 * @param threshold what counts as a slowdown, as a share
 * @param machine what it ran on, and what else ran there
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
