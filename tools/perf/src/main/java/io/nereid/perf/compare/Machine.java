package io.nereid.perf.compare;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** Describes the machine of a comparison. */
public final class Machine {

  private Machine() {}

  /** Returns the number of threads that want a processor, per processor, in the last minute. */
  public static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()
        / Runtime.getRuntime().availableProcessors();
  }

  /** Processor, system, Java, and the present load. */
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
      // The description leaves it out.
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

  /** Adapts the settings of forks to the machine's load. For one thread. */
  public static final class Pace {

    /** The number of forks with equal settings, which are compared with each other: A B B A. */
    private static final int ALIKE = 4;

    private final Fork.Settings quiet;
    private Fork.Settings current;
    private int count;

    /** {@code quiet}: the settings on an idle machine. */
    public Pace(Fork.Settings quiet) {
      this.quiet = quiet;
    }

    /** The settings of the next fork. */
    public Fork.Settings next() {
      if (count++ % ALIKE == 0) {
        current = quiet.under(load());
      }
      return current;
    }
  }
}
