package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.WarmUp;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that run while a model loads. */
class WarmUpReaderTest {

  private static final String MODEL =
      """
      backend: "identity"
      max_batch_size: 4
      input [
        { name: "A" data_type: TYPE_FP32 dims: [ -1, 2 ] },
        { name: "S" data_type: TYPE_STRING dims: 2 },
        { name: "O" data_type: TYPE_INT8 dims: 1 optional: true }
      ]
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  private static final String A = "inputs { key: 'A' value { data_type: TYPE_FP32 dims: [ 3, 2 ] ";
  private static final String S = "inputs { key: 'S' value { data_type: TYPE_STRING dims: 2 ";

  @TempDir Path directory;

  private TestRepository repository;
  private Path warmUpFiles;

  @BeforeEach
  void makeRepository() throws IOException {
    repository = new TestRepository(directory);
    warmUpFiles = Files.createDirectories(directory.resolve("m/warmup"));
  }

  private TestRepository write(String warmUp) throws IOException {
    repository.model("m", MODEL + "model_warmup { " + warmUp + " }", 1);
    return repository;
  }

  @Test
  void everyKindOfDataArrives() throws IOException {
    Path floats = Files.write(warmUpFiles.resolve("a.raw"), new byte[24]);
    Path strings =
        Files.write(warmUpFiles.resolve("s.raw"), new byte[] {1, 0, 0, 0, 'x', 0, 0, 0, 0});
    String config =
        MODEL
            + "model_warmup { name: 'zero' batch_size: 4 count: 3 "
            + A
            + "zero_data: false } } "
            + S
            + "random_data: true } } } model_warmup { "
            + A
            + "input_data_file: 'a.raw' } } "
            + S
            + "input_data_file: 's.raw' } } }";
    repository.model("m", config, 1);
    List<Long> rows = List.of(3L, 2L);
    List<Long> pair = List.of(2L);
    assertEquals(
        List.of(
            new WarmUp(
                "zero",
                4,
                3,
                Map.of(
                    "A", new WarmUp.Input(DataType.FP32, rows, new WarmUp.Zero()),
                    "S", new WarmUp.Input(DataType.BYTES, pair, new WarmUp.Random()))),
            new WarmUp(
                "warm-up 2",
                1,
                1,
                Map.of(
                    "A",
                    new WarmUp.Input(
                        DataType.FP32, rows, new WarmUp.Content(floats.toAbsolutePath())),
                    "S",
                    new WarmUp.Input(
                        DataType.BYTES, pair, new WarmUp.Content(strings.toAbsolutePath()))))),
        repository.spec().warmUps());
    assertEquals(List.of(), repository.warnings);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "batch_size: 5|9:16: expected batch_size of a warm-up up to 4 (max_batch_size is 4), got 5",
        "count: 4294967295|9:16: expected warm-ups that are executed at most 10000 times together"
            + " (",
        "count: 10001|10000 times together (count), got 10001",
        "inputs { key: 'X' value { } }|the warm-up has an input 'X', the model has [A, S, O]",
        "inputs { key: 'A' value { dims: 1 } }|expected a data_type, such as TYPE_FP32, got none",
        "inputs { key: 'A' value { data_type: TYPE_INT8 } }|as the model's input has it, TYPE_FP32",
        "inputs { key: 'A' value { data_type: TYPE_FP32 dims: 2 } }|that fit the model's [ -1, 2 ]",
        "inputs { key: 'A' value { data_type: TYPE_FP32 dims: [ -1, 2 ] } }|without -1, got [ -1,",
        "inputs { key: 'A' value { data_type: TYPE_FP32 dims: [ 3, 2 ] } }|9:34: expected"
            + " zero_data",
        "inputs { key: 'A' value { data_type: TYPE_FP32 dims: [ 1099511627776, 2 ] } }|is too"
            + " large",
        "inputs { key: 'A' value { data_type: TYPE_FP32 dims: [ 3, 2 ] zero_data: true } }|required"
      })
  void mistakesAreNamedWithTheirPlace(String warmUp, String expected) throws IOException {
    NereidException failure = write(warmUp).failure();
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().startsWith("m/config.pbtxt:9:"), failure.getMessage());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "A|23|m/warmup/f: expected 24 bytes for warm-up input 'A', got 23 bytes",
        "A|25|expected 24 bytes",
        "A|-1|m/warmup/f is missing",
        "S|7|m/warmup/f: expected 2 strings, each after its length in 4 bytes, little-endian",
        "S|9|got 9 bytes"
      })
  void filesMustFit(String input, int size, String expected) throws IOException {
    if (size >= 0) {
      Files.write(warmUpFiles.resolve("f"), new byte[size]);
    }
    String file = "input_data_file: 'f' } } ";
    String warmUp =
        input.equals("A")
            ? A + file + S + "zero_data: true } }"
            : A + "zero_data: true } }" + S + file;
    String failure = write(warmUp).failure().getMessage();
    assertTrue(failure.contains(expected), failure);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1|134217728|",
        "1|134217729|dims [ 134217729, 2 ] with elements of 4 bytes and batch_size 1 take"
            + " 1073741832",
        "4|33554432|",
        "4|33554433|elements of 4 bytes and batch_size 4 take 1073741856 bytes",
        "1|9223372036854775807|take 73786976294838206456 bytes, the inputs of a warm-up at most"
      })
  void sizesHaveALimit(int batchSize, long rows, String expected) throws IOException {
    String config = MODEL.replaceFirst("\\{ name: \"S\".*\\R", "");
    String warmUp =
        "model_warmup { batch_size: %d inputs { key: 'A' value { data_type: TYPE_FP32 dims: [ %d, 2 ]"
                .formatted(batchSize, rows)
            + " zero_data: true } } }";
    repository.model("m", config + warmUp, 1);
    if (expected == null) {
      assertEquals(batchSize, repository.spec().warmUps().getFirst().batchSize());
    } else {
      String failure = repository.failure().getMessage();
      assertTrue(failure.startsWith("m/config.pbtxt:8:"), failure);
      assertTrue(failure.contains(expected), failure);
    }
  }

  @Test
  void theInputsOfAWarmUpShareTheLimit() throws IOException {
    String large = A.replace("3, 2", "134217728, 2") + "zero_data: true } } ";
    String failure = write(large + S + "zero_data: true } }").failure().getMessage();
    assertTrue(failure.contains("warm-up input 'S' is too large: dims [ 2 ]"), failure);
  }

  @Test
  void filesStayInTheModelsDirectory() throws IOException {
    String failure = write(A + "input_data_file: '../../x' } }").failure().getMessage();
    assertTrue(failure.contains("expected input_data_file to name a file inside"), failure);
  }

  @Test
  void withoutABatchDimensionTheBatchIsOne() throws IOException {
    String config = MODEL.replace("max_batch_size: 4\n", "");
    String inputs = A + "zero_data: true } } " + S + "zero_data: true } }";
    repository.model("m", config + "model_warmup { batch_size: 1 " + inputs + " }", 1);
    assertEquals(1, repository.spec().warmUps().getFirst().batchSize());
    repository.model("m", config + "model_warmup { batch_size: 2 " + inputs + " }", 1);
    String failure = repository.failure().getMessage();
    assertTrue(failure.contains("up to 1 (max_batch_size is 0), got 2"), failure);
  }
}
