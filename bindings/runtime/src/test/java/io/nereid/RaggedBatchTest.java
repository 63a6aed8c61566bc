package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests of different lengths in one batch, and what its backend is told of them. */
class RaggedBatchTest extends RuntimeTest {

  /**
   * What docs/model-repository.md shows, with batches of three. The model of native/test/models
   * sums the values up to each index, from the one before on.
   */
  private static final String CONFIG = documented();

  @TempDir Path directory;

  /** A batch of three waits for all of them, however long that takes. */
  private static final DynamicBatching THREE =
      DynamicBatching.builder()
          .preferredBatchSizes(3)
          .maxQueueDelay(Duration.ofSeconds(20))
          .build();

  private static Path inProject(String file) {
    Path here = Path.of(file);
    return Files.exists(here) ? here : Path.of("..", "..").resolve(file);
  }

  private static String documented() {
    String text;
    try {
      text = Files.readString(inProject("docs/model-repository.md"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int section = text.indexOf("## Ragged batches");
    int begin = text.indexOf("```\n", section) + 4;
    return text.substring(begin, text.indexOf("```", begin))
        .replace(
            "dynamic_batching { }",
            "dynamic_batching { preferred_batch_size: 3 max_queue_delay_microseconds: 20000000 }");
  }

  private static ModelSpec.Builder echo() {
    return ModelSpec.builder("echo")
        .maxBatchSize(8)
        .input(TensorSpec.of("VALUES", DataType.FP32, -1).asRagged())
        .output("OUT", DataType.FP32, -1)
        .batchInput(
            new BatchInput(
                BatchInput.Kind.ELEMENT_COUNT, List.of("COUNT", "LENGTH"), DataType.FP32, "VALUES"))
        .batchInput(BatchInput.of(BatchInput.Kind.ITEM_SHAPE, "SHAPE", "VALUES"))
        .batchOutput(new BatchOutput(List.of("OUT"), "VALUES"))
        .dynamicBatching(THREE);
  }

  private static Tensor counting(int rows, int count) {
    float[] values = new float[rows * count];
    for (int i = 0; i < values.length; i++) {
      values[i] = i + 1;
    }
    return Tensor.ofFloats(values, rows, count);
  }

  private static List<CompletableFuture<InferResponse>> send(
      List<InferRequest> requests, Model model, Tensor... values) {
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    for (Tensor tensor : values) {
      requests.add(model.newRequest().input("VALUES", tensor));
      answers.add(requests.getLast().inferAsync());
    }
    return answers;
  }

  private void loadFile(String config) throws IOException {
    Path version = Files.createDirectories(directory.resolve("sums/1"));
    Files.copy(inProject("native/test/models/ragged_sums.onnx"), version.resolve("model.onnx"));
    Files.writeString(directory.resolve("sums/config.pbtxt"), config);
    nereid.close();
    RepositoryOptions repository = RepositoryOptions.builder().repository(directory).build();
    nereid = Nereid.open(repository, options().build());
  }

  private void checkSums(Model model) {
    List<InferRequest> requests = new ArrayList<>();
    var answers = send(requests, model, counting(1, 3), counting(1, 4), counting(1, 5));
    float[] sums = {6, 10, 15};
    for (int i = 0; i < 3; i++) {
      InferRequest request = requests.get(i);
      try (request;
          InferResponse response = answers.get(i).join()) {
        assertEquals(3, response.executedBatchSize());
        assertArrayEquals(new long[] {1, 1}, response.output("SUMS").shape());
        assertEquals(sums[i], response.output("SUMS").floatAt(0));
        assertArrayEquals(new long[] {1, 3 + i}, response.output("DOUBLED").shape());
        assertEquals(2 * (3 + i), response.output("DOUBLED").floatAt(2 + i));
      }
    }
  }

  @Test
  void onnxRuntimeSumsTheRequestsOfABatch() throws IOException {
    loadFile(CONFIG);
    Model model = nereid.model("sums");
    checkSums(model);
    assertEquals(List.of("VALUES"), model.spec().inputs().stream().map(TensorSpec::name).toList());
    String text = model.configuration().toText();
    assertTrue(text.contains("allow_ragged_batch: true"), text);
    String json = model.configuration().toJson();
    assertTrue(json.contains("\"batch_input\":[{\"kind\":\"BATCH_ACC"), json);
    assertTrue(json.contains("\"batch_output\":[{\"target_name\":[\"DOUBLED\"]"), json);
  }

  /** The file tells the outputs, and INDEX is no input of clients though the file needs it. */
  @Test
  void theRestIsToldByTheModel() throws IOException {
    loadFile(CONFIG.replaceAll("output \\{ name: \"SUMS\".*\n", "output { name: \"SUMS\" }\n"));
    checkSums(nereid.model("sums"));
  }

  @Test
  void aFileWithoutOneFreeDimensionIsRefused() throws IOException {
    loadFile(
        CONFIG
            .replace("name: \"VALUES\"", "name: \"INDEX\"")
            .replace("_FP32 dims: [ -1 ] allow", "_INT32 dims: [ -1 ] allow")
            .replace("target_name: \"INDEX\"", "target_name: \"VALUES\"")
            .replace("source_input: \"VALUES\"", "source_input: \"INDEX\"")
            .replace("BATCH_ACCUMULATED_ELEMENT_COUNT", "BATCH_ITEM_SHAPE")
            .replace("TYPE_INT32\n", "TYPE_FP32\n"));
    String reason = RepositoryFixture.index(nereid).getFirst();
    assertTrue(
        reason.contains("input 'VALUES' is made with dims [ -1, 1 ], but the ONNX file has"),
        reason);
  }

  @Test
  void aJavaBackendReadsWhatTheCoreMakes() {
    List<List<String>> seen = new CopyOnWriteArrayList<>();
    ModelSpec spec =
        echo()
            .backend(context -> {
              seen.add(context.spec().inputs().stream().map(TensorSpec::name).toList());
              return batch -> {
                Tensor values = batch.input("VALUES");
                assertEquals(1, values.shape().length);
                assertTrue(batch.hasInput("COUNT"));
                long row = 0;
                long at = 0;
                for (int i = 0; i < batch.requestCount(); i++) {
                  var request = batch.request(i);
                  assertEquals(row, request.firstRow());
                  assertEquals(values.floatAt(at), request.input("VALUES").floatAt(0));
                  long count = (long) batch.input("COUNT").floatAt(i);
                  assertEquals(count, (long) batch.input("LENGTH").floatAt(i));
                  assertEquals(
                      count, request.rows() * batch.input("SHAPE").intAt(request.firstRow()));
                  assertThrows(IllegalStateException.class, () -> request.input("COUNT"));
                  row += request.rows();
                  at += count;
                }
                assertEquals(values.shape()[0], at);
                batch.output("OUT", values);
              };
            })
            .build();
    Model model = nereid.load(spec);
    assertEquals(List.of(List.of("VALUES", "COUNT", "LENGTH", "SHAPE")), seen);
    List<InferRequest> requests = new ArrayList<>();
    var answers = send(requests, model, counting(1, 2), counting(2, 3));
    for (int i = 0; i < 2; i++) {
      InferRequest request = requests.get(i);
      try (request;
          InferResponse response = answers.get(i).join()) {
        assertEquals(3, response.executedBatchSize());
        assertArrayEquals(new long[] {1 + i, 2 + i}, response.output("OUT").shape());
        assertEquals(1, response.output("OUT").floatAt(0));
      }
    }
  }

  @Test
  void inputsThatTheCoreMakesAreNotForClients() {
    Model model = nereid.load(echo().backend(context -> batch -> {}).build());
    try (InferRequest request = model.newRequest()) {
      assertFails(
          StatusCode.INVALID_ARGUMENT,
          "unexpected inference input 'COUNT' for model 'echo', it has VALUES",
          () -> request.input("COUNT", Tensor.ofFloats(new float[] {1}, 1)));
    }
    String json = Model.configurationOf(echo().backend("identity").build()).toJson();
    assertTrue(json.contains("\"target_name\":[\"COUNT\",\"LENGTH\"]"), json);
    assertFalse(model.spec().forBackend().equals(model.spec()));
  }

  @Test
  void namesThatAreNotThereAreRefused() {
    ModelSpec source =
        echo()
            .backend("identity")
            .batchInput(BatchInput.of(BatchInput.Kind.ELEMENT_COUNT, "X", "NO"))
            .build();
    assertThrows(IllegalArgumentException.class, () -> nereid.load(source));
    ModelSpec target =
        echo().backend("identity").batchOutput(new BatchOutput(List.of("NO"), "VALUES")).build();
    assertThrows(IllegalArgumentException.class, () -> nereid.load(target));
    ModelSpec twice =
        echo()
            .backend("identity")
            .batchInput(BatchInput.of(BatchInput.Kind.ELEMENT_COUNT, "VALUES", "VALUES"))
            .build();
    assertFails(StatusCode.INVALID_ARGUMENT, () -> nereid.load(twice));
  }
}
