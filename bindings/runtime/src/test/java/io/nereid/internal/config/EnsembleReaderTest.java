package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Graphs of models. */
class EnsembleReaderTest {

  private static final String STEP =
      "{ model_name: 'a' input_map { key: 'X' value: 'IN' } output_map { key: 'Y' value: 'OUT' } }";

  @TempDir Path directory;

  private TestRepository repository;

  @BeforeEach
  void makeRepository() {
    repository = new TestRepository(directory);
  }

  @Test
  void stepsArrive() throws IOException {
    repository.model(
        "m",
        """
        platform: "ensemble"
        max_batch_size: 4
        ensemble_scheduling {
          step [
            {
              model_name: "first" model_version: -1 model_namespace: "n"
              input_map { key: "X" value: "IN" }
              output_map { key: "Y" value: "between" }
            },
            {
              model_name: "second" model_version: 3
              input_map [ { key: "B" value: "between" }, { key: "A" value: "IN" } ]
              output_map { key: "Y" value: "OUT" }
            }
          ]
        }
        response_cache { enable: true }
        parameters { key: "k" value { string_value: "v" } }
        """
            + TestRepository.TENSORS,
        1);
    ModelDraft draft = repository.draft();
    assertFalse(draft instanceof ModelDraft.Partial);
    ModelSpec spec = repository.spec();
    assertEquals(
        List.of(
            new Ensemble.Step(
                "first", OptionalLong.empty(), Map.of("X", "IN"), Map.of("Y", "between")),
            new Ensemble.Step(
                "second",
                OptionalLong.of(3),
                Map.of("A", "IN", "B", "between"),
                Map.of("Y", "OUT"))),
        spec.ensemble().orElseThrow().steps());
    assertEquals(
        List.of("B", "A"), List.copyOf(spec.ensemble().get().steps().getLast().inputs().keySet()));
    assertEquals("ensemble", spec.backendName());
    assertEquals(4, spec.maxBatchSize());
    assertTrue(spec.responseCache());
    assertEquals(Map.of("k", "v"), spec.parameters());
    assertEquals(List.of(), repository.warnings);
  }

  @Test
  void thePlatformMayBeLeftOut() throws IOException {
    repository.model("m", "ensemble_scheduling { step " + STEP + " }" + TestRepository.TENSORS, 1);
    assertTrue(repository.spec().ensemble().isPresent());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "instance_group { }|1:1: an ensemble has no instance_group: configure it for the models",
        "model_warmup { }|1:1: an ensemble has no model_warmup",
        "optimization { }|1:1: an ensemble has no optimization",
        "default_model_filename: 'x'|1:1: an ensemble has no default_model_filename",
        "cc_model_filenames { key: '1' value: 'x' }|an ensemble has no cc_model_filenames",
        "backend: 'identity'|1:1: an ensemble has no backend, got \"identity\"",
        "platform: 'onnxruntime_onnx'|1:1: expected platform: \"ensemble\"",
        "dynamic_batching { }|2:1: "
      })
  void settingsWithoutMeaningForAnEnsembleAreRefused(String line, String expected)
      throws IOException {
    repository.model(
        "m", line + "\nensemble_scheduling { step " + STEP + " }\n" + TestRepository.TENSORS, 1);
    assertRefused(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "|1:1: expected at least one step of the ensemble, got none",
        "step { }|1:23: a step of the ensemble names no model",
        "step { model_name: 'a' model_version: -2 }|1:46: expected model_version of the step of",
        "step { model_name: 'a' }|1:23: expected at least one tensor in input_map of the step",
        "step { model_name: 'a' input_map { key: 'X' value: 'IN' } }|one tensor in output_map of",
        "step { model_name: 'a' input_map { key: 'X' } }|1:46: expected names of tensors in input"
      })
  void mistakesInStepsAreNamedWithTheirPlace(String steps, String expected) throws IOException {
    repository.model(
        "m",
        "ensemble_scheduling { " + (steps == null ? "" : steps) + " }\n" + TestRepository.TENSORS,
        1);
    assertRefused(expected);
  }

  @Test
  void tensorsMustBeConfigured() throws IOException {
    repository.model("m", "ensemble_scheduling { step " + STEP + " }", 1);
    assertRefused(": expected at least one input and one output, got 0 and 0");
  }

  @Test
  void anEnsembleHasSteps() throws IOException {
    repository.model("m", "platform: 'ensemble'\n" + TestRepository.TENSORS, 1);
    assertRefused(": the model is an ensemble, but there is no ensemble_scheduling");
  }

  private void assertRefused(String expected) {
    var failure = repository.failure();
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().startsWith("m/config.pbtxt:"), failure.getMessage());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
  }
}
