package io.nereid.internal.repository;

import io.nereid.internal.config.ModelFiles;
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
 * A model's directory that is made of files given with a load. It is deleted by {@link #close}, or,
 * where the process ended without that, by {@link #removeLeft} of a later one.
 */
public final class OverrideFiles implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  /** Of a file's path below the model's directory, in bytes: far below what systems allow. */
  private static final int MAX_PATH_BYTES = 1024;

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
      OwnedDirectory root = OwnedDirectory.create();
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
      LOGGER.log(Level.WARNING, message, e); // which names the path
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
          "expected a file's path of at most "
              + MAX_PATH_BYTES
              + " bytes, with names of at most "
              + ModelFiles.MAX_NAME_BYTES
              + ", got "
              + what(file));
    }
    return path;
  }

  private static void checkParents(Path path, Set<Path> files) {
    for (Path parent = path.getParent(); parent != null; parent = parent.getParent()) {
      if (files.contains(parent)) {
        throw invalid(
            what(parent.toString())
                + " is a file, and cannot have "
                + what(path.toString())
                + " in it");
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

  /** Deletes what processes left that ended without doing so. */
  public static void removeLeft() {
    OwnedDirectory.removeLeft();
  }

  /** Deletes the files; a model that has them open keeps them until it lets go. */
  @Override
  public void close() {
    root.close();
  }
}
