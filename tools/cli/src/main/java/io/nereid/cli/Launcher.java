package io.nereid.cli;

import java.lang.reflect.InvocationTargetException;

/**
 * Stands in front of {@link Main} where the jar is started: compiled for Java 8, it can tell an
 * older Java what is missing, in place of an {@code UnsupportedClassVersionError}.
 */
public final class Launcher {

  private static final int OLDEST_JAVA = 25;

  private Launcher() {}

  /** Starts the command line, or ends with 1 and says which Java it needs. */
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

  /** 8 of 1.8, 17 of 17. */
  private static int feature(String version) {
    return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
  }
}
