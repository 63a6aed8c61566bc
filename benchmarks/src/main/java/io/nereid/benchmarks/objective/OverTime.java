package io.nereid.benchmarks.objective;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Watches a model while others load it: what its statistics say, again and again. */
final class OverTime implements AutoCloseable {

  private static final long PAUSE_MS = 500;

  /**
   * What happened since the sample before.
   *
   * @param second since the watch began
   * @param meanMs from submission to answer, on average
   */
  record Sample(double second, double answeredPerSecond, double failedPerSecond, double meanMs) {}

  /** Counts since the model was loaded. */
  private record Reading(double atS, double answered, double answeredNs, double failed) {}

  private final ServerRun server;
  private final String model;
  private final Thread thread;
  private final List<Sample> samples = new ArrayList<>();
  private volatile boolean closed;

  /** Begins to watch. */
  OverTime(ServerRun server, String model) {
    this.server = server;
    this.model = model;
    thread = Thread.ofPlatform().name("bench-over-time").start(this::watch);
  }

  private void watch() {
    try {
      double beginS = System.nanoTime() / 1e9;
      Reading last = read(beginS);
      while (!closed) {
        Thread.sleep(PAUSE_MS);
        Reading now = read(beginS);
        double seconds = now.atS - last.atS;
        double answered = now.answered - last.answered;
        samples.add(
            new Sample(
                now.atS,
                answered / seconds,
                (now.failed - last.failed) / seconds,
                answered == 0 ? 0 : (now.answeredNs - last.answeredNs) / answered / 1e6));
        last = now;
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("the server does not tell its statistics any more", e);
    }
  }

  private Reading read(double beginS) throws IOException {
    Map<?, ?> stats = (Map<?, ?>) server.statistics(model).get("inference_stats");
    return new Reading(
        System.nanoTime() / 1e9 - beginS,
        number(stats, "success", "count"),
        number(stats, "success", "ns"),
        number(stats, "fail", "count"));
  }

  private static double number(Map<?, ?> stats, String what, String which) {
    return ((Number) ((Map<?, ?>) stats.get(what)).get(which)).doubleValue();
  }

  /** Ends the watch; then the samples are complete. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  List<Sample> samples() {
    return List.copyOf(samples);
  }
}
