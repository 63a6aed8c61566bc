package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Code that comes with a load runs only where the command line of the server allows it. */
class ClientCodeTest {

  private static final Path PLUGIN =
      Path.of("..", "..", "build", "release", "test", "triton", "libtriton_probe.so");

  private static final String CONFIG =
      """
      {"backend": "probe", "max_batch_size": 8,
       "input": [{"name": "INPUT0", "data_type": "TYPE_INT32", "dims": [-1]}],
       "output": [{"name": "OUTPUT0", "data_type": "TYPE_INT32", "dims": [-1]}]}
      """;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anOperatorAllowsItOnTheCommandLine(boolean allowed, @TempDir Path models) throws Exception {
    assumeTrue(Files.exists(PLUGIN), "the native tests were not built, and with them the plug-ins");
    Map<String, byte[]> files = Map.of("1/libtriton_probe.so", Files.readAllBytes(PLUGIN));
    List<String> arguments = ServeProcess.arguments("--model-control-mode=explicit");
    if (allowed) {
      arguments.add("--allow-client-code");
    }
    arguments.add(models.toString());
    Process process = ServeProcess.start(Main.class.getName(), arguments);
    try (BufferedReader printed = process.inputReader()) {
      String line = printed.readLine();
      while (!line.startsWith("Serving HTTP")) {
        line = printed.readLine();
      }
      String port = line.replaceAll(".*:(\\d+).*", "$1");
      while (!line.startsWith("Ready")) {
        line = printed.readLine();
      }
      try (InferenceClient client = InferenceClient.connect("http://127.0.0.1:" + port)) {
        if (allowed) {
          client.loadModel("sent", CONFIG, files);
          InferRequest request =
              InferRequest.builder("sent")
                  .input("INPUT0", Tensor.ofInts(new int[] {7}, 1, 1))
                  .build();
          try (InferResponse response = client.infer(request)) {
            assertArrayEquals(new int[] {7}, response.output("OUTPUT0").toIntArray());
          }
        } else {
          String told =
              assertThrows(InferenceException.class, () -> client.loadModel("sent", CONFIG, files))
                  .getMessage();
          assertTrue(told.contains("would run as code"), told);
          assertTrue(told.contains("--allow-client-code"), told);
        }
      }
    } finally {
      process.destroy();
      process.waitFor();
    }
  }
}
