package com.example.embed;

import io.nereid.Nereid;
import io.nereid.client.InferRequest;
import io.nereid.client.InferenceClient;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.tensor.Tensor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/** Runs a model in this process, and then serves it from this process and calls it as a client. */
public final class Embed {
  private static final int[] VALUES = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

  private Embed() {}

  /** Takes the directory of a model repository that has the bundled model {@code simple}. */
  public static void main(String[] args) {
    Path models = Path.of(args[0]);
    int[] sums = inProcess(models);
    System.out.println("in process: " + Arrays.toString(sums));
    int[] served = served(models);
    System.out.println("served:     " + Arrays.toString(served));
    if (!Arrays.equals(sums, served)) {
      throw new IllegalStateException("the two ways to call the model do not agree");
    }
  }

  private static int[] inProcess(Path models) {
    try (var nereid = Nereid.open(models);
        var request =
            nereid
                .model("simple")
                .newRequest()
                .input("INPUT0", Tensor.ofInts(VALUES, 1, 16))
                .input("INPUT1", Tensor.ofInts(VALUES, 1, 16))
                .deadline(Duration.ofSeconds(10));
        var response = request.infer()) {
      return response.output("OUTPUT0").toIntArray();
    }
  }

  private static int[] served(Path models) {
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(RepositoryOptions.builder().repository(models).build())
            .withHttp(HttpOptions.DEFAULT); // at a free port of the loopback address
    InferRequest request =
        InferRequest.builder("simple")
            .input("INPUT0", io.nereid.client.Tensor.ofInts(VALUES, 1, 16))
            .input("INPUT1", io.nereid.client.Tensor.ofInts(VALUES, 1, 16))
            .output("OUTPUT0")
            .build();
    try (var server = NereidServer.start(options);
        var client = InferenceClient.connect("http://localhost:" + server.httpPort());
        var response = client.infer(request)) {
      return response.output("OUTPUT0").toIntArray();
    }
  }
}
