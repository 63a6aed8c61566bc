package io.nereid.internal.repository;

import io.nereid.internal.config.ModelFiles;
import io.nereid.internal.loader.UnpackedFile;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

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
    OwnedDirectory.removeLeft();
  }

  /** Deletes the files; a model that has them open keeps them until it lets go. */
  @Override
  public void close() {
    root.close();
  }

  /**
   * A temporary directory whose use other processes can see: a file in it is locked while the owner
   * lives, and the system frees that lock however the owner ends. A later process thus deletes
   * abandoned directories without relying on process numbers, which containers that share a
   * directory may have in common.
   */
  private static final class OwnedDirectory implements AutoCloseable {

    private static final String PREFIX = "nereid-load-";
    private static final String LOCK = "lock";

    /**
     * The directories of this process: opening and closing their locks here would give them back.
     */
    private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

    private final Path root;
    private final FileChannel lock;

    private OwnedDirectory(Path root, FileChannel lock) {
      this.root = root;
      this.lock = lock;
    }

    /** Makes a new directory, which only this user can read. */
    static OwnedDirectory create() throws IOException {
      Path root = Files.createTempDirectory(PREFIX);
      OPEN.add(root);
      FileChannel lock = null;
      try {
        // The directory gets its name once it is locked, so no process finds it unlocked.
        Path fresh = root.resolve("new");
        lock = FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        lock.lock();
        Files.move(fresh, root.resolve(LOCK), StandardCopyOption.ATOMIC_MOVE);
        OwnedDirectory made = new OwnedDirectory(root, lock);
        Files.createDirectory(made.content());
        return made;
      } catch (IOException | RuntimeException e) {
        if (lock != null) {
          lock.close();
        }
        delete(root);
        OPEN.remove(root);
        throw e;
      }
    }

    /** The directory into which the owner puts files. */
    Path content() {
      return root.resolve("content");
    }

    /** Deletes directories whose owners ended without closing them. */
    static void removeLeft() {
      Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
      try (DirectoryStream<Path> found = Files.newDirectoryStream(temporary, PREFIX + "*")) {
        for (Path root : found) {
          if (!OPEN.contains(root)) {
            removeIfLeft(root);
          }
        }
      } catch (IOException | DirectoryIteratorException e) {
        LOGGER.log(Level.DEBUG, "temporary files of ended processes cannot be looked for", e);
      }
    }

    private static void removeIfLeft(Path root) {
      // A directory of another user is left alone: its owner could change it during the deletion.
      try {
        if (!Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS) || !UnpackedFile.isOwn(root)) {
          return;
        }
        try (FileChannel lock = FileChannel.open(root.resolve(LOCK), StandardOpenOption.WRITE)) {
          if (lock.tryLock() == null) {
            return;
          }
          delete(root);
        }
        LOGGER.log(Level.INFO, "deleted {0}, which a process left that has ended", root);
      } catch (NoSuchFileException | OverlappingFileLockException e) {
        // Another process is making the directory, or has deleted it first.
      } catch (IOException e) {
        LOGGER.log(Level.DEBUG, root + " cannot be deleted", e);
      }
    }

    private static void delete(Path root) {
      try (Stream<Path> paths = Files.walk(root)) {
        for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      } catch (IOException e) {
        LOGGER.log(Level.WARNING, "temporary files are left behind at " + root, e);
      }
    }

    /** Deletes the directory with its content. */
    @Override
    public void close() {
      delete(root);
      try {
        lock.close();
      } catch (IOException e) {
        // The file is gone, and the lock with it.
      }
      OPEN.remove(root);
    }
  }
}
