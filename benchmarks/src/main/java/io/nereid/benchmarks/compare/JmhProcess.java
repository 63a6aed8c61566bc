package io.nereid.benchmarks.compare;

import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.compare.ThreadTime;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs JMH with the benchmarks of a build. One runs at a time: it is what is being measured. */
final class JmhProcess {

  /** For the JVM that only starts forks: it should be there soon. */
  private static final List<String> HOST_OPTIONS =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-XX:-UsePerfData",
          // Other measurements on this machine disturb this one, but not more than other work.
          "-Djmh.ignoreLock=true");

  private static final long LIST_PATIENCE_MS = 60_000;

  private final Path java;
  private final Path workDirectory;
  private final Path profilers;

  /**
   * Prepares.
   *
   * @param workDirectory where files may be left that are of no interest later
   */
  JmhProcess(Path workDirectory) throws IOException {
    this.workDirectory = workDirectory;
    java = Path.of(System.getProperty("java.home"), "bin", "java");
    profilers = workDirectory.resolve("profilers");
    unpack(CpuTimeProfiler.class);
    unpack(ThreadTime.class);
  }

  /** Beside the jar of either side, which may not have it: a class path may end in a folder. */
  private void unpack(Class<?> profiler) throws IOException {
    String file = profiler.getName().replace('.', '/') + ".class";
    Path target = profilers.resolve(file);
    Files.createDirectories(target.getParent());
    try (InputStream bytes = profiler.getClassLoader().getResourceAsStream(file)) {
      Files.copy(bytes, target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** A file for results. */
  Path file(String name) {
    return workDirectory.resolve(name);
  }

  /**
   * Runs it to its end.
   *
   * @return what it printed
   */
  String run(Build side, long patienceMs, List<String> arguments) throws MeasurementException {
    List<String> command = new ArrayList<>();
    command.add(java.toString());
    command.addAll(HOST_OPTIONS);
    command.add("-cp");
    command.add(side.jar() + System.getProperty("path.separator") + profilers);
    command.add("org.openjdk.jmh.Main");
    command.addAll(arguments);
    Path log = file("jmh.log");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      process.getOutputStream().close();
      int code = await(process, patienceMs);
      String printed = Files.readString(log);
      if (code != 0) {
        throw new MeasurementException(
            "JMH of " + side.label() + " ended with " + code + ":\n" + end(printed));
      }
      return printed;
    } catch (IOException e) {
      throw new MeasurementException("JMH of " + side.label() + " cannot be run: " + e, e);
    }
  }

  private static int await(Process process, long patienceMs) throws MeasurementException {
    try {
      if (process.waitFor(patienceMs, TimeUnit.MILLISECONDS)) {
        return process.exitValue();
      }
      throw new MeasurementException(
          "JMH did not end within " + patienceMs / 1000 + " s and was stopped");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MeasurementException("interrupted", e);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private static String end(String printed) {
    List<String> lines = printed.lines().filter(line -> !line.isBlank()).toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 12), lines.size()));
  }

  // ---- What there is ---------------------------------------------------------------------------

  /** JMH prints a parameter like this: {@code param "batching" = {false, true}}. */
  private static final Pattern PARAMETER = Pattern.compile("\\s+param \"(.+)\" = \\{(.*)}");

  private static final Pattern NAME = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)+");

  /** The benchmarks of a build. */
  SortedSet<BenchmarkId> list(Build side) throws MeasurementException {
    return parse(run(side, LIST_PATIENCE_MS, List.of("-lp")));
  }

  /** From what JMH prints with {@code -lp}. */
  static SortedSet<BenchmarkId> parse(String printed) {
    SortedSet<BenchmarkId> ids = new TreeSet<>();
    List<BenchmarkId> current = List.of();
    for (String line : printed.lines().toList()) {
      Matcher parameter = PARAMETER.matcher(line);
      if (parameter.matches()) {
        current = product(current, parameter.group(1), parameter.group(2).split(", "));
      } else if (NAME.matcher(line.strip()).matches()) {
        ids.addAll(current);
        current = List.of(BenchmarkId.of(line.strip(), new TreeMap<>()));
      }
    }
    ids.addAll(current);
    return ids;
  }

  private static List<BenchmarkId> product(List<BenchmarkId> ids, String name, String[] values) {
    List<BenchmarkId> all = new ArrayList<>();
    for (BenchmarkId id : ids) {
      for (String value : values) {
        TreeMap<String, String> parameters = new TreeMap<>(id.parameters());
        parameters.put(name, value);
        all.add(new BenchmarkId(id.name(), parameters));
      }
    }
    return all;
  }
}
