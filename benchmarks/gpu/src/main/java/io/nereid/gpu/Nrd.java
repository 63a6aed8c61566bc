package io.nereid.gpu;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Runs the command {@code nereid} in a process of its own, with this one's Java and class path. */
final class Nrd implements AutoCloseable {

  /** The exit code of a command, and the text that it printed on both streams. */
  record Output(int exitCode, String text) {

    String lastLine() {
      return text.isBlank() ? "" : text.strip().lines().toList().getLast();
    }
  }

  private static final int PATIENCE_SECONDS = 200;
  private static final String HTTP = "Serving HTTP at ";
  private static final String GRPC = "Serving gRPC at ";

  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private String http = "";
  private String grpc = "";

  private Nrd(Process process) {
    this.process = process;
  }

  private static ProcessBuilder command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add("io.nereid.cli.Main");
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectErrorStream(true);
  }

  static Output run(String... arguments) throws IOException, InterruptedException {
    Process process = command(List.of(arguments)).start();
    process.getOutputStream().close();
    Thread killer =
        Thread.ofVirtual()
            .name("nrd-verify-kill")
            .start(() -> {
              try {
                if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                  process.destroyForcibly();
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exitCode = process.waitFor();
    killer.interrupt();
    return new Output(exitCode, text);
  }

  /** A server of these models, which is ready when this returns. */
  static Nrd serve(Workbench bench, String... models) throws IOException, InterruptedException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "serve",
                bench.repository().toString(),
                "--model-control-mode",
                "explicit",
                "--http-address",
                "127.0.0.1",
                "--http-port",
                "0",
                "--grpc-address",
                "127.0.0.1",
                "--grpc-port",
                "0",
                "--allow-metrics",
                "false"));
    for (String model : models) {
      arguments.add("--load-model");
      arguments.add(model);
    }
    Nrd server = new Nrd(command(arguments).start());
    Thread.ofVirtual().name("nrd-verify-out").start(server::read);
    try {
      server.awaitReady();
    } catch (IOException | InterruptedException | RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  private void read() {
    try (BufferedReader reader = process.inputReader()) {
      reader.lines().forEach(lines::add);
    } catch (IOException | UncheckedIOException e) {
      lines.add(e.toString()); // as when it is stopped
    }
    lines.add(""); // nothing comes any more
  }

  private void awaitReady() throws IOException, InterruptedException {
    List<String> said = new ArrayList<>();
    while (true) {
      String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (line == null || (line.isEmpty() && !process.isAlive())) {
        throw new IOException("expected a server that becomes ready, got: " + said);
      }
      said.add(line);
      if (line.startsWith(HTTP)) {
        http = local(line);
      } else if (line.startsWith(GRPC)) {
        grpc = local(line);
      } else if (line.startsWith("Ready ")) {
        return;
      }
    }
  }

  private static String local(String line) {
    return "127.0.0.1:" + line.substring(line.lastIndexOf(':') + 1).strip();
  }

  String http() {
    return http;
  }

  String grpc() {
    return grpc;
  }

  /** Stops it as an operator does, so that it gives back what it holds of the device. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
