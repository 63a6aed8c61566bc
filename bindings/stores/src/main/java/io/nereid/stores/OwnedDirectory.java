package io.nereid.stores;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A directory that this process alone uses, for as long as it lives: a locked file in it tells
 * others so, and the system unlocks that file however the process ends. So a later process deletes
 * what was left.
 */
record OwnedDirectory(Path path, FileChannel lock) implements AutoCloseable {

  private static final String PREFIX = "nereid-view-";

  /** The ones of this process: opening and closing their locks here would give them back. */
  private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

  /** Makes one, and deletes others beside it whose owners have ended. */
  static OwnedDirectory create(Path parent) throws IOException {
    removeLeft(parent);
    var owner = PosixFilePermissions.fromString("rwx------");
    Path made =
        Files.createTempDirectory(parent, PREFIX, PosixFilePermissions.asFileAttribute(owner));
    OPEN.add(made);
    // The file gets its name when it is locked: nobody finds a lock that is still free.
    Path fresh = made.resolve("new");
    FileChannel lock =
        FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    lock.lock();
    Files.move(fresh, made.resolve("lock"), StandardCopyOption.ATOMIC_MOVE);
    return new OwnedDirectory(made, lock);
  }

  private static void removeLeft(Path parent) throws IOException {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, PREFIX + "*")) {
      for (Path one : found) {
        if (OPEN.contains(one) || !Files.isDirectory(one, LinkOption.NOFOLLOW_LINKS)) {
          continue;
        }
        try (FileChannel lock = FileChannel.open(one.resolve("lock"), StandardOpenOption.WRITE)) {
          if (lock.tryLock() != null) {
            delete(one);
          }
        } catch (IOException | OverlappingFileLockException e) {
          // It is being made, is another user's, or another process was quicker.
        }
      }
    }
  }

  /** Deletes a directory with all that is in it, as far as that is possible. */
  static void delete(Path directory) {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      System.getLogger("io.nereid").log(System.Logger.Level.DEBUG, "left behind: " + directory, e);
    }
  }

  @Override
  public void close() {
    delete(path);
    OPEN.remove(path);
    try {
      lock.close();
    } catch (IOException e) {
      // The file is gone, and the lock with it.
    }
  }
}
