package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.PeerFork.Timing;
import io.nereid.benchmarks.peers.Plan.Side;
import io.nereid.perf.compare.Machine;
import io.nereid.perf.compare.TimeOption;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs Nereid and its peers in turns, each time in a fresh process, until the time is up, and
 * prints their figures side by side.
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
        "triton, onnxruntime, onnxruntime-asleep or djl;",
        "several with commas (default: all)"
      })
  private Set<Side> chosen = EnumSet.allOf(Side.class);

  @Option(
      names = "--smoke",
      description = "one round, as short as can be: shows that it works, measures nothing")
  private boolean smoke;

  @Option(names = "--project", hidden = true, defaultValue = ".")
  private Path project;

  @Option(names = "--directory", hidden = true, defaultValue = "build/peers")
  private Path directory;

  private final PeerReport report = new PeerReport();

  private Peers() {}

  /** Started by {@code ./dev bench peers}. */
  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Peers()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    Places places = new Places(project.toAbsolutePath(), directory.toAbsolutePath());
    String name =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss")
            .withZone(ZoneOffset.UTC)
            .format(Instant.now());
    Path results = Files.createDirectories(places.directory().resolve("results").resolve(name));
    Timing timing = smoke ? Timing.SMOKE : Timing.FULL;
    runRounds(places, timing, results);
    String text =
        ("%s%n%s; versions %s. Each case was measured for %d ms in each fork, after twice "
                + "%d ms of processor time.%n")
            .formatted(
                report.tables(),
                Machine.describe(),
                versions(),
                timing.measured(),
                timing.warmUp());
    System.out.println(text);
    Files.writeString(results.resolve("peers.md"), text);
    System.err.println("Kept in " + places.project().relativize(results));
    return 0;
  }

  /** Runs at least one round, and as many as fit into the time by what the last one took. */
  private void runRounds(Places places, Timing timing, Path results) throws IOException {
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
          String name = "%s-%02d-%s".formatted(plan, round + 1, side);
          report.add(plan, side, PeerFork.run(plan, side, places, timing, results, name));
        }
      }
      roundNs = System.nanoTime() - roundStartNs;
    }
  }

  /** A B B A: every second round the other way round, so a drift favours nobody. */
  private List<Side> order(Plan plan, int round) {
    List<Side> peers = new ArrayList<>(plan.sides);
    peers.removeIf(side -> side != Side.NEREID && !chosen.contains(side));
    return peers.size() < 2 ? List.of() : round % 2 == 0 ? peers : peers.reversed();
  }

  /** The versions of what was run, as the build has them. */
  private static String versions() throws IOException {
    Properties versions = new Properties();
    try (InputStream in = Peers.class.getResourceAsStream("versions.properties")) {
      versions.load(in);
    }
    return String.join(
        ", ",
        versions.stringPropertyNames().stream()
            .sorted()
            .map(name -> name + " " + versions.getProperty(name))
            .toList());
  }
}
