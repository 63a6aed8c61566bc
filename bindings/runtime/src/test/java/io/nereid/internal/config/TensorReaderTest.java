package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.TensorSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shapes that the backend sees in place of those that requests have. */
class TensorReaderTest {

  @TempDir Path directory;

  private TestRepository write(int maxBatchSize, String input, String output) throws IOException {
    TestRepository repository = new TestRepository(directory);
    String config =
        """
        backend: "identity"
        max_batch_size: %d
        input { name: "IN" data_type: TYPE_FP32 %s }
        output { name: "OUT" data_type: TYPE_FP32 %s }
        """
            .formatted(maxBatchSize, input, output);
    repository.model("m", config, 1);
    return repository;
  }

  private static List<Long> dims(String text) {
    return Arrays.stream(text.split(",")).filter(dim -> !dim.isBlank()).map(Long::valueOf).toList();
  }

  @ParameterizedTest
  @CsvSource({
    "'4', '2,2'",
    "'-1', '-1,1'",
    "'2,-1,6', '1,2,-1,3,2'",
    "'-1,-1', '1,-1,1,-1'",
    "'1', ''",
    "'1,1', ''",
    "'9000000000,9000000000,4', '4,9000000000,9000000000'"
  })
  void reshapesWithAsManyElementsArrive(String dims, String shape) throws IOException {
    String tensor = "dims: [ " + dims + " ] reshape { shape: [ " + shape + " ] }";
    for (int maxBatchSize : List.of(0, 8)) {
      var spec = write(maxBatchSize, tensor, tensor).spec();
      for (TensorSpec one : List.of(spec.inputs().getFirst(), spec.outputs().getFirst())) {
        assertEquals(dims(dims), one.dims());
        assertEquals(Optional.of(dims(shape)), one.reshape());
      }
    }
  }

  @Test
  void aReshapeToTheSameIsNone() throws IOException {
    String tensor = "dims: [ -1, 3 ] reshape { shape: [ -1, 3 ] }";
    assertEquals(Optional.empty(), write(0, tensor, tensor).spec().inputs().getFirst().reshape());
  }

  @ParameterizedTest
  @CsvSource({
    "'4', '2,3', 'expected a reshape of input ''IN'' with as many elements as its dims [ 4 ]'",
    "'-1,4', '2,-1,2', 'before, between and after each -1, got [ 2, -1, 2 ]'",
    "'-1', '-1,-1', 'got [ -1, -1 ]'",
    "'-1', '', 'as many elements'",
    "'4', '0', 'expected reshape of input ''IN'' from 1 on, or -1 for any size, got 0'",
    "'1', '1,1,1,1,1,1,1,1,1', 'at most 8 sizes, got 9'",
    "'1,1,1,1,1,1,1,1,1', '1', 'with 1 to 8 sizes'"
  })
  void othersAreRefusedWithTheirPlace(String dims, String shape, String expected)
      throws IOException {
    String tensor = "dims: [ " + dims + " ] reshape { shape: [ " + shape + " ] }";
    NereidException failure = write(0, tensor, "dims: 1").failure();
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().startsWith("m/config.pbtxt:3:"), failure.getMessage());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
    String output = write(0, "dims: 1", tensor).failure().getMessage();
    assertTrue(output.startsWith("m/config.pbtxt:4:"), output);
  }

  @Test
  void theBatchDimensionCountsAmongTheEight() throws IOException {
    String seven = "dims: 1 reshape { shape: [ 1, 1, 1, 1, 1, 1, 1 ] }";
    assertEquals(7, write(2, seven, seven).spec().inputs().getFirst().reshape().get().size());
    String eight = "dims: 1 reshape { shape: [ 1, 1, 1, 1, 1, 1, 1, 1 ] }";
    String failure = write(2, eight, eight).failure().getMessage();
    assertTrue(failure.contains("at most 7 sizes, got 8"), failure);
  }
}
