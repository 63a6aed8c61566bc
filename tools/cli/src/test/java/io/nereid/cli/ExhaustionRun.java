package io.nereid.cli;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.metrics.MetricsOptions;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A server in a process of its own, which on its input is told to take all descriptors that are
 * left ("take"), or to give them back ("free"). It ends with its input.
 */
final class ExhaustionRun {

  private ExhaustionRun() {}

  /** Prints "PORTS", then those of HTTP, gRPC and metrics; then "done" for each command. */
  public static void main(String[] args) throws IOException {
    RepositoryOptions repository =
        RepositoryOptions.builder()
            .repository(Path.of("..", "..", "examples", "models"))
            .explicit("identity_fp32", "simple_string")
            .build();
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(repository)
            .withGrpc(GrpcOptions.DEFAULT)
            .withMetrics(MetricsOptions.DEFAULT);
    List<FileInputStream> files = new ArrayList<>(1000);
    try (NereidServer server = NereidServer.start(options);
        BufferedReader commands =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      System.out.println(
          "PORTS "
              + server.httpPort()
              + " "
              + server.grpcPort().orElseThrow()
              + " "
              + server.metricsPort().orElseThrow());
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        if (line.equals("take")) {
          takeAll(files);
        } else {
          for (FileInputStream file : files) {
            file.close();
          }
          files.clear();
        }
        System.out.println("done");
      }
    }
  }

  private static void takeAll(List<FileInputStream> files) {
    try {
      while (true) {
        files.add(new FileInputStream("/dev/null"));
      }
    } catch (IOException e) {
      // These were all.
    }
  }
}
