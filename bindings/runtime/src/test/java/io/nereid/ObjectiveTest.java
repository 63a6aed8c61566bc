package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.WarmUp;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models that say in how long they answer. */
class ObjectiveTest extends RuntimeTest {

  /** So often a request is tried until something is learned. */
  private static final int MOST_TRIES = 200;

  /** Each execution takes so many milliseconds, whatever its rows. */
  private static ModelSpec.Builder slow(int ms, Objective objective) {
    return identity("m").parameter("execute_delay_ms", "" + ms).objective(objective);
  }

  private static ObjectiveStatistics objective(Model model) {
    return model.statistics().objective().orElseThrow();
  }

  /** Returns why a request was refused; null if it was answered. */
  private static NereidException tryRoundTrip(Model model, float first) {
    try {
      roundTrip(model, first);
      return null;
    } catch (NereidException e) {
      return e;
    }
  }

  private static NereidException firstRefusal(Model model) {
    for (int i = 0; i < MOST_TRIES; i++) {
      NereidException refusal = tryRoundTrip(model, i);
      if (refusal != null) {
        return refusal;
      }
    }
    throw new AssertionError("nothing was refused: " + objective(model));
  }

  @Test
  void aModelWithoutOneHasNoFigures() {
    Model model = nereid.load(identity("m").build());
    roundTrip(model, 1);
    assertEquals(Optional.empty(), model.statistics().objective());
  }

  @Test
  void requestsInTimeAreCountedAndTheirCostLearned() {
    Objective wanted = new Objective(99.9, Duration.ofSeconds(30));
    Model model = nereid.load(slow(1, wanted).build());
    assertEquals(Optional.of(wanted), model.spec().objective());
    for (int i = 0; i < 20; i++) {
      roundTrip(model, i);
    }
    ObjectiveStatistics figures = objective(model);
    assertEquals(99.9, figures.percentile());
    assertEquals(Duration.ofSeconds(30), figures.latency());
    assertEquals(20, figures.kept());
    assertEquals(0, figures.late());
    assertEquals(0, figures.refused());
    ObjectiveStatistics.Cost one = figures.costs().getFirst();
    assertEquals(1, one.rows());
    assertEquals(0, one.kind());
    assertTrue(one.meanNs() >= 1e6 && one.highNs() >= one.meanNs() && one.weight() > 0, "" + one);
  }

  @Test
  void aRequestThatCannotBeInTimeIsRefusedAtOnce() {
    Model model = nereid.load(slow(20, Objective.p99(Duration.ofMillis(1))).build());
    NereidException refusal = firstRefusal(model);
    assertEquals(StatusCode.UNAVAILABLE, refusal.code(), refusal.getMessage());
    ObjectiveStatistics figures = objective(model);
    assertTrue(figures.refusedCost() > 0, figures.toString());
    assertEquals(0, figures.kept());
    assertEquals(figures.refused(), model.statistics().failRejected());
  }

  @Test
  void aRequestsOwnDeadlineIsKeptInMind() {
    Model model = nereid.load(slow(20, Objective.p99(Duration.ofSeconds(30))).build());
    for (int i = 0; i < 20; i++) {
      roundTrip(model, i);
    }
    // On a busy machine a deadline may pass before anybody looks at it.
    for (int i = 0; i < 50 && objective(model).refusedDeadline() == 0; i++) {
      try (InferRequest request =
          model.newRequest().input("IN", row(1)).deadline(Duration.ofMillis(5))) {
        assertFails(StatusCode.DEADLINE_EXCEEDED, request::infer);
      }
    }
    assertEquals(1, objective(model).refusedDeadline());
    assertEquals(20, model.statistics().executionCount());
  }

  @Test
  void underTooMuchLoadSomeAreRefusedAndTheOthersInTime() {
    Model model = nereid.load(slow(80, Objective.p99(Duration.ofSeconds(1))).build());
    for (int i = 0; i < 10; i++) {
      tryRoundTrip(model, i);
    }
    long refusedBefore = objective(model).refused();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    List<InferRequest> requests = new ArrayList<>();
    for (int i = 0; i < 400; i++) { // 50 executions of 80 ms, if all were to run
      InferRequest request = model.newRequest().input("IN", row(i));
      requests.add(request);
      answers.add(request.inferAsync());
    }
    int refused = 0;
    for (CompletableFuture<InferResponse> answer : answers) {
      try (InferResponse response = answer.join()) {
        assertEquals(4, response.output("OUT").elementCount());
      } catch (CompletionException e) {
        assertEquals(StatusCode.UNAVAILABLE, ((NereidException) e.getCause()).code());
        refused++;
      }
    }
    requests.forEach(InferRequest::close);
    ObjectiveStatistics figures = objective(model);
    assertTrue(refused > 0 && refused < 400, "refused " + refused);
    assertEquals(refusedBefore + refused, figures.refused());
    assertTrue(figures.refusedBacklog() > 0, figures.toString());
  }

  @Test
  void learnedCostsAreKeptOverAReload() {
    Model model = nereid.load(slow(2, Objective.p99(Duration.ofSeconds(30))).build());
    for (int i = 0; i < 50; i++) {
      roundTrip(model, i);
    }
    List<ObjectiveStatistics.Cost> before = objective(model).costs();
    assertFalse(before.isEmpty());
    nereid.load(slow(2, Objective.p99(Duration.ofSeconds(20))).build());
    ObjectiveStatistics after = objective(model);
    assertEquals(Duration.ofSeconds(20), after.latency());
    assertEquals(0, after.kept());
    assertEquals(rows(before), rows(after.costs()));
    assertEquals(before.getFirst().meanNs(), after.costs().getFirst().meanNs(), 1e6);
    model.unload();
    nereid.load(slow(2, Objective.p99(Duration.ofSeconds(20))).build());
    assertEquals(rows(before), rows(objective(model).costs()));
  }

  @Test
  void learnedCostsOfRowsOfAnySizeAreKeptOverReloads() {
    ModelSpec spec =
        ModelSpec.builder("m")
            .backend("identity")
            .maxBatchSize(8)
            .input("IN", DataType.FP32, -1)
            .output("OUT", DataType.FP32, -1)
            .objective(Objective.p99(Duration.ofSeconds(30)))
            .build();
    Model model = nereid.load(spec);
    roundTrip(model, 1);
    nereid.load(spec);
    nereid.load(spec);
    ObjectiveStatistics.Cost one = objective(model).costs().getFirst();
    assertEquals(4, one.rowElements());
    assertEquals(1, objective(model).costs().size());
    assertTrue(one.meanNs() > 0 && one.highNs() >= one.meanNs(), "" + one);
  }

  @Test
  void warmUpsAreExecutedWhateverWasLearned() {
    WarmUp.Input zeros = new WarmUp.Input(DataType.FP32, List.of(4L), new WarmUp.Zero());
    ModelSpec spec =
        slow(20, Objective.p99(Duration.ofMillis(1)))
            .warmUp(new WarmUp("zeros", 1, 2, Map.of("IN", zeros)))
            .build();
    Model model = nereid.load(spec);
    firstRefusal(model);
    nereid.load(spec);
    assertFalse(objective(model).costs().isEmpty());
    assertEquals(0, objective(model).refused());
  }

  private static List<Long> rows(List<ObjectiveStatistics.Cost> costs) {
    return costs.stream()
        .sorted(Comparator.comparingLong(ObjectiveStatistics.Cost::rows))
        .map(ObjectiveStatistics.Cost::rows)
        .toList();
  }

  @Test
  void anEnsembleCannotHaveOne() {
    nereid.load(identity("step").build());
    ModelSpec spec =
        ModelSpec.builder("e")
            .maxBatchSize(8)
            .input("IN", DataType.FP32, 4)
            .output("OUT", DataType.FP32, 4)
            .ensemble(
                new Ensemble(
                    List.of(
                        new Ensemble.Step(
                            "step",
                            OptionalLong.empty(),
                            Map.of("IN", "IN"),
                            Map.of("OUT", "OUT")))))
            .objective(Objective.p99(Duration.ofMillis(1)))
            .build();
    NereidException e = assertFails(StatusCode.INVALID_ARGUMENT, () -> nereid.load(spec));
    assertTrue(e.getMessage().contains("ensemble 'e' cannot have an objective"), e.getMessage());
  }

  @Test
  void theRepositorysOptionsSayIt(@TempDir Path directory) throws IOException {
    RepositoryFixture repository = new RepositoryFixture(directory);
    repository.model("m", RepositoryFixture.BATCHING, 1);
    RepositoryOptions options =
        RepositoryOptions.builder()
            .repository(directory)
            .objective("m", Objective.p99(Duration.ofSeconds(3)))
            .objective("mm", Objective.p99(Duration.ofSeconds(3)))
            .build();
    try (Nereid other = Nereid.open(options)) {
      assertEquals(Duration.ofSeconds(3), objective(other.model("m")).latency());
    }
  }
}
