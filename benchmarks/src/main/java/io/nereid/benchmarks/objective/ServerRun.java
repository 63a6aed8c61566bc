package io.nereid.benchmarks.objective;

import io.nereid.perf.PerfCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import tools.jackson.jr.ob.JSON;

/**
 * A server in a process of its own, and the load that this process puts on it. For one thread.
 * Closing it ends the server.
 */
final class ServerRun implements AutoCloseable {

  private static final long MOST_START_SECONDS = 120;
  private static final long MOST_STOP_SECONDS = 30;

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final Path results;
  private final String address;

  /**
   * Starts it, and returns when all models are loaded.
   *
   * @param results where files may be written
   */
  ServerRun(Path repository, Path results) throws IOException {
    this.results = results;
    int port = freePort();
    address = "127.0.0.1:" + port;
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("io.nereid.cli.Main", "serve"));
    command.addAll(List.of("--model-repository", repository.toString()));
    command.addAll(List.of("--http-address", "127.0.0.1", "--http-port", "" + port));
    command.addAll(List.of("--allow-grpc=false", "--allow-metrics=false"));
    process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(results.resolve("server.log").toFile())
            .start();
    awaitReady();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitReady() {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_START_SECONDS);
    while (!isReady()) {
      if (!process.isAlive() || System.nanoTime() - deadlineNs > 0) {
        close();
        throw new IllegalStateException(
            "the server did not start; " + results.resolve("server.log") + " says why");
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  private boolean isReady() {
    try {
      return get("/v2/health/ready").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private HttpResponse<String> get(String path) throws IOException {
    try {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://" + address + path)).build(),
          BodyHandlers.ofString());
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** The statistics of a model. */
  @SuppressWarnings("unchecked")
  Map<String, Object> statistics(String model) throws IOException {
    String text = get("/v2/models/" + model + "/stats").body();
    return (Map<String, Object>) ((List<?>) JSON.std.mapFrom(text).get("model_stats")).getFirst();
  }

  /**
   * Loads a model, and tells what the load generator saw.
   *
   * @param arguments of {@code nereid perf}
   * @return fields of its JSON; empty: no request succeeded
   */
  @SuppressWarnings("unchecked")
  Map<String, Object> load(String model, List<String> arguments) throws IOException {
    Path json = results.resolve("perf.json");
    Files.deleteIfExists(json);
    List<String> all = new ArrayList<>(List.of(model, "-u", address, "-q", "--json", "" + json));
    all.addAll(arguments);
    CommandLine perf = new CommandLine(new PerfCommand());
    perf.setOut(new PrintWriter(Writer.nullWriter()));
    perf.setErr(new PrintWriter(System.err, true));
    int code = perf.execute(all.toArray(String[]::new));
    if (code == CommandLine.ExitCode.USAGE) {
      throw new IllegalStateException("the load generator did not understand " + all);
    }
    List<?> found =
        Files.exists(json)
            ? (List<?>) JSON.std.mapFrom(Files.readString(json)).get("results")
            : List.of();
    return found.isEmpty() ? Map.of() : (Map<String, Object>) found.getFirst();
  }

  @Override
  public void close() {
    client.close();
    process.destroy();
    try {
      if (!process.waitFor(MOST_STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
