package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.State;
import io.nereid.server.http.RawClient.Response;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences over HTTP, as clients of the protocol send them. */
class SequenceHttpTest {

  /** A model of ONNX whose state is kept by the core; its tensors are told by the file. */
  private static final String STATE =
      """
      max_batch_size: 4
      sequence_batching {
        max_sequence_idle_microseconds: 3600000000
        %s
        state [ {
          input_name: "STATE_IN" output_name: "STATE_OUT" data_type: TYPE_FP32 dims: [ 1 ]
          initial_state: { name: "start" data_type: TYPE_FP32 dims: [ 1 ] %s }
        } ]
      }
      """;

  @TempDir Path repository;

  private void write(String model, String strategy, String start) throws IOException {
    Path directory = repository.resolve(model);
    Files.createDirectories(directory.resolve("1"));
    Files.createDirectories(directory.resolve("initial_state"));
    Files.copy(
        Path.of("..", "native", "test", "models", "accumulate.onnx"),
        directory.resolve("1/model.onnx"));
    Files.write(
        directory.resolve("initial_state/hundred"),
        ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(100).array());
    Files.writeString(directory.resolve("config.pbtxt"), STATE.formatted(strategy, start));
  }

  private static Response infer(RawClient client, String model, String parameters, float value)
      throws IOException {
    return client.post(
        "/v2/models/" + model + "/infer",
        "{\"parameters\":{"
            + parameters
            + "},\"inputs\":[{\"name\":\"INPUT\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":["
            + value
            + "]}]}");
  }

  private static void sums(
      RawClient client, String model, String parameters, float value, float expected)
      throws IOException {
    String text = infer(client, model, parameters, value).expect(200).text();
    assertTrue(text.contains("\"data\":[" + expected + "]"), text);
    assertTrue(!text.contains("STATE_OUT") && !text.contains("sequence_id"), text);
  }

  private static void fails(RawClient client, String model, String parameters, String message)
      throws IOException {
    assertEquals(
        "{\"error\":\"" + message + "\"}",
        infer(client, model, parameters, 1).expect(400).text().strip());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "direct { }", "oldest { max_candidate_sequences: 8 }"})
  void anOnnxModelHasAState(String strategy) throws IOException {
    write("sum", strategy, "zero_data: true");
    write("hundred", strategy, "data_file: \"hundred\"");
    try (TestServer server =
            new TestServer(
                RepositoryOptions.builder().repository(repository).build(), HttpLimits.DEFAULT);
        RawClient client = server.connect()) {
      sums(client, "sum", "\"sequence_id\":5,\"sequence_start\":true", 1, 1);
      sums(client, "sum", "\"sequence_start\":true,\"sequence_id\":6", 10, 10);
      sums(client, "sum", "\"sequence_id\":5,\"sequence_start\":false", 2, 3);
      sums(client, "sum", "\"sequence_id\":6,\"sequence_end\":true", 20, 30);
      sums(client, "sum", "\"sequence_id\":5,\"sequence_end\":true", 3, 6);
      String both = "\"sequence_id\":5,\"sequence_start\":true,\"sequence_end\":true";
      sums(client, "sum", both, 4, 4);
      fails(
          client,
          "sum",
          "\"sequence_id\":5",
          "inference request for sequence 5 to model 'sum' must specify the START flag on the"
              + " first request of the sequence");
      fails(
          client,
          "sum",
          "\"sequence_start\":true",
          "inference request to model 'sum' must specify a non-zero or non-empty correlation ID");
      sums(client, "hundred", "\"sequence_id\":\"text id\",\"sequence_start\":true", 1, 101);
      sums(client, "hundred", "\"sequence_id\":\"text id\",\"sequence_end\":true", 2, 103);
      String largest = "\"sequence_id\":18446744073709551615";
      sums(client, "sum", largest + ",\"sequence_start\":true", 1, 1);
      sums(client, "sum", largest + ",\"sequence_end\":true", 1, 2);
      assertEquals(8, server.nereid().model("sum").statistics().success().count());
    }
  }

  @Test
  void idsAreNumbersOrShortTexts() throws IOException {
    write("sum", "", "zero_data: true");
    try (TestServer server =
            new TestServer(
                RepositoryOptions.builder().repository(repository).build(), HttpLimits.DEFAULT);
        RawClient client = server.connect()) {
      for (String id : List.of("-1", "18446744073709551616", "1.5", "true", "[1]", "null")) {
        String text = infer(client, "sum", "\"sequence_id\":" + id, 1).expect(400).text();
        assertTrue(text.contains("Unable to parse 'sequence_id'"), text);
      }
      String text =
          infer(client, "sum", "\"sequence_id\":\"" + "x".repeat(129) + "\"", 1).expect(501).text();
      assertTrue(text.contains("string correlation ID cannot be longer than 128"), text);
      text = infer(client, "sum", "\"sequence_start\":1", 1).expect(400).text();
      assertTrue(text.contains("sequence_start"), text);
      assertTrue(client.get("/v2").expect(200).text().contains("\"sequence\""));
    }
  }

  /** What a model without sequences is told of one. */
  @Test
  void aBackendSeesTheSequence() throws Exception {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    ModelSpec.Builder model =
        ModelSpec.builder("m")
            .input("IN", DataType.FP32, -1)
            .output("OUT", DataType.FP32, -1)
            .backend(context ->
                batch -> {
                  var request = batch.request(0);
                  seen.add(
                      request.sequence()
                          + " "
                          + request.isSequenceStart()
                          + " "
                          + request.isSequenceEnd());
                  batch.output("OUT", batch.input("IN"));
                });
    try (TestServer server = new TestServer().load(model);
        RawClient client = server.connect()) {
      String prompt = "{\"IN\":[1],\"parameters\":{\"sequence_id\":\"a\",\"sequence_end\":true}}";
      client.post("/v2/models/m/generate", prompt).expect(200);
      String inputs =
          "\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}]";
      client
          .post(
              "/v2/models/m/infer",
              "{" + inputs + ",\"parameters\":{\"sequence_id\":7,\"sequence_start\":true}}")
          .expect(200);
      client.post("/v2/models/m/infer", "{" + inputs + "}").expect(200);
      assertEquals("Optional[a] false true", seen.take());
      assertEquals("Optional[7] true false", seen.take());
      assertEquals("Optional.empty false false", seen.take());
    }
  }

  /**
   * The request is read before it is known whose it is: it goes to the load that has its sequence.
   */
  @Test
  void aReloadLeavesSequencesWhereTheyAre() throws Exception {
    try (Nereid nereid = Nereid.create();
        TestServer server = new TestServer(nereid, HttpLimits.DEFAULT);
        RawClient client = server.connect()) {
      Model model = nereid.load(adder(100).build());
      sums(client, "adder", "\"sequence_id\":1,\"sequence_start\":true", 1, 101);
      Thread reload = Thread.ofVirtual().start(() -> nereid.load(adder(200).build()));
      long deadlineNs = System.nanoTime() + TestServer.PATIENCE.toNanos();
      while (!model.spec().parameters().equals(adder(200).build().parameters())) {
        assertTrue(System.nanoTime() < deadlineNs, "no reload");
        Thread.sleep(1);
      }
      sums(client, "adder", "\"sequence_id\":2,\"sequence_start\":true", 1, 201);
      sums(client, "adder", "\"sequence_id\":1", 1, 102);
      sums(client, "adder", "\"sequence_id\":1,\"sequence_end\":true", 1, 103);
      reload.join();
      sums(client, "adder", "\"sequence_id\":2,\"sequence_end\":true", 1, 202);
    }
  }

  private static ModelSpec.Builder adder(float first) {
    return ModelSpec.builder("adder")
        .parameter("first", "" + first)
        .backend(context ->
            batch -> {
              Tensor state = batch.input("STATE_IN");
              float[] sums = new float[(int) batch.size()];
              for (int i = 0; i < batch.requestCount(); i++) {
                int row = (int) batch.request(i).firstRow();
                float before = batch.request(i).isSequenceStart() ? first : state.floatAt(row);
                sums[row] = before + batch.input("INPUT").floatAt(row);
              }
              Tensor all = Tensor.ofFloats(sums, sums.length, 1);
              batch.output("OUTPUT", all);
              batch.output("STATE_OUT", all);
            })
        .maxBatchSize(2)
        .input("INPUT", DataType.FP32, 1)
        .output("OUTPUT", DataType.FP32, 1)
        .sequenceBatching(
            SequenceBatching.direct()
                .withMaxIdle(Duration.ofHours(1))
                .withState(State.of("STATE_IN", "STATE_OUT", DataType.FP32, 1)));
  }
}
