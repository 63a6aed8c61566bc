package io.nereid.perf.compare;

import io.nereid.perf.UndoAtExit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server that was started for a measurement.
 *
 * @param process its process
 * @param url its address for HTTP
 * @param log its output
 * @param stop stops it, also where this process ends before
 */
public record ServedProcess(Process process, String url, Path log, UndoAtExit stop)
    implements AutoCloseable {

  /** The address, and the blank behind it, without which more of it may follow. */
  private static final Pattern SERVING = Pattern.compile("Serving HTTP at (http://\\S+)\\s");

  private static final long LOOK_MS = 20;

  /** The time for loading all models, which may take TensorRT minutes. */
  private static final long PATIENCE_MS = 600_000;

  private static final long STOP_PATIENCE_S = 40;

  /** Starts a server and waits until it serves; its output goes to a file of the directory. */
  public static ServedProcess start(List<String> command, Path directory)
      throws MeasurementException, IOException {
    Path log = directory.resolve("server.log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    AtomicReference<Process> started = new AtomicReference<>();
    UndoAtExit stop =
        new UndoAtExit(() -> Optional.ofNullable(started.get()).ifPresent(Process::destroy));
    String url = null;
    try {
      if (!stop.attempt(() -> started.set(builder.start()))) {
        throw new MeasurementException("the process ends");
      }
      Process process = started.get();
      process.getOutputStream().close();
      url = url(process, log);
      return new ServedProcess(process, url, log, stop);
    } finally {
      if (url == null) {
        stop.close();
        Optional.ofNullable(started.get()).ifPresent(Process::destroyForcibly);
      }
    }
  }

  private static String url(Process process, Path log) throws MeasurementException, IOException {
    long endMs = System.currentTimeMillis() + PATIENCE_MS;
    while (System.currentTimeMillis() < endMs) {
      boolean over = ended(process, LOOK_MS, TimeUnit.MILLISECONDS);
      String said = Files.readString(log);
      Optional<String> url = servedAt(said);
      if (url.isPresent()) {
        return url.get();
      }
      if (over) {
        throw ended(process, said);
      }
    }
    throw new MeasurementException("the server did not start within " + PATIENCE_MS / 1000 + " s");
  }

  /** The address in what a server has printed so far. */
  static Optional<String> servedAt(String said) {
    Matcher serving = SERVING.matcher(said);
    return serving.find() ? Optional.of(serving.group(1)) : Optional.empty();
  }

  private static MeasurementException ended(Process process, String said) {
    List<String> lines = said.lines().filter(line -> !line.isBlank()).toList();
    String end = String.join("\n", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
    return new MeasurementException("the server ended with " + process.exitValue() + ": " + end);
  }

  /** Throws if the server has ended. */
  public void check() throws MeasurementException {
    if (!process.isAlive()) {
      try {
        throw ended(process, Files.readString(log));
      } catch (IOException e) {
        throw new MeasurementException("the server ended with " + process.exitValue(), e);
      }
    }
  }

  private static boolean ended(Process process, long time, TimeUnit unit)
      throws MeasurementException {
    try {
      return process.waitFor(time, unit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MeasurementException("interrupted", e);
    }
  }

  /** Processor time so far; negative: not known. */
  long cpuNs() {
    return ThreadTime.of(process.pid());
  }

  @Override
  public void close() throws MeasurementException {
    stop.close();
    try {
      ended(process, STOP_PATIENCE_S, TimeUnit.SECONDS);
    } finally {
      process.destroyForcibly();
    }
  }
}
