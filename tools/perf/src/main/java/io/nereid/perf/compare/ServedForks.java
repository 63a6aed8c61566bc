package io.nereid.perf.compare;

import io.nereid.perf.LoadTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures models as clients see them: a fork is a fresh server with one model, and an operation a
 * request over HTTP in a closed loop. Its time is the latency, its processor time the server's.
 */
public final class ServedForks implements Fork.Source<ServedSide> {

  /** The settings; iterations are long enough for a model that takes a tenth of a second. */
  public static final Fork.Settings SETTINGS = new Fork.Settings(8, 250, 10, 200);

  /** The longest time that a request is waited for. */
  private static final long PATIENCE_NS = 60_000_000_000L;

  private static final long LOOK_NS = 10_000_000;

  private final Path work;
  private final Path requests;
  private final int concurrency;
  private final Machine.Pace pace;

  /**
   * Prepares.
   *
   * @param work a directory for temporary files
   * @param requests what is sent, as {@code perf} reads it; for several models a directory with a
   *     file {@code MODEL.json} for each that does not get random data; null: random data
   * @param concurrency requests that are under way at a time
   * @param settings the settings of forks on an idle machine
   */
  public ServedForks(Path work, Path requests, int concurrency, Fork.Settings settings) {
    this.work = work;
    this.requests = requests;
    this.concurrency = concurrency;
    pace = new Machine.Pace(settings);
  }

  @Override
  public Fork run(ServedSide side, BenchmarkId id) throws MeasurementException {
    Fork.Settings settings = pace.next();
    String model = side.nameOf(id);
    try {
      Files.createDirectories(work);
      try (ServedProcess server = ServedProcess.start(side.command(List.of(model)), work);
          LoadTest load = LoadTest.start(server.url(), model, data(id), concurrency)) {
        for (int i = 0; i < settings.warmUps(); i++) {
          iteration(load, settings.warmUpMs());
        }
        return measure(server, load, settings);
      }
    } catch (IOException e) {
      throw new MeasurementException(e.getMessage(), e);
    }
  }

  private String data(BenchmarkId id) {
    if (requests == null) {
      return "random";
    }
    if (!Files.isDirectory(requests)) {
      return requests.toString();
    }
    Path own = requests.resolve(id.name() + ".json");
    return Files.exists(own) ? own.toString() : "random";
  }

  private static Fork measure(ServedProcess server, LoadTest load, Fork.Settings settings)
      throws MeasurementException {
    List<Double> times = new ArrayList<>();
    List<Double> cpus = new ArrayList<>();
    long beforeNs = server.cpuNs();
    for (int i = 0; i < settings.iterations(); i++) {
      LoadTest.Figures figures = iteration(load, settings.iterationMs());
      long afterNs = server.cpuNs();
      times.add(figures.meanUs() * 1e3);
      cpus.add(
          beforeNs < 0 || afterNs < 0
              ? Double.NaN
              : (double) (afterNs - beforeNs) / figures.requests());
      beforeNs = afterNs;
    }
    return new Fork(lowerHalf(times), lowerHalf(cpus), Double.NaN);
  }

  private static double lowerHalf(List<Double> values) {
    return Fork.lowerHalf(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** Returns the figures of so many milliseconds, or longer until the first answer. */
  private static LoadTest.Figures iteration(LoadTest load, int ms) throws MeasurementException {
    long beginNs = System.nanoTime();
    LockSupport.parkNanos(ms * 1_000_000L);
    while (true) {
      boolean patient = System.nanoTime() - beginNs < PATIENCE_NS;
      LoadTest.Figures figures = load.next();
      if (figures.errors() > 0) {
        throw new MeasurementException("requests fail: " + load.firstError().orElse("no reason"));
      }
      if (figures.requests() > 0) {
        return figures;
      }
      if (!patient || Thread.interrupted()) {
        throw new MeasurementException("no answer within " + PATIENCE_NS / 1_000_000_000 + " s");
      }
      LockSupport.parkNanos(LOOK_NS);
    }
  }
}
