package io.nereid.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Makes a repository with one version of a model, from links. */
final class OneVersion {

  private static final String VERSION = "[0-9]+";

  private OneVersion() {}

  /** True for {@code REPOSITORY/MODEL:VERSION} if no file has that name. */
  static boolean isNamed(Path path) {
    Path name = path.getFileName();
    return name != null && name.toString().lastIndexOf(':') > 0 && !Files.exists(path);
  }

  /**
   * Makes the repository.
   *
   * @param named the version, in the form of {@link #isNamed}
   * @param work a directory in which the repository is made
   */
  static Path repository(Path named, Path work) throws IOException {
    String name = named.getFileName().toString();
    int colon = name.lastIndexOf(':');
    Path model = named.resolveSibling(name.substring(0, colon));
    String version = name.substring(colon + 1);
    if (!version.matches(VERSION) || !Files.isDirectory(model.resolve(version))) {
      throw new IllegalArgumentException(
          "expected a version of a model as REPOSITORY/MODEL:VERSION, got '"
              + named
              + "', and there is no directory "
              + model.resolve(version));
    }
    Path repository = Files.createTempDirectory(work, "version");
    Path only = Files.createDirectory(repository.resolve(model.getFileName()));
    List<Path> files;
    try (Stream<Path> all = Files.list(model)) {
      files = all.toList();
    }
    for (Path file : files) {
      String own = file.getFileName().toString();
      if (own.equals(version) || !own.matches(VERSION)) {
        Files.createSymbolicLink(only.resolve(own), file.toAbsolutePath());
      }
    }
    return repository;
  }
}
