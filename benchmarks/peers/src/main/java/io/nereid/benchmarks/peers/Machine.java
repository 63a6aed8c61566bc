package io.nereid.benchmarks.peers;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;

/** What was run, and on what. */
final class Machine {

  private Machine() {}

  static String describe() {
    String processor = "";
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      processor =
          lines
              .filter(line -> line.startsWith("model name"))
              .map(line -> line.substring(line.indexOf(':') + 1).strip() + ", ")
              .findFirst()
              .orElse("");
    } catch (IOException e) {
      // It is told without.
    }
    return String.format(
        Locale.ROOT,
        "%s%d processors, %s %s, Java %s, load average %.1f at the end",
        processor,
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        System.getProperty("os.version"),
        Runtime.version(),
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }

  /** As the build has them. */
  static String versions() {
    Properties versions = new Properties();
    try (InputStream in = Machine.class.getResourceAsStream("versions.properties")) {
      versions.load(in);
    } catch (IOException e) {
      throw new IllegalStateException("the jar lacks versions.properties", e);
    }
    return versions.stringPropertyNames().stream()
        .sorted()
        .map(name -> name + " " + versions.getProperty(name))
        .collect(Collectors.joining(", "));
  }
}
