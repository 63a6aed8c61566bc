package io.nereid.internal.repository;

import io.nereid.internal.config.ModelFiles;
import io.nereid.internal.loader.OwnedDirectory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A model's directory that is made of files given with a load. {@link #close} deletes it; if the
 * process ended without that, a later process does by {@link #removeLeft}.
 */
final class OverrideFiles implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  /**
   * The longest path of a file below the model's directory, in bytes: far below what systems allow.
   */
  private static final int MAX_PATH_BYTES = 1024;

  private static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));
  private static final String PREFIX = "nereid-load-";

  private final OwnedDirectory root;
  private final Path directory;

  private OverrideFiles(OwnedDirectory root, Path directory) {
    this.root = root;
    this.directory = directory;
  }

  /**
   * Writes the files below a new temporary directory, which only this user can read.
   *
   * @param files contents by path below the model's directory
   */
  public static OverrideFiles write(String model, Map<String, byte[]> files) {
    ModelFiles.checkName(model);
    Set<Path> paths = new HashSet<>();
    files.keySet().forEach(file -> paths.add(checkPath(file)));
    paths.forEach(path -> checkParents(path, paths));
    try {
      OwnedDirectory root = OwnedDirectory.create(TEMPORARY, PREFIX);
      OverrideFiles written = new OverrideFiles(root, root.content().resolve(model));
      try {
        written.writeAll(files);
        return written;
      } catch (IOException | RuntimeException e) {
        written.close();
        throw e;
      }
    } catch (IOException e) {
      String message = "the files given for model '" + model + "' cannot be stored";
      LOGGER.log(Level.WARNING, message, e); // the exception names the path
      String reason = e instanceof FileSystemException of ? of.getReason() : e.getMessage();
      throw new NereidException(
          StatusCode.UNAVAILABLE, reason == null ? message : message + ": " + reason);
    }
  }

  private static Path checkPath(String file) {
    Path path = ModelFiles.inside(Path.of(""), file, what(file));
    boolean tooLong = ModelFiles.bytes(path.toString()) > MAX_PATH_BYTES;
    for (Path name : path) {
      tooLong |= ModelFiles.bytes(name.toString()) > ModelFiles.MAX_NAME_BYTES;
    }
    if (tooLong) {
      throw invalid(
          "expected a file's path of at most %s bytes, with names of at most %s, got %s"
              .formatted(MAX_PATH_BYTES, ModelFiles.MAX_NAME_BYTES, what(file)));
    }
    return path;
  }

  private static void checkParents(Path path, Set<Path> files) {
    for (Path parent = path.getParent(); parent != null; parent = parent.getParent()) {
      if (files.contains(parent)) {
        throw invalid(
            "%s is a file, and cannot have %s in it"
                .formatted(what(parent.toString()), what(path.toString())));
      }
    }
  }

  /** The parameter that a file came with, for messages. */
  private static String what(String file) {
    String shown = file.length() > 80 ? file.substring(0, 80) + "..." : file;
    return "file:" + ModelFiles.printable(shown);
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  private void writeAll(Map<String, byte[]> files) throws IOException {
    Files.createDirectory(directory);
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Path path = ModelFiles.inside(directory, file.getKey(), what(file.getKey()));
      Files.createDirectories(path.getParent());
      Files.write(path, file.getValue());
    }
  }

  /** The model's directory. */
  public Path directory() {
    return directory;
  }

  /** Deletes the directories that processes left behind. */
  public static void removeLeft() {
    OwnedDirectory.removeLeft(TEMPORARY, PREFIX);
  }

  /** Deletes the files; a model that has them open keeps them until it lets go. */
  @Override
  public void close() {
    root.close();
  }
}
