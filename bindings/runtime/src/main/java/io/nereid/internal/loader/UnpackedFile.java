package io.nereid.internal.loader;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;

/**
 * A resource as a file that the system's loader can map. The file is kept per content in a
 * directory that only this user can write, {@code <cache>/nereid/<checksum>/<name>}, so processes
 * share it and versions do not collide. If there can be no such directory, the file goes to a
 * temporary one that is deleted when the process ends.
 */
final class UnpackedFile {

  /** Opens the same bytes each time. */
  @FunctionalInterface
  public interface Source {
    /** A new stream over the content. */
    InputStream open() throws IOException;

    /** The checksum that tells the content from others. */
    default Checksum checksum() throws IOException {
      try (InputStream in = open()) {
        return Checksum.of(in);
      }
    }
  }

  private static final Set<PosixFilePermission> OTHERS_WRITE =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private UnpackedFile() {}

  /** The user's cache directory: {@code $XDG_CACHE_HOME}, else {@code ~/.cache}. */
  static Path userCache() {
    String configured = System.getenv("XDG_CACHE_HOME");
    return configured == null || configured.isEmpty() || !Path.of(configured).isAbsolute()
        ? Path.of(System.getProperty("user.home"), ".cache")
        : Path.of(configured);
  }

  /** A file {@code name} with the content of {@code source}, below the user's cache directory. */
  public static Path of(Source source, String name) throws IOException {
    return of(source, name, userCache());
  }

  static Path of(Source source, String name, Path cache) throws IOException {
    Checksum checksum = source.checksum();
    try {
      Path directory = cache.resolve("nereid").resolve(checksum.text());
      makePrivateDirectory(directory);
      Path file = directory.resolve(name);
      if (!isWhole(file, checksum)) {
        write(source, checksum, directory, file);
      }
      return file;
    } catch (IOException | UnsupportedOperationException | SecurityException e) {
      return temporary(source, name, checksum, e);
    }
  }

  private static Path temporary(Source source, String name, Checksum checksum, Exception reason)
      throws IOException {
    Path directory = Files.createTempDirectory("nereid-");
    directory.toFile().deleteOnExit();
    Path file = directory.resolve(name);
    try {
      write(source, checksum, directory, file);
    } catch (IOException e) {
      e.addSuppressed(reason);
      throw e;
    }
    // Deletion runs in reverse order of registration: the file before its directory.
    file.toFile().deleteOnExit();
    return file;
  }

  private static void makePrivateDirectory(Path directory) throws IOException {
    FileAttribute<?> onlyOwner =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    Files.createDirectories(directory, onlyOwner);
    for (Path path : new Path[] {directory.getParent(), directory}) {
      if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
          || Files.getPosixFilePermissions(path).stream().anyMatch(OTHERS_WRITE::contains)
          || !user(path).equals(Files.getOwner(path))) {
        throw new IOException(path + " is not a directory that only this user can write");
      }
    }
  }

  /** This process's user: the owner of a file that is made in a directory just now. */
  static UserPrincipal user(Path directory) throws IOException {
    Path probe = Files.createTempFile(directory, ".owner-", null);
    try {
      return Files.getOwner(probe);
    } finally {
      Files.delete(probe);
    }
  }

  private static void write(Source source, Checksum checksum, Path directory, Path file)
      throws IOException {
    Path part = Files.createTempFile(directory, "." + file.getFileName() + "-", ".part");
    try {
      try (InputStream in = source.open()) {
        Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
      }
      try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      if (!isWhole(part, checksum)) {
        throw new IOException(part + " does not hold what was written to it");
      }
      try {
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private static boolean isWhole(Path file, Checksum checksum) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        || Files.size(file) != checksum.bytes()) {
      return false;
    }
    try (InputStream in = Files.newInputStream(file)) {
      return Checksum.of(in).equals(checksum);
    }
  }
}
