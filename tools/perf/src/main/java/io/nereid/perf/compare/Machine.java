package io.nereid.perf.compare;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** Describes what a comparison ran on. */
public final class Machine {

  private Machine() {}

  /**
   * Returns the number of threads that want a processor, for each processor; of the last minute.
   */
  public static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()
        / Runtime.getRuntime().availableProcessors();
  }

  /** Processor, system and Java, and how busy it is now. */
  public static String describe() {
    String processor = "";
    try {
      processor =
          Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
              .filter(line -> line.startsWith("model name"))
              .map(line -> line.substring(line.indexOf(':') + 1).strip() + ", ")
              .findFirst()
              .orElse("");
    } catch (IOException e) {
      // It is told without.
    }
    return Numbers.format(
        "%s%d processors, %s %s, Java %s, load average %.1f at the end",
        processor,
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        System.getProperty("os.version"),
        Runtime.version(),
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /** Hands out settings that suit how busy the machine is. For one thread. */
  public static final class Pace {

    /** Forks that are compared with each other are alike: A B B A. */
    private static final int ALIKE = 4;

    private final Fork.Settings quiet;
    private Fork.Settings current;
    private int count;

    /** For forks that run so where nothing else does. */
    public Pace(Fork.Settings quiet) {
      this.quiet = quiet;
    }

    /** The next fork runs so. */
    public Fork.Settings next() {
      if (count++ % ALIKE == 0) {
        current = quiet.under(load());
      }
      return current;
    }
  }
}
