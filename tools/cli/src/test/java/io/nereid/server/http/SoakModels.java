package io.nereid.server.http;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Two models of a soak that are not bundled, and their clients: one adds up sequences, over HTTP
 * and gRPC, and one is a plug-in made for Triton, where the native tests are built. Each answer is
 * checked, and both models are loaded anew again and again. Any thread may ask it.
 */
final class SoakModels implements AutoCloseable {

  private static final Path SUMS = Path.of("../../native/test/models/accumulate.onnx");
  private static final Path PLUGIN = Path.of("../../build/release/test/triton/libtriton_probe.so");
  private static final Duration IDLE = Duration.ofSeconds(2);

  private static final String SUMS_CONFIG =
      """
      {"backend": "onnxruntime", "max_batch_size": 8,
       "input": [{"name": "INPUT", "data_type": "TYPE_FP32", "dims": [1]}],
       "output": [{"name": "OUTPUT", "data_type": "TYPE_FP32", "dims": [1]}],
       "sequence_batching": {"max_sequence_idle_microseconds": 2000000, "oldest": {},
        "state": [{"input_name": "STATE_IN", "output_name": "STATE_OUT",
         "data_type": "TYPE_FP32", "dims": [1]}]}}
      """;

  private static final String PLUGIN_CONFIG =
      """
      backend: "probe" max_batch_size: 8
      input { name: "INPUT0" data_type: TYPE_INT32 dims: -1 }
      output { name: "OUTPUT0" data_type: TYPE_INT32 dims: -1 }
      """;

  private final SequenceSoak sequences = new SequenceSoak();
  private final int port;
  private final InferenceClient http;
  private final InferenceClient grpc;
  private int asked; // by the one thread that asks the plug-in

  SoakModels(int port, int grpcPort) throws IOException {
    this.port = port;
    http = InferenceClient.connect("http://127.0.0.1:" + port);
    grpc = InferenceClient.connect("grpc://127.0.0.1:" + grpcPort);
    loadSums();
  }

  /** Puts the plug-in and its model into a directory, and returns what a server needs for them. */
  static List<String> arguments(Path directory) throws IOException {
    if (!Files.exists(PLUGIN)) {
      System.out.println("without a plug-in: the native tests are not built");
      return List.of();
    }
    Path backend = Files.createDirectories(directory.resolve("backends/probe"));
    Files.write(backend.resolve("libtriton_probe.so"), Files.readAllBytes(PLUGIN));
    Path model = directory.resolve("models/plugin");
    Files.createDirectories(model.resolve("1"));
    Files.writeString(model.resolve("config.pbtxt"), PLUGIN_CONFIG);
    return List.of(
        "--backend-directory",
        backend.getParent().toString(),
        "--model-repository",
        "../../examples/models",
        "--model-repository",
        model.getParent().toString());
  }

  private void loadSums() throws IOException {
    http.loadModel("sums", SUMS_CONFIG, Map.of("1/model.onnx", Files.readAllBytes(SUMS)));
  }

  /** Starts the clients, which go on until the soak is over. */
  void start(BooleanSupplier goesOn) {
    for (int i = 0; i < 2; i++) {
      SequenceSoakClient client =
          new SequenceSoakClient(port, http, grpc, List.of("sums"), IDLE, sequences, i);
      sequences.start("sequences " + i, client, goesOn);
    }
    if (http.readyModels().stream().anyMatch(model -> model.name().equals("plugin"))) {
      sequences.start("plug-in", this::askPlugin, goesOn);
    }
  }

  private void askPlugin() throws IOException {
    int i = asked++;
    int[] sent = {i, i + 1, -i};
    InferRequest request =
        InferRequest.builder("plugin").input("INPUT0", Tensor.ofInts(sent, 1, 3)).build();
    try (InferResponse response = (i % 2 == 0 ? http : grpc).infer(request)) {
      if (!Arrays.equals(sent, response.output("OUTPUT0").toIntArray())) {
        sequences.fault("the plug-in answered " + response);
      }
      sequences.answered.increment();
    } catch (InferenceException e) {
      if (!e.getMessage().contains(HttpSoak.GRPC_TIME)) {
        throw e;
      }
    }
    if (i % 100 == 0) {
      http.loadModel("plugin");
      loadSums();
    }
  }

  /** Waits for the end of the clients, and closes their connections. */
  void join() throws InterruptedException {
    sequences.join();
    close();
  }

  long answered() {
    return sequences.answered.sum();
  }

  List<String> faults() {
    return sequences.faults();
  }

  @Override
  public void close() {
    http.close();
    grpc.close();
  }
}
