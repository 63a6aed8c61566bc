package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.ForkRunner.Timing;
import io.nereid.perf.compare.TimeOption;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Runs Nereid and its peers in turns, each time in a fresh process, until the time is up, and
 * prints how they compare.
 */
@Command(
    name = "./dev bench peers",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures Nereid beside other runtimes, in turns, and prints the ratios.")
final class Peers implements Callable<Integer> {

  @Option(
      names = "--time",
      paramLabel = "TIME",
      defaultValue = "10m",
      converter = TimeOption.class,
      description = "how long to measure, such as 90s or 10m (default: ${DEFAULT-VALUE})")
  private Duration time;

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description = {
        "triton, triton-javacpp, onnxruntime, onnxruntime-asleep or djl;",
        "several with commas (default: all)"
      })
  private Set<Side> chosen = EnumSet.complementOf(EnumSet.of(Side.NEREID));

  @Option(
      names = "--smoke",
      description = "one round, as short as can be: shows that it works, measures nothing")
  private boolean smoke;

  @Option(names = "--project", hidden = true, defaultValue = ".")
  private Path project;

  @Option(names = "--directory", hidden = true, defaultValue = "build/peers")
  private Path directory;

  private Peers() {}

  /** Started by {@code ./dev bench peers}. */
  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Peers()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    if (chosen.contains(Side.NEREID)) {
      throw new ParameterException(
          new CommandLine(this), "expected a peer, got nereid, which is always measured");
    }
    Places places = new Places(project.toAbsolutePath(), directory.toAbsolutePath());
    Timing timing = smoke ? Timing.SMOKE : Timing.FULL;
    Results results = new Results(places, timing);
    runRounds(new ForkRunner(places, timing, results.directory()), results);
    PeerReport report = new PeerReport(results);
    System.out.println(report.markdown());
    report.write();
    System.err.println("Kept in " + project.toAbsolutePath().relativize(results.directory()));
    return 0;
  }

  /** Runs at least one round, and as many as fit into the time by what the last one took. */
  private void runRounds(ForkRunner runner, Results results) throws IOException {
    long startNs = System.nanoTime();
    long roundNs = 0;
    for (int round = 0;
        round == 0 || (!smoke && System.nanoTime() - startNs + roundNs <= time.toNanos());
        round++) {
      long roundStartNs = System.nanoTime();
      for (Plan plan : Plan.values()) {
        for (Side side : order(plan, round)) {
          System.err.printf(
              "%4d s  round %d, %s: %s%n",
              Duration.ofNanos(System.nanoTime() - startNs).toSeconds(),
              round + 1,
              plan.title,
              side.label);
          results.add(plan, round, side, runner.run(plan, round, side));
        }
      }
      roundNs = System.nanoTime() - roundStartNs;
    }
  }

  /** A B B A: every second round the other way round, so a drift favours nobody. */
  private List<Side> order(Plan plan, int round) {
    List<Side> sides = new ArrayList<>(plan.peers().stream().filter(chosen::contains).toList());
    if (!sides.isEmpty()) {
      sides.addFirst(Side.NEREID);
    }
    return round % 2 == 0 ? sides : sides.reversed();
  }
}
