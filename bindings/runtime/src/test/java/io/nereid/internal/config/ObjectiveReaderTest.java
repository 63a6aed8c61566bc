package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.proto.ModelConfig;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads objectives, and refuses impossible ones with a message. */
class ObjectiveReaderTest {

  private static final String HEAD = "backend: \"identity\"\nmax_batch_size: 8\n";

  private static final String PARAMETER =
      "parameters { key: \"nereid.objective\" value { string_value: \"%s\" } }\n";

  @TempDir Path directory;

  private TestRepository repository;

  @BeforeEach
  void makeRepository() {
    repository = new TestRepository(directory);
  }

  private void write(String objective, String more) throws IOException {
    repository.model("m", HEAD + PARAMETER.formatted(objective) + TestRepository.TENSORS + more, 1);
  }

  @ParameterizedTest
  @CsvSource({
    "p99 20ms, 99, 20000000, p99 20ms",
    "p99:20ms, 99, 20000000, p99 20ms",
    "p99.9 1.5ms, 99.9, 1500000, p99.9 1500us",
    "p50  2 s, 50, 2000000000, p50 2s",
    "p95.0:7us, 95, 7000, p95 7us",
    "p90:1ns, 90, 1, p90 1ns",
    "p99 3600s, 99, 3600000000000, p99 3600s"
  })
  void textsMeanPercentilesAndTimes(String text, double percentile, long nanos, String written) {
    Objective objective = Objective.parse(text);
    assertEquals(new Objective(percentile, Duration.ofNanos(nanos)), objective);
    assertEquals(written, objective.text());
    assertEquals(objective, Objective.parse(objective.text()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "20ms",
        "p99",
        "p99 20",
        "p99 20 minutes",
        "99 20ms",
        "p99 -1ms",
        "p99 0ms",
        "p49 1ms",
        "p99.99 1ms",
        "p100 1ms",
        "p99 3601s",
        "p99 9999999999999s",
        "p99 20ms or so",
        "p99 0.1ns"
      })
  void otherTextsAreRefusedWhereTheyStand(String text) throws IOException {
    assertThrows(IllegalArgumentException.class, () -> Objective.parse(text));
    write(text, "");
    NereidException failure = repository.failure();
    String message = failure.getMessage();
    assertTrue(message.startsWith("m/config.pbtxt:3:1: nereid.objective: expected "), message);
    assertTrue(message.endsWith(", got \"" + text + "\""), message);
  }

  @Test
  void itIsReadFromTheConfiguration() throws IOException {
    write("p95 5ms", "");
    ModelSpec spec = repository.spec();
    assertEquals(Optional.of(new Objective(95, Duration.ofMillis(5))), spec.objective());
    assertEquals(Map.of(), withoutPath(spec));
  }

  /** What the backend is told: nothing of the objective. */
  private static Map<String, String> withoutPath(ModelSpec spec) {
    Map<String, String> parameters = new HashMap<>(spec.parameters());
    parameters.remove(ParameterReader.MODEL_PATH);
    return parameters;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dynamic_batching { preserve_ordering: true } | preserve_ordering is on",
        "model_transaction_policy { decoupled: true } | it is decoupled",
        "sequence_batching { } | it has sequences",
        "dynamic_batching { default_queue_policy { timeout_action: DELAY"
            + " default_timeout_microseconds: 5 } } | timeout_action is DELAY"
      })
  void settingsThatExcludeAnObjectiveAreTold(String setting, String reason) throws IOException {
    write("p99 5ms", setting);
    String message = repository.failure().getMessage();
    assertTrue(
        message.startsWith("m/config.pbtxt:3:1: the model cannot have nereid.objective: " + reason),
        message);
  }

  @Test
  void anUnknownParameterIsToldOfThisOne() throws IOException {
    repository.model(
        "m",
        HEAD
            + "parameters { key: \"nereid.objectives\" value { string_value: \"p99 1ms\" } }\n"
            + TestRepository.TENSORS,
        1);
    String message = repository.failure().getMessage();
    assertTrue(message.contains("nereid.objective, nereid.media.INPUT or nereid.batcher"), message);
  }

  @Test
  void anOptionTakesItsPlaceAndIsSeen() throws IOException {
    write("p95 5ms", "");
    ModelDraft draft = readWith(Objective.p99(Duration.ofMillis(7)));
    assertEquals(
        Optional.of(Objective.p99(Duration.ofMillis(7))),
        draft.complete(Optional.empty()).spec().objective());
    assertEquals(
        List.of(new Value(ParameterReader.OBJECTIVE_PATH, "\"p99 7ms\"", Origin.OPTION, "")),
        objectives(draft));
  }

  @Test
  void anOptionIsSeenWhereTheFileSaysNothing() throws IOException {
    repository.model("m", HEAD + TestRepository.TENSORS, 1);
    ModelDraft draft = readWith(Objective.p99(Duration.ofMillis(7)));
    assertEquals(
        List.of(new Value(ParameterReader.OBJECTIVE_PATH, "\"p99 7ms\"", Origin.OPTION, "")),
        objectives(draft));
    String text = draft.configuration().orElseThrow().toCommentedText();
    assertTrue(text.matches("(?s).*string_value: \"p99 7ms\" +# --objective\n.*"), text);
  }

  private ModelDraft readWith(Objective objective) {
    ReadOptions all = ReadOptions.DEFAULT;
    ReadOptions options =
        new ReadOptions(
            all.autoComplete(),
            all.defaultMaxBatchSize(),
            all.configName(),
            all.steps(),
            all.plugins(),
            all.agents(),
            all.override(),
            Map.of("m", objective, "other", Objective.p99(Duration.ofSeconds(1))),
            Map.of(),
            Map.of());
    return ModelReader.read(directory.resolve("m"), options, line -> {}).getFirst();
  }

  private static List<Value> objectives(ModelDraft draft) {
    return draft.configuration().orElseThrow().values().stream()
        .filter(value -> value.path().contains("nereid.objective"))
        .toList();
  }

  @Test
  void aProgramsModelSaysItInItsConfiguration() {
    ModelSpec spec =
        ModelSpec.builder("m")
            .backend("identity")
            .input("IN", DataType.FP32, 4)
            .output("OUT", DataType.FP32, 4)
            .objective(Objective.p99(Duration.ofMillis(20)))
            .build();
    ModelConfig config = SpecWriter.write(spec);
    assertEquals("p99 20ms", config.getParametersOrThrow("nereid.objective").getStringValue());
  }
}
