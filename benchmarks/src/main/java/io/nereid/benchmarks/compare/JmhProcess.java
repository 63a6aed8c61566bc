package io.nereid.benchmarks.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs JMH with the benchmarks of a build. One runs at a time: it is what is being measured. */
final class JmhProcess {

  /** For the JVM that only starts forks: it should be there soon. */
  private static final List<String> HOST_OPTIONS =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-XX:-UsePerfData",
          // Whoever else measures on this machine disturbs us, but not more than other work.
          "-Djmh.ignoreLock=true");

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
    unpackProfiler();
  }

  /** Beside the jar of either side, which may not have it: a class path may end in a folder. */
  private void unpackProfiler() throws IOException {
    String file = CpuTimeProfiler.class.getName().replace('.', '/') + ".class";
    Path target = profilers.resolve(file);
    Files.createDirectories(target.getParent());
    try (InputStream bytes = CpuTimeProfiler.class.getClassLoader().getResourceAsStream(file)) {
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
}
