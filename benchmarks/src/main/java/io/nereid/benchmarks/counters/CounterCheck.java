package io.nereid.benchmarks.counters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Counts everything and holds it to the budgets: {@code CounterCheck BUDGETS PROGRAM
 * WORK_DIRECTORY}, where the program is core_counters. Ends with 1 when something is over budget.
 */
public final class CounterCheck {

  private CounterCheck() {}

  /** Called by {@code ./dev bench counters}. */
  public static void main(String[] args) throws Exception {
    System.exit(run(Path.of(args[0]), Path.of(args[1]), Path.of(args[2])));
  }

  private static int run(Path file, Path program, Path workDirectory) throws Exception {
    Budgets budgets = Budgets.read(file);
    Files.createDirectories(workDirectory);
    Map<String, Double> counted = new LinkedHashMap<>();
    List<String> skipped = new ArrayList<>();
    NativeCounters core = new NativeCounters(program, workDirectory);
    if (Files.isExecutable(program)) {
      core.callsInto(counted);
      if (isThere("valgrind")) {
        core.instructionsInto(counted);
      } else {
        skipped.add("instructions: valgrind is missing; './dev setup' installs it");
      }
    } else {
      skipped.add("the core alone: " + program + " is missing; build with the native tests");
    }
    RuntimeCounters.into(counted);
    boolean hasStrace = isThere("strace");
    if (!FrontendCounters.into(counted, workDirectory, hasStrace)) {
      skipped.add(
          hasStrace
              ? "system calls: this system does not let strace attach to a process"
              : "system calls: strace is missing; './dev setup' installs it");
    }
    return report(budgets, counted, skipped);
  }

  private static int report(Budgets budgets, Map<String, Double> counted, List<String> skipped) {
    Budgets.Judgement judgement = budgets.judge(counted);
    judgement.lines().forEach(System.out::println);
    skipped.forEach(line -> System.out.println("skipped " + line));
    judgement.hints().forEach(System.out::println);
    List<String> failures = new ArrayList<>(judgement.failures());
    if (skipped.isEmpty()) {
      budgets
          .uncounted(counted)
          .forEach(name -> failures.add("nothing was counted for the budget of " + name));
    }
    failures.forEach(System.err::println);
    return failures.isEmpty() ? 0 : 1;
  }

  private static boolean isThere(String program) {
    try (Stream<String> folders = Stream.of(System.getenv("PATH").split(":"))) {
      return folders.anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
  }
}
