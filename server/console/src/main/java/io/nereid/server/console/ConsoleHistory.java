package io.nereid.server.console;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Model;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelState;
import io.nereid.server.shared.ServerState;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.NereidException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Samples the models every ten seconds, or more often for a history of less than an hour, even when
 * the console is not open, and keeps the figures, so that a page opened after an incident shows it.
 * A model takes 20 bytes a sample, 7 KB an hour. One virtual thread samples during the server's
 * whole life; any thread reads.
 */
final class ConsoleHistory {

  private static final Logger LOGGER = System.getLogger(ConsoleHistory.class.getName());

  private static final long LONGEST_STEP_S = 10;

  /** The fewest samples that are kept, unless less than a second would pass between two. */
  private static final long LEAST_LOOKS = 360;

  /** The most points for a page, each the highest of several samples. */
  private static final int MOST_POINTS = 180;

  private static final int MOST_MARKS = 500;

  /** An event of a model, or of the server if {@code model} is empty. */
  private record Mark(long timeMs, String model, String version, String what, String reason) {

    ConsoleJson json() {
      return new ConsoleJson()
          .with("time_ms", timeMs)
          .with("model", model)
          .with("version", version)
          .with("what", what)
          .with("reason", reason);
    }
  }

  /** The figures of one version of a model, by the number of the sample. */
  private static final class Line {
    private final String model;
    private final String version;
    private final float[][] values;
    private long last = -1;
    private String state = "";
    private LoadTimes loaded; // null: the version does not serve

    Line(Model model, int length) {
      this.model = model.name();
      version = ModelFigures.version(model);
      values = new float[ModelHistory.NAMES.length][length];
      for (float[] row : values) {
        Arrays.fill(row, Float.NaN);
      }
    }
  }

  private final ServerState state;
  private final RecentTroubles troubles;
  private final Duration step;
  private final int length;
  private final Thread thread;

  @GuardedBy("this")
  private final Map<String, Line> lines = new TreeMap<>();

  @GuardedBy("this")
  private final Deque<Mark> marks = new ArrayDeque<>();

  @GuardedBy("this")
  private long looks;

  @GuardedBy("this")
  private long lastMs = System.currentTimeMillis();

  // ---- Used by the sampling thread alone -------------------------------------------------------

  private Map<Model, ModelStatistics> before = new HashMap<>();
  private long beforeNs = System.nanoTime();

  ConsoleHistory(ServerState state, RecentTroubles troubles, Duration kept) {
    this.state = state;
    this.troubles = troubles;
    step = Duration.ofSeconds(Math.clamp(kept.toSeconds() / LEAST_LOOKS, 1, LONGEST_STEP_S));
    length = (int) kept.dividedBy(step);
    marks.add(new Mark(lastMs, "", "", "started", null));
    thread = Thread.ofVirtual().name("nrd-history").start(this::run);
  }

  /** Ends sampling when the server stops. */
  void close() {
    thread.interrupt();
  }

  private void run() {
    try {
      while (!Thread.interrupted()) {
        try {
          look();
          troubles.look();
        } catch (RuntimeException | Error e) { // the next sample may succeed
          // when interrupted, the models are being closed
          if (!Thread.currentThread().isInterrupted()) {
            LOGGER.log(Level.WARNING, "the console could not keep a look at the models", e);
          }
        }
        Thread.sleep(step);
      }
    } catch (InterruptedException e) {
      // The runtime was closed.
    }
  }

  private void look() {
    long nowNs = System.nanoTime();
    double seconds = (nowNs - beforeNs) / 1e9;
    Map<Model, ModelStatistics> now = new HashMap<>();
    List<Model> models = state.nereid().models();
    for (Model model : models) {
      try {
        now.put(model, model.statistics());
      } catch (NereidException | IllegalStateException e) {
        // The model was never loaded, or is being unloaded.
      }
    }
    synchronized (this) {
      lastMs = System.currentTimeMillis();
      for (Model model : models) {
        String key = ModelFigures.key(model.namespace(), model.name(), ModelFigures.version(model));
        Line line = lines.computeIfAbsent(key, absent -> new Line(model, length));
        tell(model, line);
        double[] values = values(now.get(model), before.get(model), seconds);
        for (int i = 0; i < values.length; i++) {
          line.values[i][(int) (looks % length)] = (float) values[i];
        }
        line.last = looks;
      }
      lines.values().forEach(this::forget);
      long oldest = looks - length;
      lines.values().removeIf(line -> line.last <= oldest);
      looks++;
    }
    before = now;
    beforeNs = nowNs;
  }

  private static double[] values(ModelStatistics now, ModelStatistics before, double seconds) {
    if (now == null || before == null) {
      double[] none = new double[ModelHistory.NAMES.length];
      Arrays.fill(none, Double.NaN);
      return none;
    }
    return ModelHistory.values(
        new ModelFigures.Work(
            now, before, seconds, List.of(), null, List.of(), Optional.empty(), false));
  }

  /** Marks a missing model's figures of this sample as absent. */
  @GuardedBy("this")
  private void forget(Line line) {
    if (line.last == looks) {
      return;
    }
    for (float[] row : line.values) {
      row[(int) (looks % length)] = Float.NaN;
    }
    if (!line.state.isEmpty()) {
      mark(line, "unloaded", null);
      line.state = "";
      line.loaded = null;
    }
  }

  @GuardedBy("this")
  private void tell(Model model, Line line) {
    ModelState now = model.state();
    String failure = model.failure().orElse(null);
    String word =
        switch (now) {
          case READY -> failure == null ? "ready" : "reload failed";
          case FAILED -> "failed";
          case UNLOADED -> "unloaded";
          default -> "";
        };
    LoadTimes loaded = loadTimes(model);
    boolean again = word.equals("ready") && line.loaded != null && !line.loaded.equals(loaded);
    boolean neverLoaded = word.equals("unloaded") && line.state.isEmpty();
    if (again || !word.isEmpty() && !neverLoaded && !word.equals(line.state)) {
      mark(line, again ? "loaded again" : word, failure);
    }
    line.state = word.isEmpty() || neverLoaded ? line.state : word;
    line.loaded = loaded;
  }

  /** The times of the load that serves, which identify it; null: none serves. */
  private static LoadTimes loadTimes(Model model) {
    try {
      return model.isReady() ? model.loadTimes() : null;
    } catch (NereidException | IllegalStateException e) {
      return null; // the model is being unloaded
    }
  }

  @GuardedBy("this")
  private void mark(Line line, String what, String reason) {
    marks.add(new Mark(lastMs, line.model, line.version, what, reason));
    if (marks.size() > MOST_MARKS) {
      marks.remove();
    }
  }

  // ---- Answers for pages -----------------------------------------------------------------------

  /**
   * The kept figures, of all models together or of one.
   *
   * @param name empty: all
   * @param version 0: all of that name
   */
  synchronized ConsoleJson json(String name, long version) {
    String number = version == 0 ? "" : Long.toString(version);
    List<Line> wanted =
        lines.values().stream()
            .filter(line -> name.isEmpty() || line.model.equals(name))
            .filter(line -> number.isEmpty() || line.version.equals(number))
            .toList();
    int kept = (int) Math.min(looks, length);
    long oldestMs = lastMs - step.toMillis() * length;
    int each = Math.ceilDiv(Math.max(kept, 1), MOST_POINTS);
    ConsoleJson history = new ConsoleJson();
    for (int i = 0; i < ModelHistory.NAMES.length; i++) {
      history.with(ModelHistory.NAMES[i], ConsoleJson.numbers(points(wanted, i, kept, each)));
    }
    return new ConsoleJson()
        .with("step_s", step.toSeconds() * each)
        .with("time_ms", lastMs)
        .with("kept_s", step.toSeconds() * length)
        .with("history", history)
        .with(
            "marks",
            marks.stream()
                .filter(mark -> name.isEmpty() || mark.model.isEmpty() || mark.model.equals(name))
                .filter(mark -> mark.timeMs >= oldestMs)
                .map(Mark::json)
                .toList());
  }

  /**
   * The highest value of each group of samples; rates and numbers are summed over models, times are
   * not.
   */
  @GuardedBy("this")
  private double[] points(List<Line> wanted, int figure, int kept, int each) {
    boolean added = !ModelHistory.NAMES[figure].endsWith("_us");
    double[] points = new double[Math.ceilDiv(kept, each)];
    Arrays.fill(points, Double.NaN);
    for (int at = 0; at < kept; at++) {
      int slot = (int) ((looks - kept + at) % length);
      double all = Double.NaN;
      for (Line line : wanted) {
        float value = line.values[figure][slot];
        if (!Float.isNaN(value)) {
          all = Double.isNaN(all) ? value : added ? all + value : Math.max(all, value);
        }
      }
      int point = points.length - 1 - (kept - 1 - at) / each;
      points[point] = Double.isNaN(points[point]) ? all : Math.max(points[point], all);
    }
    return points;
  }
}
