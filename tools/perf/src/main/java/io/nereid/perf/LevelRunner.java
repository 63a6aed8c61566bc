package io.nereid.perf;

import io.nereid.perf.LevelResult.Reading;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;

/**
 * Measures one level of load after another, in windows, until the last ones agree. It runs on the
 * thread of the command.
 */
final class LevelRunner {

  private static final long TICK_NS = 200_000_000;

  /** A run in which nothing succeeds is given up after this time. */
  private static final long HOPELESS_NS = 500_000_000;

  /** The utilization from which the generator itself may be the bottleneck. */
  private static final double BUSY = 0.85;

  /** Makes the senders for a level. */
  interface SendersFactory {
    LoadRun.Senders create(LoadLevel level) throws IOException;
  }

  private final SendersFactory senders;
  private final Requests requests;
  private final ServerControl control;
  private final ServerProcess process;
  private final Options options;
  private final int threads;
  private final Progress progress;

  LevelRunner(
      SendersFactory senders,
      Requests requests,
      ServerControl control,
      ServerProcess process,
      Options options,
      int threads,
      Progress progress) {
    this.senders = senders;
    this.requests = requests;
    this.control = control;
    this.process = process;
    this.options = options;
    this.threads = threads;
    this.progress = progress;
  }

  /** The results of one window. */
  private record Window(Reading begin, Reading end, Tally.Counts counts) {
    double seconds() {
      return (end.atNs() - begin.atNs()) / 1e9;
    }

    Stability.Window summary(double percentile) {
      double latencyNs =
          percentile == 0
              ? counts.latency().getMean()
              : counts.latency().getValueAtPercentile(percentile);
      return new Stability.Window(counts.latency().getTotalCount() / seconds(), latencyNs);
    }
  }

  /** Measures a level; throws if no request succeeds. */
  LevelResult measure(LoadLevel level) {
    try (LoadRun run = LoadRun.start(senders.create(level), requests, level, options.seed())) {
      List<Window> windows = new ArrayList<>();
      List<Stability.Window> summaries = new ArrayList<>();
      Stability stability = new Stability(options.tolerance());
      await(run, level, options.warmUp(), "warming up");
      Reading begin = Reading.take(control, process);
      run.drain(); // right after the clocks were read, as for all windows
      while (windows.size() < options.mostWindows() && !stability.agree(summaries)) {
        String what = "window " + (windows.size() + 1) + " of " + options.mostWindows();
        await(run, level, options.window(), what);
        Reading end = Reading.take(control, process);
        Window window = new Window(begin, end, run.drain());
        windows.add(window);
        summaries.add(window.summary(options.percentile()));
        begin = end;
      }
      return result(run, level, windows, stability.agree(summaries));
    } catch (IOException e) {
      throw new PerfException(
          level.label() + ": no connection to the server: " + e.getMessage(), e);
    } finally {
      progress.clear();
    }
  }

  private void await(LoadRun run, LoadLevel level, Duration time, String what) {
    long beginNs = System.nanoTime();
    long succeededBefore = run.succeeded();
    long leftNs = time.toNanos();
    while (leftNs > 0) {
      LockSupport.parkNanos(Math.min(TICK_NS, leftNs));
      if (Thread.interrupted()) {
        throw new PerfException("interrupted");
      }
      long passedNs = System.nanoTime() - beginNs;
      leftNs = time.toNanos() - passedNs;
      long succeeded = run.succeeded();
      if (succeeded == 0 && run.firstError() != null && passedNs > HOPELESS_NS) {
        throw allFail(run);
      }
      progress.live(
          String.format(
              Locale.ROOT,
              "%s, %s: %.0f requests/s, %d under way%s%s",
              level.label(),
              what,
              (succeeded - succeededBefore) / (passedNs / 1e9),
              run.outstanding(),
              run.backlog() > 1 ? ", " + run.backlog() + " due" : "",
              run.firstError() == null ? "" : ", there are errors"));
    }
  }

  private static PerfException allFail(LoadRun run) {
    return new PerfException("all requests fail; the first one: " + run.firstError());
  }

  private LevelResult result(LoadRun run, LoadLevel level, List<Window> windows, boolean stable) {
    List<Window> last =
        windows.subList(Math.max(0, windows.size() - Options.AGREEING), windows.size());
    Tally.Counts counts = new Tally.Counts();
    last.forEach(window -> counts.add(window.counts()));
    if (run.succeeded() == 0) {
      if (run.firstError() != null) {
        throw allFail(run);
      }
      double seconds = last.stream().mapToDouble(Window::seconds).sum();
      throw new PerfException(
          String.format(
              Locale.ROOT,
              "%s: no reply within %.1f s; use a longer -p if the model takes that long",
              level.label(),
              seconds));
    }
    List<String> notes = new ArrayList<>();
    LevelResult result =
        new LevelResult(
            level,
            last.get(0).begin(),
            last.get(last.size() - 1).end(),
            counts,
            run.rowsPerRequest(),
            windows.size(),
            stable,
            run.backlog(),
            run.outstanding(),
            run.senderCount(),
            run.firstError(),
            notes);
    note(result, notes);
    return result;
  }

  private void note(LevelResult result, List<String> notes) {
    if (!result.stable()) {
      notes.add(
          String.format(
              Locale.ROOT,
              "not stable: the last %d of %d windows differ by more than %.0f %% from their mean",
              Options.AGREEING,
              result.windows(),
              100 * options.tolerance()));
    }
    boolean busy = result.clientCores() > BUSY * threads && !process.isThisProcess();
    if (busy) {
      notes.add(
          String.format(
              Locale.ROOT,
              "the generator may be the bottleneck: it used %.2f processors with %d thread%s"
                  + " (--client-threads)",
              result.clientCores(),
              threads,
              threads == 1 ? "" : "s"));
    }
    if (!result.keepsUp()) {
      boolean full = result.outstanding() >= result.level().mostSenders();
      notes.add(
          "falls behind: "
              + result.backlog()
              + " requests are due and not sent, "
              + (full
                  ? "because all "
                      + result.level().mostSenders()
                      + " places (--max-outstanding) wait for the server, which does not keep up"
                  : "because the generator does not keep up"));
    }
    if (!options.within().isZero()) {
      double rate = result.perSecondWithin(options.within());
      notes.add(
          String.format(
              Locale.ROOT,
              "%.1f requests/s were answered within %.3g ms, %.2f %% of the answers",
              rate,
              options.within().toNanos() / 1e6,
              100 * rate / Math.max(1e-9, result.requestsPerSecond())));
    }
    if (result.counts().errorCount() > 0) {
      notes.add(
          result.counts().errorCount()
              + " requests failed "
              + result.counts().errors()
              + "; the first one: "
              + result.firstError());
    }
  }

  /**
   * Decides whether windows agree.
   *
   * @param tolerance by which fraction a window may differ from their mean
   */
  record Stability(double tolerance) {

    /** The two figures of a window that are compared. */
    record Window(double requestsPerSecond, double latencyNs) {}

    /** True if the last windows agree. */
    boolean agree(List<Window> windows) {
      if (windows.size() < Options.AGREEING) {
        return false;
      }
      List<Window> last = windows.subList(windows.size() - Options.AGREEING, windows.size());
      return agree(last, Window::requestsPerSecond) && agree(last, Window::latencyNs);
    }

    private boolean agree(List<Window> windows, ToDoubleFunction<Window> value) {
      double mean = windows.stream().mapToDouble(value).average().orElseThrow();
      return mean > 0
          && windows.stream()
              .mapToDouble(value)
              .allMatch(one -> Math.abs(one - mean) <= tolerance * mean);
    }
  }

  /**
   * Says how a level is measured.
   *
   * @param window the length of one window
   * @param mostWindows the most windows, stable or not
   * @param tolerance by which fraction the last windows may differ from their mean
   * @param percentile the percentile of latency that must agree; 0: the mean
   * @param warmUp the time before the first window
   * @param seed of random schedules
   * @param within counts answers up to this latency; zero: no count
   */
  record Options(
      Duration window,
      int mostWindows,
      double tolerance,
      double percentile,
      Duration warmUp,
      long seed,
      Duration within) {

    /** The number of windows that have to agree. */
    static final int AGREEING = 3;
  }
}
