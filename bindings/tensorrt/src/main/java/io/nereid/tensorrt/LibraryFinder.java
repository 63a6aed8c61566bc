package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Loads NVIDIA's libraries from the user's directories, else from the system's. A library that is
 * loaded already satisfies all libraries that later need it by name, from any directory; in this
 * way JavaCPP's JNI libraries find theirs.
 */
record LibraryFinder(List<Path> directories) {

  /** The property with the directories, separated by colons. */
  static final String PROPERTY = "nereid.tensorrt.dir";

  /** The environment variable for the same, for people who start a server; the property wins. */
  static final String VARIABLE = "NEREID_TENSORRT_DIR";

  private static final String SETTINGS = VARIABLE + " or -D" + PROPERTY;

  /** Makes a finder for the directories of the property, or else of the variable. */
  static LibraryFinder ofSettings() {
    return new LibraryFinder(paths(PROPERTY, VARIABLE));
  }

  /** The paths, separated by colons, of a property, or else of a variable. */
  static List<Path> paths(String property, String variable) {
    String written = System.getProperty(property, "");
    if (written.isBlank()) {
      written = Optional.ofNullable(System.getenv(variable)).orElse("");
    }
    return Arrays.stream(written.split(File.pathSeparator))
        .filter(path -> !path.isBlank())
        .map(path -> Path.of(path.strip()).toAbsolutePath())
        .toList();
  }

  /** The path of a file in the first of the user's directories that has it. */
  Optional<Path> named(String file) {
    return directories.stream()
        .map(directory -> directory.resolve(file))
        .filter(Files::isRegularFile)
        .findFirst();
  }

  /** Initialises a class of JavaCPP while a property is set to a value. */
  static void withProperty(String property, String value, String type, ClassLoader loader) {
    String before = System.getProperty(property);
    System.setProperty(property, value);
    try {
      initialize(type, loader, type);
    } finally {
      if (before == null) {
        System.clearProperty(property);
      } else {
        System.setProperty(property, before);
      }
    }
  }

  /** Initialises a class of JavaCPP, which loads its library; {@code what} is for the message. */
  static void initialize(String type, ClassLoader loader, String what) {
    try {
      Class.forName(type, true, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      throw new NereidException(StatusCode.UNAVAILABLE, what + " is there but unusable", e);
    }
  }

  void openNamed(String file) {
    named(file).ifPresent(LibraryFinder::open);
  }

  /**
   * Loads a library. The order is: the user's directories, a jar on the class path, which JavaCPP
   * handles, and the system's loader.
   *
   * @param file its name with its major version
   * @param resource the resource on the class path that JavaCPP unpacks
   * @param otherPlaces directories of installers, in which the loader does not look
   * @return the place of the library, for people
   */
  String load(String file, String resource, List<String> otherPlaces) {
    Optional<Path> named = named(file);
    if (named.isPresent()) {
      return open(named.get());
    }
    if (LibraryFinder.class.getClassLoader().getResource(resource) != null) {
      return "the class path (" + resource + ")";
    }
    List<String> tried = new ArrayList<>(List.of(file));
    otherPlaces.forEach(place -> tried.add(place + "/" + file));
    for (String name : tried) {
      if (isOpened(name)) {
        return name;
      }
    }
    throw new NereidException(StatusCode.UNAVAILABLE, missing(file, otherPlaces));
  }

  private String missing(String file, List<String> otherPlaces) {
    return ("%s was not found: expected it in %s, on the class path, where the system's loader"
            + " looks, or in %s: set %s to the directories that have NVIDIA's libraries, separated"
            + " by colons")
        .formatted(
            file,
            directories.isEmpty()
                ? "a directory of " + SETTINGS + " (neither is set)"
                : directories + " (" + SETTINGS + ")",
            String.join(", ", otherPlaces),
            VARIABLE);
  }

  private static String open(Path path) {
    if (!isOpened(path)) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          path
              + " is there but cannot be loaded: expected a library for Linux on x86-64 with all"
              + " that it needs beside it or known to the system's loader");
    }
    return path.toString();
  }

  /** Opens a library by its real path, because it looks for others beside itself. */
  static boolean isOpened(Path library) {
    try {
      return isOpened(library.toRealPath().toString());
    } catch (IOException e) {
      return false;
    }
  }

  @SuppressWarnings("restricted")
  private static boolean isOpened(String name) {
    try {
      SymbolLookup.libraryLookup(name, Arena.global());
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
