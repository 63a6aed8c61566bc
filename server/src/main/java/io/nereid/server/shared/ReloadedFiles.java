package io.nereid.server.shared;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A value that is made of files, and made anew when one of them changed. There is no thread for
 * that: whoever asks for the value looks at the files, when nobody did for a while. Files that can
 * no longer be read, or make no sense, leave the value as it was, and the log says so.
 *
 * @param <T> what is made of them
 */
public final class ReloadedFiles<T> {

  /**
   * Makes the value.
   *
   * @param <T> what is made
   */
  public interface Loader<T> {
    /** Reads the files anew. */
    T load() throws IOException;
  }

  /** What tells whether a file is another one; null where there is none. */
  private record Stamp(FileTime modified, long size, Object key) {}

  private static final Logger LOGGER = System.getLogger(ReloadedFiles.class.getName());

  /** How often the files are looked at, at most. */
  private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

  private final String what;
  private final List<Path> files;
  private final Loader<T> loader;
  private final ReentrantLock checking = new ReentrantLock();
  private List<Stamp> stamps; // guarded by checking
  private volatile long checkedNs;
  private volatile T value;

  /**
   * Loads the value for the first time, and fails when that fails.
   *
   * @param what names the value in the log
   */
  public ReloadedFiles(String what, List<Path> files, Loader<T> loader) throws IOException {
    this.what = what;
    this.files = List.copyOf(files);
    this.loader = loader;
    stamps = stamps();
    value = Objects.requireNonNull(loader.load());
    checkedNs = System.nanoTime();
  }

  /** The value as of a second ago, or newer. */
  public T current() {
    if (System.nanoTime() - checkedNs > CHECK_NS && checking.tryLock()) {
      try {
        check();
      } finally {
        checkedNs = System.nanoTime();
        checking.unlock();
      }
    }
    return value;
  }

  private void check() {
    List<Stamp> now = stamps(); // before loading: a change after it is seen the next time
    if (now.equals(stamps)) {
      return;
    }
    stamps = now;
    try {
      value = Objects.requireNonNull(loader.load());
      LOGGER.log(Level.INFO, "{0}: loaded anew", what);
    } catch (IOException | RuntimeException e) {
      LOGGER.log(
          Level.WARNING,
          "{0} changed and cannot be used, goes on as before: {1}",
          what,
          e.getMessage());
    }
  }

  private List<Stamp> stamps() {
    List<Stamp> all = new ArrayList<>(files.size());
    for (Path file : files) {
      try {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        all.add(new Stamp(found.lastModifiedTime(), found.size(), found.fileKey()));
      } catch (IOException e) {
        all.add(null);
      }
    }
    return all;
  }
}
