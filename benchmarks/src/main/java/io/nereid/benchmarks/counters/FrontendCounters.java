package io.nereid.benchmarks.counters;

import io.nereid.benchmarks.BenchmarkServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Counts what requests of 64 bytes over the frontends cost, one after the other on one connection.
 */
final class FrontendCounters {

  private static final int TRACED_REQUESTS = 1000;

  private FrontendCounters() {}

  /** Counts; whether system calls could be counted too. */
  static boolean into(Map<String, Double> counters, Path workDirectory, boolean traced)
      throws Exception {
    boolean complete = traced;
    try (BenchmarkServer server = new BenchmarkServer()) {
      for (String protocol : List.of("http", "grpc")) {
        int port = protocol.equals("http") ? server.httpPort() : server.grpcPort();
        try (ClientProcess client = new ClientProcess(protocol, port)) {
          counters.put(
              protocol + ".allocated_bytes", Allocation.bytes(client::make, 12_000, 2_000));
          if (traced) {
            OptionalDouble calls =
                new SystemCalls(workDirectory.resolve("strace-" + protocol + ".txt"))
                    .during(client::makeSlowly, TRACED_REQUESTS);
            calls.ifPresent(value -> counters.put(protocol + ".system_calls", value));
            complete &= calls.isPresent();
          }
        }
      }
    }
    return complete;
  }
}
