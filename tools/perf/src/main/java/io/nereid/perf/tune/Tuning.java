package io.nereid.perf.tune;

import io.nereid.perf.LoadTest;
import io.nereid.perf.compare.Bootstrap;
import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Machine;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.report.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/**
 * One use of {@code nereid tune}: it searches for better settings, and then compares them with the
 * present ones, alternating. It runs on the thread of the command.
 */
public final class Tuning implements Search.Meter {

  /** The search's share of the time; the rest is for the comparison. */
  private static final double SEARCH = 0.75;

  private static final int WINDOWS = 300;
  private static final long LEAST_WINDOW_MS = 150;
  private static final long MOST_WINDOW_MS = 1000;

  /** The share of the time for warming up a fresh server, whose compilers are still at work. */
  private static final double WARM_UP = 0.05;

  /** The fewest measurements, however long they take: at least a stage. */
  private static final int LEAST = 10;

  private static final int MOST_PAIRS = 12;

  /** The relative width of an interval that is narrow enough. */
  private static final double NARROW = 0.02;

  /**
   * The model to tune, and the load for that.
   *
   * @param server the command that starts a server, up to {@code serve}
   * @param requests {@code random}, or a file or directory as {@code perf --input-data} takes it
   * @param shapes of inputs, such as {@code IN:224,224,3}; missing ones are the model's own, with 1
   *     for each dimension of any size
   * @param concurrency requests under way
   * @param p99 the longest acceptable p99; null: any
   * @param time in all
   * @param memoryBytes the most that a server may take; {@link Long#MAX_VALUE}: any
   * @param out the directory for the trials and the page
   */
  public record Options(
      List<String> server,
      Path repository,
      String model,
      String requests,
      List<String> shapes,
      int concurrency,
      Duration p99,
      Duration time,
      long memoryBytes,
      Path out) {}

  /**
   * The result of tuning.
   *
   * @param config the model's whole configuration, in JSON
   * @param figures the lines with the evidence
   */
  public record Found(String config, List<String> figures) {}

  private final Options options;
  private final PrintWriter printed;
  private final Duration window;
  private TrialServer server;
  private Map<String, Object> config;
  private Trials trials;
  private long beginNs; // when the search began
  private int measured;

  private Tuning(Options options, PrintWriter printed) {
    this.options = options;
    this.printed = printed;
    window =
        Duration.ofMillis(
            Math.max(
                LEAST_WINDOW_MS, Math.min(options.time().toMillis() / WINDOWS, MOST_WINDOW_MS)));
  }

  /** Searches, and prints a line for each measurement. */
  public static Found run(Options options, PrintWriter printed)
      throws MeasurementException, IOException {
    LoadTest.checkShapes(options.shapes());
    Tuning tuning = new Tuning(options, printed);
    Path work = Files.createDirectories(options.out().resolve("work"));
    try (TrialServer server = new TrialServer(options, work, tuning.window)) {
      tuning.server = server;
      return tuning.run();
    }
  }

  private Found run() throws MeasurementException, IOException {
    config = server.present();
    check();
    Candidate present = Candidate.of(config);
    double limitUs =
        options.p99() == null ? Double.POSITIVE_INFINITY : options.p99().toNanos() / 1e3;
    trials =
        new Trials(
            options.out().resolve("trials.jsonl"), subject(), limitUs, options.memoryBytes());
    int known = trials.size();
    if (known > 0) {
      say("goes on with " + known + " candidates of " + options.out().resolve("trials.jsonl"));
    }
    warmUp();
    beginNs = System.nanoTime();
    Candidate best = new Search(space(present), trials, this).run();
    Estimate turns = best.equals(present) ? null : compare(present, best);
    Candidate chosen = turns != null && turns.low() > 1 ? best : present;
    List<String> figures = figures(present, best, chosen, turns);
    Files.writeString(
        options.out().resolve("tune.html"),
        TunePage.of(options.model(), figures, trials.middles(), present.text(), chosen.text()));
    figures.forEach(this::say);
    return new Found(Json.text(chosen.in(config)), figures);
  }

  private void warmUp() throws MeasurementException, IOException {
    long endNs = System.nanoTime() + (long) (WARM_UP * options.time().toNanos());
    do {
      Trial trial = server.measure(config);
      if (trial.failure() != null) {
        throw new MeasurementException("the model as it is: " + trial.failure());
      }
    } while (System.nanoTime() - endNs < 0);
  }

  /** Throws for models that have no settings to tune. */
  private void check() throws MeasurementException {
    String why = null;
    if (config.get("ensemble_scheduling") != null) {
      why = "is an ensemble: tune the models of its steps";
    } else if (config.get("sequence_batching") != null) {
      why = "has sequence_batching: its requests depend on each other";
    } else if (Boolean.TRUE.equals(
        Candidate.map(config.get("model_transaction_policy")).get("decoupled"))) {
      why = "is decoupled: its requests have any number of answers";
    }
    if (why != null) {
      throw new MeasurementException(
          "expected a model that answers each request once and by itself, but '"
              + options.model()
              + "' "
              + why);
    }
  }

  private Space space(Candidate present) {
    String objective =
        options.p99() == null ? null : "p99 " + options.p99().toNanos() / 1000 + "us";
    boolean threads = "onnxruntime".equals(config.get("backend"));
    return new Space(
        present,
        threads,
        Runtime.getRuntime().availableProcessors(),
        options.concurrency(),
        objective);
  }

  /** The subject of measurements; those of another subject cannot be compared. */
  private String subject() {
    return Integer.toHexString(
        (JSON.std.asString(config)
                + options.repository()
                + options.requests()
                + options.shapes()
                + options.concurrency()
                + Runtime.getRuntime().availableProcessors())
            .hashCode());
  }

  @Override
  public boolean isOver() {
    return measured >= LEAST && passedS() > SEARCH * options.time().toSeconds();
  }

  private double passedS() {
    return (System.nanoTime() - beginNs) / 1e9;
  }

  @Override
  public void measure(Candidate settings) throws IOException {
    try {
      keep(settings, server.measure(settings.in(config)));
    } catch (MeasurementException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void keep(Candidate settings, Trial trial) throws IOException {
    trials.add(settings, trial);
    measured++;
    say(
        String.format(
            Locale.ROOT,
            "%4.0f of %d s, %3d: %s: %s",
            passedS(),
            options.time().toSeconds(),
            measured,
            settings.text(),
            trial.text()));
  }

  private void say(String line) {
    printed.println(line);
    printed.flush();
  }

  // ---- The comparison -------------------------------------------------------------------------

  /**
   * The ratio of two candidates' throughput, measured alternately: above 1 if the second one is
   * better.
   */
  private Estimate compare(Candidate present, Candidate best) throws IOException {
    double[] logs = new double[MOST_PAIRS];
    Estimate estimate = null;
    for (int i = 0; i < MOST_PAIRS && !isClear(estimate); i++) {
      boolean first = i % 2 == 0; // A B B A: slow changes affect both
      double ofOne = value(first ? present : best);
      double ofOther = value(first ? best : present);
      logs[i] = first ? Math.log(ofOther / ofOne) : Math.log(ofOne / ofOther);
      if (i + 1 >= Bootstrap.LEAST_PAIRS) {
        estimate = Bootstrap.estimate(Arrays.copyOf(logs, i + 1), 1, 1);
      }
    }
    return estimate;
  }

  private boolean isClear(Estimate estimate) {
    return estimate != null
        && (estimate.low() > 1
            || estimate.high() < estimate.low() * (1 + NARROW)
            || passedS() > options.time().toSeconds());
  }

  private double value(Candidate settings) throws IOException {
    measure(settings);
    return Math.max(1e-9, trials.lastValue(settings));
  }

  /** The lines for people; the last one has the result. */
  private List<String> figures(Candidate present, Candidate best, Candidate chosen, Estimate turns)
      throws MeasurementException, IOException {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%d requests at a time, %s data; %d candidates, %d measurements in %.0f s; %s",
            options.concurrency(),
            options.requests().equals("random") ? "random" : "given",
            trials.size(),
            measured,
            passedS(),
            Machine.describe()));
    lines.add("before: " + present.text() + ": " + alone(present).text());
    if (!chosen.equals(present)) {
      lines.add("now: " + chosen.text() + ": " + alone(chosen).text());
    }
    if (turns == null) {
      lines.add("nothing better was found: the settings are the present ones");
    } else if (!chosen.equals(present) && !trials.isInTime(present) && trials.isInTime(best)) {
      lines.add("only the new settings keep the p99 of " + options.p99().toNanos() / 1e6 + " ms");
    } else {
      lines.add(
          String.format(
              Locale.ROOT,
              "in turns %.2f times as many answers (95 %% interval %.2f to %.2f)%s",
              turns.ratio(),
              turns.low(),
              turns.high(),
              chosen.equals(present)
                  ? ", which is not clear: the settings are the present ones"
                  : ""));
    }
    return lines;
  }

  /** The middle of a candidate's trials, with the memory in a fresh server. */
  private Trial alone(Candidate settings) throws MeasurementException, IOException {
    Trial middle = trials.middle(settings);
    Trial alone = server.measureAlone(settings.in(config));
    return middle == null || middle.failure() != null || alone.failure() != null
        ? alone
        : new Trial(middle.perSecond(), middle.p99Us(), alone.memoryBytes(), null);
  }
}
