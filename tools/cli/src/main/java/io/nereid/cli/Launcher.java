package io.nereid.cli;

import java.lang.reflect.InvocationTargetException;

/**
 * The jar's main class, which calls {@link Main}: compiled for Java 8, it prints the needed version
 * on an older Java, in place of an {@code UnsupportedClassVersionError}.
 */
public final class Launcher {

  private static final int OLDEST_JAVA = 25;

  private Launcher() {}

  /** Starts the command line, or ends with 1 and prints the Java version it needs. */
  public static void main(String[] args) throws Throwable {
    String version = System.getProperty("java.specification.version");
    if (feature(version) < OLDEST_JAVA) {
      System.err.println(
          "nereid: expected Java "
              + OLDEST_JAVA
              + " or newer, got Java "
              + version
              + " in "
              + System.getProperty("java.home")
              + "; bin/nereid finds the right one where it is installed");
      System.exit(1);
    }
    try {
      Class.forName("io.nereid.cli.Main")
          .getMethod("main", String[].class)
          .invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** The feature number of a Java version: 8 for 1.8, 17 for 17. */
  private static int feature(String version) {
    return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
  }
}
