package io.nereid.benchmarks.peers;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.stream.Collectors;

/** What was run. */
final class Versions {

  private Versions() {}

  /** As the build has them. */
  static String describe() {
    Properties versions = new Properties();
    try (InputStream in = Versions.class.getResourceAsStream("versions.properties")) {
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
