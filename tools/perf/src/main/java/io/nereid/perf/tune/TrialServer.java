package io.nereid.perf.tune;

import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.perf.LoadTest;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.compare.ServedProcess;
import io.nereid.perf.compare.ServedSide;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.jr.ob.JSON;

/**
 * A server in a separate process, which loads the model in one configuration after the other. It is
 * warm from the second candidate on, so that a candidate takes a second or two. A dead server is
 * replaced. For one thread.
 */
final class TrialServer implements AutoCloseable {

  /** The fewest answers for a meaningful p99. */
  private static final int LEAST_ANSWERS = 100;

  /** The most windows into which the time for a slow model is extended. */
  private static final int MOST_WINDOWS = 10;

  /** The largest share of requests that may fail. */
  private static final double MOST_ERRORS = 0.01;

  private static final String PEAK = "VmHWM:";

  private final Tuning.Options options;
  private final Path work;
  private final Duration window;
  private ServedProcess process;
  private InferenceClient client;
  private boolean fresh;

  TrialServer(Tuning.Options options, Path work, Duration window) {
    this.options = options;
    this.work = work;
    this.window = window;
  }

  private void start() throws MeasurementException, IOException {
    close();
    ServedSide side = new ServedSide(options.server(), options.repository(), "");
    process = ServedProcess.start(side.command(List.of()), work);
    client = InferenceClient.connect(process.url());
    fresh = true;
  }

  /** Loads the model from the repository unchanged, and returns its whole configuration. */
  Map<String, Object> present() throws MeasurementException, IOException {
    start();
    try {
      client.loadModel(options.model());
      return JSON.std.mapFrom(client.modelConfig(options.model()));
    } catch (InferenceException e) {
      throw new MeasurementException(e.getMessage(), e);
    }
  }

  /** Measures in a fresh server, for its memory. */
  Trial measureAlone(Map<String, Object> config) throws MeasurementException, IOException {
    start();
    return once(config);
  }

  /**
   * Measures a configuration; a failure becomes a failed trial. One that takes too much memory is
   * measured alone, too, because earlier candidates may have left some.
   */
  Trial measure(Map<String, Object> config) throws MeasurementException, IOException {
    if (!process.process().isAlive()) {
      start();
    }
    boolean first = fresh;
    Trial trial = once(config);
    return trial.memoryBytes() > options.memoryBytes() && !first ? measureAlone(config) : trial;
  }

  private Trial once(Map<String, Object> config) {
    try {
      client.unloadModel(options.model());
      client.loadModel(options.model(), JSON.std.asString(config), Map.of());
    } catch (InferenceException e) {
      return Trial.failed("it does not load: " + e.getMessage());
    }
    forgetPeak();
    fresh = false;
    try (LoadTest load =
        LoadTest.start(
            process.url(),
            options.model(),
            options.requests(),
            options.shapes(),
            options.concurrency())) {
      return measure(load);
    } catch (IOException e) {
      return Trial.failed(e.getMessage());
    }
  }

  private Trial measure(LoadTest load) {
    LoadTest.Figures first = await(load, window.dividedBy(2));
    double perNs = (double) first.requests() / first.elapsed().toNanos();
    long longest = MOST_WINDOWS * window.toNanos();
    long wanted = perNs == 0 ? longest : (long) (LEAST_ANSWERS / perNs);
    LoadTest.Figures figures =
        await(load, Duration.ofNanos(Math.max(window.toNanos(), Math.min(wanted, longest))));
    long all = figures.requests() + figures.errors();
    if (all == 0 || figures.errors() > MOST_ERRORS * all) {
      return Trial.failed(
          load.firstError()
              .map(error -> figures.errors() + " of " + all + " requests failed: " + error)
              .orElse("no answer within " + longest / 1_000_000 + " ms"));
    }
    double perSecond = figures.requests() * 1e9 / figures.elapsed().toNanos();
    return new Trial(perSecond, figures.p99Us(), peakBytes(), null);
  }

  private static LoadTest.Figures await(LoadTest load, Duration time) {
    LockSupport.parkNanos(time.toNanos());
    return load.next();
  }

  private Path status(String file) {
    return Path.of("/proc", Long.toString(process.process().pid()), file);
  }

  /** Resets Linux's peak of the server's memory, if permitted. */
  private void forgetPeak() {
    try {
      Files.writeString(status("clear_refs"), "5");
    } catch (IOException e) {
      return; // the peak of earlier candidates counts, too
    }
  }

  /** The most memory since {@link #forgetPeak}; 0: unknown. */
  private long peakBytes() {
    try {
      return Files.readAllLines(status("status")).stream()
          .filter(line -> line.startsWith(PEAK))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  @Override
  public void close() throws MeasurementException {
    if (client != null) {
      client.close();
      process.close();
      client = null;
    }
  }
}
