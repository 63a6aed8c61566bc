package io.nereid.benchmarks.counters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what the core counts of itself, in the program core_counters and under callgrind. */
final class NativeCounters {

  private static final int REQUESTS = 1000;
  private static final Pattern COLLECTED = Pattern.compile("Collected : (\\d+)");

  private final Path program;
  private final Path workDirectory;

  NativeCounters(Path program, Path workDirectory) {
    this.program = program;
    this.workDirectory = workDirectory;
  }

  /** Allocations of native memory, and copies of tensors' bytes. */
  void callsInto(Map<String, Double> counters) throws IOException, InterruptedException {
    for (String line : run(List.of(program.toString())).lines().toList()) {
      String[] words = line.split(" ");
      counters.put(words[0], Double.parseDouble(words[1]));
    }
  }

  /** Instructions of a request. */
  void instructionsInto(Map<String, Double> counters) throws IOException, InterruptedException {
    for (String which : List.of("inline", "chain", "cached")) {
      String said =
          run(
              List.of(
                  "valgrind",
                  "--tool=callgrind",
                  "--callgrind-out-file=" + workDirectory.resolve("callgrind.out"),
                  "--collect-atstart=no",
                  "--toggle-collect=RunCounted",
                  program.toString(),
                  which,
                  Integer.toString(REQUESTS)));
      Matcher collected = COLLECTED.matcher(said);
      if (!collected.find()) {
        throw new IOException("expected callgrind to say what it collected, got:\n" + said);
      }
      double instructions = Double.parseDouble(collected.group(1)) / REQUESTS;
      counters.put("core." + which + ".instructions", (double) Math.round(instructions));
    }
  }

  private String run(List<String> command) throws IOException, InterruptedException {
    Path output = workDirectory.resolve("native.log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    if (!process.waitFor(120, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException(command + " did not end within 120 s");
    }
    String said = Files.readString(output);
    if (process.exitValue() != 0) {
      throw new IOException(command + " ended with " + process.exitValue() + ":\n" + said);
    }
    return said;
  }
}
