package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code batch_input}, {@code batch_output} and {@code allow_ragged_batch}. */
class BatchTensorReaderTest {

  @TempDir Path directory;

  private TestRepository write(int maxBatchSize, String more) throws IOException {
    TestRepository repository = new TestRepository(directory);
    String config =
        """
        backend: "identity"
        max_batch_size: %d
        input { name: "IN" data_type: TYPE_FP32 dims: [ -1, 2 ] allow_ragged_batch: true }
        input { name: "MAYBE" data_type: TYPE_FP32 dims: 1 optional: true }
        output { name: "OUT" data_type: TYPE_FP32 dims: [ -1, 2 ] }
        output { name: "LONG" data_type: TYPE_FP32 dims: [ 1, 1, -1 ] }
        %s
        """
            .formatted(maxBatchSize, more);
    repository.model("m", config, 1);
    return repository;
  }

  @Test
  void allKindsArrive() throws IOException {
    StringBuilder more = new StringBuilder();
    for (BatchInput.Kind kind : BatchInput.Kind.values()) {
      more.append(
          "batch_input { kind: BATCH_%s target_name: [ 'A%s', 'B%s' ] "
              .formatted(kind, kind.ordinal(), kind.ordinal()));
      more.append("data_type: TYPE_INT32 source_input: 'IN' } ");
    }
    more.append("batch_output { target_name: 'OUT' source_input: 'IN' }");
    var spec = write(4, more.toString()).spec();
    assertTrue(spec.inputs().getFirst().ragged());
    assertEquals(List.of(new BatchOutput(List.of("OUT"), "IN")), spec.batchOutputs());
    for (BatchInput.Kind kind : BatchInput.Kind.values()) {
      assertEquals(
          new BatchInput(
              kind, List.of("A" + kind.ordinal(), "B" + kind.ordinal()), DataType.INT32, "IN"),
          spec.batchInputs().get(kind.ordinal()));
    }
    List<TensorSpec> hidden = spec.hiddenInputs();
    assertEquals(12, hidden.size());
    assertEquals(TensorSpec.of("A0", DataType.INT32), hidden.getFirst());
    assertEquals(TensorSpec.of("B4", DataType.INT32, 2), hidden.get(9));
    var served = write(4, more.toString()).draft().configuration().orElseThrow();
    String json = served.toJson();
    assertTrue(json.contains("BATCH_ITEM_SHAPE_FLATTEN"), json);
  }

  @Test
  void withoutABatchDimensionCountsAreOnesOfAFreeSize() throws IOException {
    String count = "batch_input { target_name: 'N' data_type: TYPE_FP32 source_input: 'IN' }";
    var spec = write(0, count).spec();
    assertEquals(List.of(TensorSpec.of("N", DataType.FP32, -1)), spec.hiddenInputs());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "batch_input { data_type: TYPE_INT32 source_input: 'IN' }|7:1: expected at least one"
            + " target_name",
        "batch_input { target_name: '' data_type: TYPE_INT32 source_input: 'IN' }|7:15: expected at"
            + " least one target_name, and none that is empty",
        "batch_input { target_name: 'MAYBE' data_type: TYPE_INT32 source_input: 'IN' }|7:15:"
            + " expected target names that no other input has, got 'MAYBE'",
        "batch_input { target_name: 'N' target_name: 'N' source_input: 'IN' }|7:32: expected target"
            + " names that no other input has, got 'N'",
        "batch_input { target_name: 'N' data_type: TYPE_INT64 source_input: 'IN' }|7:32: batch"
            + " input data type must be TYPE_INT32 or TYPE_FP32, got TYPE_INT64",
        "batch_input { target_name: 'N' data_type: TYPE_INT32 }|7:1: batch input kind"
            + " 'BATCH_ELEMENT_COUNT' expects 1 source input, got 0",
        "batch_input { target_name: 'N' data_type: TYPE_INT32 source_input: [ 'IN', 'IN' ] }|7:54:"
            + " batch input kind 'BATCH_ELEMENT_COUNT' expects 1 source input, got 2",
        "batch_input { target_name: 'N' data_type: TYPE_INT32 source_input: 'X' }|7:54: unknown"
            + " source input name 'X'",
        "batch_input { target_name: 'N' data_type: TYPE_INT32 source_input: 'MAYBE' }|7:54: source"
            + " input 'MAYBE' is optional: expected a required one",
        "batch_output { source_input: 'IN' }|7:1: expected at least one target_name",
        "batch_output { target_name: 'OUT' }|7:1: batch output kind"
            + " 'BATCH_SCATTER_WITH_INPUT_SHAPE' expects 1 source input, got 0",
        "batch_output { target_name: 'OUT' source_input: 'OUT' }|7:35: unknown source input name"
            + " 'OUT'",
        "batch_output { target_name: 'X' source_input: 'IN' }|7:16: unknown target output name 'X'",
        "batch_output { target_name: [ 'OUT', 'OUT' ] source_input: 'IN' }|7:16: target output name"
            + " 'OUT' can only be specified once",
        "batch_output { target_name: 'LONG' source_input: 'IN' }|7:16: output 'LONG' has dims"
            + " [ 1, 1, -1 ], whose last -1 is behind the dims of its source input 'IN'",
        "input { name: 'R' data_type: TYPE_FP32 dims: 1 optional: true allow_ragged_batch: true }"
            + "|7:63: input 'R' is optional, which an input with allow_ragged_batch cannot be",
      })
  void mistakesAreToldWithTheirPlace(String more, String expected) throws IOException {
    NereidException failure = write(4, more).failure();
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().startsWith("m/config.pbtxt:" + expected), failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"BATCH_ITEM_SHAPE", "BATCH_ITEM_SHAPE_FLATTEN"})
  void shapesOfRowsNeedRows(String kind) throws IOException {
    String more =
        "batch_input { kind: "
            + kind
            + " target_name: 'N' data_type: TYPE_INT32 source_input: 'IN' }";
    String message = write(0, more).failure().getMessage();
    assertEquals(
        "m/config.pbtxt:7:15: batch input kind '"
            + kind
            + "' is for the rows of a batch, but max_batch_size is 0: expected 1 or more",
        message);
  }

  @Test
  void anEnsembleHasNeither() throws IOException {
    String steps = "ensemble_scheduling { step { model_name: 'x' } } ";
    TestRepository repository = new TestRepository(directory);
    String config =
        "platform: 'ensemble' batch_input { target_name: 'N' } " + TestRepository.TENSORS + steps;
    repository.model("m", config, 1);
    String message = repository.failure().getMessage();
    assertTrue(message.contains("an ensemble has no batch_input"), message);
  }
}
