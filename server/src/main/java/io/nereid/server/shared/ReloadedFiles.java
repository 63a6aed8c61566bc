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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * A value that is made of files, and made anew when one of them changed. A caller that asks for the
 * value has the files looked at, if nobody did for a while, and waits for that a moment. A platform
 * thread looks at the files and ends after that: a file may be on a network that hangs, and the
 * callers may be the loops of connections, which many requests share. Files that can no longer be
 * read, or not in time, or make no sense, leave the value as it was, and the log says so once.
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

  /** The properties that tell one file from another. */
  private record Stamp(FileTime modified, long size, Object key) {}

  private static final Logger LOGGER = System.getLogger(ReloadedFiles.class.getName());

  /** The least time between two looks at the files. */
  private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

  /** A caller waits so long for the files; they are read on all the same. */
  private static final long PATIENCE_MS = 500;

  private final String what;
  private final List<Path> files;
  private final Loader<T> loader;
  private final LongSupplier clockNs;
  private final AtomicBoolean checking = new AtomicBoolean();

  // The thread that is checking uses these: files that the value is made of, and files that failed.
  private List<Stamp> stamps;
  private List<Stamp> failed = List.of();

  private volatile long checkedNs;
  private volatile T value;

  /**
   * Loads the value for the first time, and fails when that fails.
   *
   * @param what names the value in the log
   */
  public ReloadedFiles(String what, List<Path> files, Loader<T> loader) throws IOException {
    this(what, files, loader, System::nanoTime);
  }

  /** Reads the time from a clock of the caller's. */
  ReloadedFiles(String what, List<Path> files, Loader<T> loader, LongSupplier clockNs)
      throws IOException {
    this.clockNs = clockNs;
    this.what = what;
    this.files = List.copyOf(files);
    this.loader = loader;
    stamps = stamps();
    value = Objects.requireNonNull(loader.load());
    checkedNs = clockNs.getAsLong();
  }

  /** The value as of a second ago, or newer; an older one only while the files cannot be read. */
  public T current() {
    if (clockNs.getAsLong() - checkedNs > CHECK_NS && checking.compareAndSet(false, true)) {
      CountDownLatch checked = new CountDownLatch(1);
      Runnable looking =
          () -> {
            try {
              check();
            } finally {
              endCheck();
              checked.countDown();
            }
          };
      try {
        Thread.ofPlatform().name("nrd-files").daemon().start(looking);
        awaitCheck(checked);
      } catch (OutOfMemoryError e) { // no thread can be had now
        endCheck();
      }
    }
    return value;
  }

  private void endCheck() {
    checkedNs = clockNs.getAsLong();
    checking.set(false);
  }

  private void awaitCheck(CountDownLatch checked) {
    try {
      if (!checked.await(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
        LOGGER.log(
            Level.WARNING,
            "{0} could not be read within {1} ms, goes on as before until it can",
            what,
            PATIENCE_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void check() {
    List<Stamp> now = stamps(); // before loading: a change after it is seen the next time
    if (now.equals(stamps)) {
      return;
    }
    try {
      value = Objects.requireNonNull(loader.load());
      stamps = now;
      LOGGER.log(Level.INFO, "{0}: loaded anew", what);
    } catch (IOException | RuntimeException e) {
      // They are read again at the next look: a call may have failed that will not the next time.
      if (!now.equals(failed)) {
        failed = now;
        LOGGER.log(
            Level.WARNING,
            "{0} changed and cannot be used, goes on as before: {1}",
            what,
            e.getMessage());
      }
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
