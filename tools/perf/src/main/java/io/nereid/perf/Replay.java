package io.nereid.perf;

import io.nereid.perf.RecordedRequests.Arrival;
import io.nereid.perf.Target.Protocol;
import io.nereid.recording.RecordedCall;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Sends a recording's requests again, to a server or to a runtime of this process. */
public final class Replay {

  private static final int THREADS = 1;
  private static final int CONNECTIONS = 4;

  /**
   * Says how requests are sent.
   *
   * @param directory the recording's
   * @param models the models whose requests are sent; empty: all
   * @param speed 1 as they arrived, 2 in half of the time; infinite: each as soon as a sender is
   *     free
   * @param mostAtOnce the most that are under way at a time
   */
  public record Options(Path directory, Set<String> models, double speed, int mostAtOnce) {

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
    }
  }

  private Replay() {}

  /** Sends all to a server, and returns how they went. */
  public static ReplayReport run(Options options, ServerArguments server)
      throws IOException, InterruptedException {
    Target target = server.target("", "");
    try (RecordedRequests requests = RecordedRequests.open(options.directory(), options.models())) {
      RecordedCall first = requests.arrivals().getFirst().call();
      LoadRun.Senders senders =
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
   * Sends all to a runtime of this process, and returns how they went.
   *
   * @param runtime sends a request, and does not wait for its answer; a failure is an exception,
   *     thrown or as the result
   */
  public static ReplayReport run(
      Options options, Function<RecordedCall, CompletionStage<?>> runtime, String where)
      throws IOException, InterruptedException {
    try (RecordedRequests requests = RecordedRequests.open(options.directory(), options.models())) {
      return send(options, requests, new DirectSender.Senders(runtime), arrival -> null, where);
    }
  }

  private static ReplayReport send(
      Options options,
      RecordedRequests requests,
      LoadRun.Senders senders,
      Function<Arrival, Encoded> encoder,
      String where)
      throws IOException, InterruptedException {
    List<Arrival> arrivals = requests.arrivals();
    boolean timed = !Double.isInfinite(options.speed());
    int first = timed ? (int) (requests.mostAtOnce() * options.speed()) : options.mostAtOnce();
    long startNs = System.nanoTime();
    try (ReplayRun run =
        new ReplayRun(senders, arrivals, encoder, options.speed(), options.mostAtOnce())) {
      List<ReplayRun.End> ends = run.run(first);
      return new ReplayReport(
          options.speed(), where, requests, ends, System.nanoTime() - startNs, run.firstError());
    }
  }
}
