package io.nereid.perf;

import io.nereid.perf.RecordedRequests.Arrival;
import io.nereid.perf.Target.Protocol;
import io.nereid.recording.RecordedCall;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Sends a recording's requests again, to a server or to a runtime of this process. */
public final class Replay {

  private static final int THREADS = 1;
  private static final int CONNECTIONS = 4;
  private static final int WARMING = 8; // requests at a time, and in the first round

  /**
   * The options of sending.
   *
   * @param directory the recording's
   * @param models the models whose requests are sent; empty: all
   * @param speed 1: as they arrived; 2: in half the time; infinite: each as soon as a sender is
   *     free
   * @param mostAtOnce the most requests under way at a time
   * @param warmUp the time of sending beforehand, for the compiler of this process
   */
  public record Options(
      Path directory, Set<String> models, double speed, int mostAtOnce, Duration warmUp) {

    /** Checks the values. */
    public Options {
      models = Set.copyOf(models);
      if (!(speed > 0)) {
        throw new IllegalArgumentException("expected a speed above 0, got " + speed);
      }
      if (mostAtOnce < 1) {
        throw new IllegalArgumentException(
            "expected at least one request at a time, got " + mostAtOnce);
      }
      if (warmUp.isNegative()) {
        throw new IllegalArgumentException("expected a warm-up of 0 or more, got " + warmUp);
      }
    }
  }

  private Replay() {}

  /** Sends all requests to a server, and reports their results. */
  public static ReplayReport run(Options options, ServerArguments server)
      throws IOException, InterruptedException {
    Target target = server.target("", "");
    try (RecordedRequests requests = RecordedRequests.open(options.directory(), options.models())) {
      RecordedCall first = requests.arrivals().get(0).call();
      Opening senders =
          () ->
              target.protocol() == Protocol.HTTP
                  ? new HttpSenders(target, index -> null, null, THREADS)
                  : new GrpcSenders(
                      RecordedRequests.plan(target, first, Map.of()),
                      index -> null,
                      null,
                      THREADS,
                      CONNECTIONS);
      Function<Arrival, Encoded> encoder =
          arrival -> RecordedRequests.encode(target, arrival.call());
      return send(options, requests, senders, encoder, target.toString());
    }
  }

  /**
   * Sends all requests to a runtime of this process, and reports their results.
   *
   * @param runtime sends a request, and does not wait for its answer; a failure is an exception,
   *     thrown or as the result
   */
  public static ReplayReport run(
      Options options, Function<RecordedCall, CompletionStage<?>> runtime, String where)
      throws IOException, InterruptedException {
    try (RecordedRequests requests = RecordedRequests.open(options.directory(), options.models())) {
      Opening senders = () -> DirectSender.Senders.recorded(runtime);
      return send(options, requests, senders, arrival -> null, where);
    }
  }

  /** Opens new connections. */
  @FunctionalInterface
  private interface Opening {
    LoadRun.Senders open() throws IOException;
  }

  private static ReplayReport send(
      Options options,
      RecordedRequests requests,
      Opening senders,
      Function<Arrival, Encoded> encoder,
      String where)
      throws IOException, InterruptedException {
    List<Arrival> arrivals = requests.arrivals();
    boolean timed = !Double.isInfinite(options.speed());
    int first = timed ? (int) (requests.mostAtOnce() * options.speed()) : options.mostAtOnce();
    warmUp(options, arrivals, senders, encoder);
    long startNs = System.nanoTime();
    try (ReplayRun run =
        new ReplayRun(senders.open(), arrivals, encoder, options.speed(), options.mostAtOnce())) {
      List<ReplayRun.End> ends = run.run(first);
      return new ReplayReport(
          options.speed(), where, requests, ends, System.nanoTime() - startNs, run.firstError());
    }
  }

  /**
   * Sends requests without sequences, twice as many in each round, so that the sending code gets
   * compiled. Their results do not count.
   */
  private static void warmUp(
      Options options, List<Arrival> arrivals, Opening senders, Function<Arrival, Encoded> encoder)
      throws IOException, InterruptedException {
    List<Arrival> single = arrivals.stream().filter(each -> each.sequence().isEmpty()).toList();
    long endNs = System.nanoTime() + options.warmUp().toNanos();
    int most = Math.min(options.mostAtOnce(), WARMING);
    for (int count = WARMING; !single.isEmpty() && System.nanoTime() < endNs; count *= 2) {
      List<Arrival> some =
          IntStream.range(0, count).mapToObj(i -> single.get(i % single.size())).toList();
      try (ReplayRun run =
          new ReplayRun(senders.open(), some, encoder, Double.POSITIVE_INFINITY, most)) {
        run.run(most);
      }
    }
  }
}
