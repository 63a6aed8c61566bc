package io.nereid.internal.repository;

import io.nereid.internal.loader.UnpackedFile;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A temporary directory that other processes can tell is in use: a file in it is locked for as long
 * as its owner lives, and the system gives that lock back however the owner ends. So a later
 * process deletes what nobody owns any more, whatever their numbers, also where several containers
 * share the directory for temporary files.
 */
final class OwnedDirectory implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  private static final String PREFIX = "nereid-load-";
  private static final String LOCK = "lock";

  /** Those of this process: to open and close their locks here would give them back. */
  private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

  private final Path root;
  private final FileChannel lock;

  private OwnedDirectory(Path root, FileChannel lock) {
    this.root = root;
    this.lock = lock;
  }

  /** A new one, which only this user can read. */
  static OwnedDirectory create() throws IOException {
    Path root = Files.createTempDirectory(PREFIX);
    OPEN.add(root);
    FileChannel lock = null;
    try {
      // It gets its name when it is locked: nobody finds a lock that is still free.
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

  /** Where its owner puts files. */
  Path content() {
    return root.resolve("content");
  }

  /** Deletes those whose owners ended without closing them. */
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
    // Of another user's it is not known what is done to it while it is being deleted.
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
      // It is being made, or another process was quicker.
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

  /** Deletes it with what is in it. */
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
