package io.nereid.benchmarks.counters;

import io.nereid.benchmarks.GrpcExchange;
import io.nereid.benchmarks.HttpExchange;
import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A client in a process of its own, so that what it does is not counted as the server's. */
final class ClientProcess implements AutoCloseable {

  private static final int PAUSE_US = 2000;

  private final Process process;
  private final Writer out;
  private final BufferedReader in;

  /** Starts it; {@code protocol} is http or grpc. */
  ClientProcess(String protocol, int port) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                protocol,
                Integer.toString(port))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    out = process.outputWriter();
    in = process.inputReader();
  }

  /** Has it make requests; returns when they are answered. */
  void make(int count) throws IOException {
    make(count, 0);
  }

  /** The same with pauses, so that each request finds a server that waits for it. */
  void makeSlowly(int count) throws IOException {
    make(count, PAUSE_US);
  }

  private void make(int count, int pauseUs) throws IOException {
    out.write(count + " " + pauseUs + "\n");
    out.flush();
    String said = in.readLine();
    if (!"done".equals(said)) {
      throw new IOException("expected the client to be done, it said " + said);
    }
  }

  @Override
  public void close() {
    process.destroy();
  }

  /**
   * Runs in that process: {@code http PORT} or {@code grpc PORT}. For each line with two numbers on
   * its input it makes as many requests as the first says, one after the other with a pause of so
   * many microseconds as the second says, and then says done.
   */
  static final class Main {

    private static final int ELEMENTS = 16;

    private Main() {}

    public static void main(String[] args) throws IOException {
      int port = Integer.parseInt(args[1]);
      if (args[0].equals("http")) {
        try (HttpExchange exchange =
            new HttpExchange(port, BenchmarkRequests.http(false, ELEMENTS))) {
          serve(exchange::run);
        }
      } else {
        try (GrpcExchange exchange = new GrpcExchange(port, BenchmarkRequests.grpc(ELEMENTS))) {
          serve(exchange::run);
        }
      }
    }

    @FunctionalInterface
    private interface Exchange {
      int run() throws IOException;
    }

    private static void serve(Exchange exchange) throws IOException {
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        long pauseNs = Long.parseLong(words[1]) * 1000;
        for (int i = Integer.parseInt(words[0]); i > 0; i--) {
          exchange.run();
          if (pauseNs > 0) {
            LockSupport.parkNanos(pauseNs);
          }
        }
        System.out.println("done");
      }
    }
  }
}
