package io.nereid.internal.repository;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * The state of a model's directory: every file's size, time and identity. Two directories with
 * equal fingerprints hold the same files, unless a change was hidden on purpose.
 *
 * @param files by path
 */
public record Fingerprint(Map<Path, Stamp> files) {

  /** The most files of a model that are followed; models have few. */
  private static final int MAX_FILES = 10_000;

  private static final int MAX_DEPTH = 8;

  /** The state of one file. All values are zero if the file cannot be looked at. */
  record Stamp(long byteSize, long modifiedNs, Object identity) {

    private static final Stamp UNREADABLE = new Stamp(0, 0, null);

    static Stamp of(BasicFileAttributes file) {
      long modifiedNs = file.lastModifiedTime().to(TimeUnit.NANOSECONDS);
      // A directory's own time changes with every file in it that comes or goes; its size says
      // nothing.
      return new Stamp(file.isDirectory() ? 0 : file.size(), modifiedNs, file.fileKey());
    }
  }

  /** The fingerprints of several directories. */
  public static List<Fingerprint> of(List<Path> directories) {
    return directories.stream().map(Fingerprint::of).toList();
  }

  /** The fingerprint of a directory, following symbolic links; the directory may be missing. */
  static Fingerprint of(Path directory) {
    Map<Path, Stamp> files = new TreeMap<>();
    try {
      Files.walkFileTree(
          directory, EnumSet.of(FileVisitOption.FOLLOW_LINKS), MAX_DEPTH, new Collector(files));
    } catch (IOException e) {
      files.put(directory, Stamp.UNREADABLE);
    }
    return new Fingerprint(files);
  }

  /** The files, without directories, that differ between two looks. */
  static List<Path> changed(List<Fingerprint> before, List<Fingerprint> after) {
    Map<Path, Stamp> old = new TreeMap<>();
    before.forEach(one -> old.putAll(one.files()));
    Map<Path, Stamp> now = new TreeMap<>();
    after.forEach(one -> now.putAll(one.files()));
    Set<Path> all = new TreeSet<>(old.keySet());
    all.addAll(now.keySet());
    return all.stream()
        .filter(file -> !Objects.equals(old.get(file), now.get(file)))
        .filter(file -> !Files.isDirectory(file))
        .toList();
  }

  private static final class Collector extends SimpleFileVisitor<Path> {
    private final Map<Path, Stamp> files;

    Collector(Map<Path, Stamp> files) {
      this.files = files;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
      return add(directory, Stamp.of(attributes));
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      return add(file, Stamp.of(attributes));
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException cause) {
      return add(file, Stamp.UNREADABLE);
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException cause) {
      return FileVisitResult.CONTINUE;
    }

    private FileVisitResult add(Path path, Stamp stamp) {
      files.put(path, stamp);
      return files.size() < MAX_FILES ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
    }
  }
}
