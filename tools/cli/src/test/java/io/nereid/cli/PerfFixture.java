package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import tools.jackson.jr.ob.JSON;

/** A server in this process, and the load generator against it through the command line. */
final class PerfFixture implements AutoCloseable {

  /** Short windows, of which the first three in a row with an answer count, however fast it is. */
  static final List<String> BRIEFLY =
      List.of("--warm-up", "50", "-p", "50", "-r", "10000", "-s", "1000");

  private static final long PATIENCE_NS = 120_000_000_000L;

  final NereidServer server;
  private final Path directory;
  private final List<String> measured;
  private CommandLineRun last;

  PerfFixture(Path directory, List<String> measured) {
    this(directory, measured, http -> http, grpc -> grpc);
  }

  PerfFixture(
      Path directory,
      List<String> measured,
      UnaryOperator<HttpOptions> http,
      UnaryOperator<GrpcOptions> grpc) {
    this.directory = directory;
    this.measured = measured;
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withHttp(http.apply(HttpOptions.DEFAULT))
                .withGrpc(grpc.apply(GrpcOptions.DEFAULT))
                .withAllowClientShm(true)
                .withRepository(RepositoryOptions.builder().explicit().build()));
  }

  /** Loads a model that answers OUT with IN. */
  PerfFixture identity(String name, DataType type, int maxBatchSize, long... dims) {
    server
        .nereid()
        .load(
            ModelSpec.builder(name)
                .backend("identity")
                .maxBatchSize(maxBatchSize)
                .input("IN", type, dims)
                .output("OUT", type, dims)
                .build());
    return this;
  }

  /** Loads a model with IN and OUT of so many INT32. */
  PerfFixture ints(String name, int count, Backend backend) {
    server
        .nereid()
        .load(
            ModelSpec.builder(name)
                .input("IN", DataType.INT32, count)
                .output("OUT", DataType.INT32, count)
                .backend(backend)
                .build());
    return this;
  }

  String http() {
    return "localhost:" + server.httpPort();
  }

  String grpc() {
    return "localhost:" + server.grpcPort().orElseThrow();
  }

  int run(String... arguments) {
    List<String> all = new ArrayList<>(List.of("perf"));
    all.addAll(List.of(arguments));
    for (int i = 0; i < measured.size(); i += 2) {
      if (!all.contains(measured.get(i))) { // what a test says itself decides
        all.addAll(measured.subList(i, i + 2));
      }
    }
    last = new CommandLineRun();
    return last.run(all.toArray(String[]::new));
  }

  /** What the last run printed. */
  String printed() {
    return last.out() + last.err();
  }

  /** Runs what has to succeed; returns the report. */
  Map<String, Object> report(String... arguments) throws IOException {
    Path file = directory.resolve("report.json");
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--json", file.toString()));
    int code = run(all.toArray(String[]::new));
    assertEquals(0, code, this::printed);
    return JSON.std.mapFrom(Files.readString(file));
  }

  /** The results of a report. */
  static List<Map<String, Object>> results(Map<String, Object> report) {
    List<Map<String, Object>> results = new ArrayList<>();
    for (Object result : (List<?>) report.get("results")) {
      @SuppressWarnings("unchecked") // JSON has no other keys
      Map<String, Object> fields = (Map<String, Object>) result;
      results.add(fields);
    }
    return results;
  }

  /** The one result of what has to succeed without errors. */
  Map<String, Object> result(String... arguments) throws IOException {
    return resultWith(any -> true, arguments);
  }

  /** The same, measured until it is as expected. */
  Map<String, Object> resultWith(Predicate<Map<String, Object>> expected, String... arguments)
      throws IOException {
    Map<String, Object> result = measureUntil(expected, arguments);
    assertEquals(0, result.get("errors"), this::printed);
    return result;
  }

  /** Measures until the one result is as expected: it is not where the machine stood still. */
  Map<String, Object> measureUntil(Predicate<Map<String, Object>> expected, String... arguments)
      throws IOException {
    long startNs = System.nanoTime();
    while (true) {
      List<Map<String, Object>> results = results(report(arguments));
      assertEquals(1, results.size(), this::printed);
      if (expected.test(results.getFirst())) {
        return results.getFirst();
      }
      assertTrue(System.nanoTime() - startNs < PATIENCE_NS, this::printed);
    }
  }

  static double number(Map<String, Object> result, String name) {
    return ((Number) result.get(name)).doubleValue();
  }

  @Override
  public void close() {
    server.close();
  }
}
