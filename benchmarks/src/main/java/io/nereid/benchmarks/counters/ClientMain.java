package io.nereid.benchmarks.counters;

import io.nereid.benchmarks.BenchmarkRequests;
import io.nereid.benchmarks.GrpcExchange;
import io.nereid.benchmarks.HttpExchange;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * A client in a JVM of its own, so that what it does is not counted as the server's: {@code http
 * PORT} or {@code grpc PORT}. For each line with two numbers on its input it makes as many requests
 * as the first says, one after the other with a pause of so many microseconds as the second says,
 * and then says done.
 */
final class ClientMain {

  private static final int ELEMENTS = 16;

  private ClientMain() {}

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
