package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model's settings. */
class TensorRtOptionsTest {

  private static ModelSpec.Builder model() {
    return ModelSpec.builder("m").backend("tensorrt").parameter("model_path", "/m/1/model.plan");
  }

  @Test
  void unsetOptionsHaveDefaults() {
    TensorRtOptions options = TensorRtOptions.of(model().build());
    assertEquals(Path.of("/m/1/model.plan"), options.plan());
    assertFalse(options.graphs());
    assertEquals(2, options.batchesInFlight());
    assertEquals(65536, options.copyThresholdBytes());
    assertEquals(TensorRtOptions.Priority.DEFAULT, options.priority());
    assertFalse(options.weightStreaming());
  }

  @Test
  void optionsAreRead() {
    TensorRtOptions options =
        TensorRtOptions.of(
            model()
                .parameter("optimization.cuda.graphs", "true")
                .parameter("optimization.priority", "PRIORITY_MAX")
                .parameter("graph_limit", "4")
                .parameter("batches_in_flight", "3")
                .parameter("weight_streaming_bytes", "auto")
                .parameter("version_compatible", "true")
                .build());
    assertTrue(options.graphs());
    assertEquals(TensorRtOptions.Priority.MAX, options.priority());
    assertEquals(4, options.graphLimit());
    assertEquals(3, options.batchesInFlight());
    assertTrue(options.weightStreaming());
    assertEquals(-1, options.weightBudgetBytes());
    assertTrue(options.versionCompatible());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "batches_in_flight|0|expected a number from 1 to 8, got 0",
        "graph_limit|many|expected a whole number, got 'many'",
        "version_compatible|yes|expected true or false, got 'yes'",
        "optimization.priority|HIGH|expected PRIORITY_MAX, PRIORITY_DEFAULT or PRIORITY_MIN, got"
            + " 'HIGH'",
      })
  void unreadableValuesAreNamed(String key, String value, String message) {
    ModelSpec spec = model().parameter(key, value).build();
    NereidException e = assertThrows(NereidException.class, () -> TensorRtOptions.of(spec));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertEquals("model 'm', parameter '" + key + "': " + message, e.getMessage());
  }
}
