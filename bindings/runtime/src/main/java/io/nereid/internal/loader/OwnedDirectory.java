package io.nereid.internal.loader;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A directory whose use other processes can see: a file in it is locked while the owner lives, and
 * the system frees that lock however the owner ends. A later process thus deletes abandoned
 * directories without relying on process numbers, which containers that share a directory may have
 * in common.
 */
public final class OwnedDirectory implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  private static final String LOCK = "lock";
  private static final String CONTENT = "content";

  /** The time after which a directory without a lock is no longer being made. */
  private static final Duration LONGEST_MAKING = Duration.ofDays(1);

  /** The ones of this process: opening and closing their locks here would give them back. */
  private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

  private final Path root;
  private final FileChannel lock;

  private OwnedDirectory(Path root, FileChannel lock) {
    this.root = root;
    this.lock = lock;
  }

  /** Makes one that only this user can read, and deletes others beside it that were left. */
  public static OwnedDirectory create(Path parent, String prefix) throws IOException {
    removeLeft(parent, prefix);
    Path root = Files.createTempDirectory(parent, prefix);
    OPEN.add(root);
    FileChannel lock = null;
    try {
      // The file gets its name once it is locked, so no process finds it unlocked.
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
  public Path content() {
    return root.resolve(CONTENT);
  }

  /** Deletes directories whose owners ended without closing them. */
  public static void removeLeft(Path parent, String prefix) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, prefix + "*")) {
      UserPrincipal user = UnpackedFile.user(parent);
      for (Path root : found) {
        if (!OPEN.contains(root)) {
          removeIfLeft(root, user);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOGGER.log(Level.DEBUG, "files of ended processes cannot be looked for", e);
    }
  }

  private static void removeIfLeft(Path root, UserPrincipal user) {
    // A directory of another user is left alone: its owner could change it during the deletion.
    Path file = root.resolve(LOCK);
    try {
      PosixFileAttributes found =
          Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!found.isDirectory() || !found.owner().equals(user)) {
        return;
      }
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        Instant oldest = Instant.now().minus(LONGEST_MAKING);
        if (found.lastModifiedTime().toInstant().isAfter(oldest)) {
          return; // another process may be making it
        }
        deleteOwned(root);
      } else {
        try (FileChannel lock =
            FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
          if (lock.tryLock() == null) {
            return;
          }
          deleteOwned(root);
        }
      }
      LOGGER.log(Level.INFO, "deleted {0}, which a process left that has ended", root);
    } catch (NoSuchFileException | OverlappingFileLockException e) {
      // Another process has deleted it first, or another thread is at it.
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, root + " cannot be deleted", e);
    }
  }

  /** Deletes the lock last: while something is left, a later process can tell that it is. */
  private static void deleteOwned(Path root) {
    delete(root.resolve(CONTENT));
    delete(root);
  }

  /** Deletes a directory with all that is in it, as far as that is possible. */
  public static void delete(Path directory) {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (NoSuchFileException e) {
      // Somebody else has deleted it.
    } catch (IOException | UncheckedIOException e) {
      LOGGER.log(Level.WARNING, "files are left behind at " + directory, e);
    }
  }

  /** Deletes the directory with its content. */
  @Override
  public void close() {
    deleteOwned(root);
    try {
      lock.close();
    } catch (IOException e) {
      // The file is gone, and the lock with it.
    }
    OPEN.remove(root);
  }
}
