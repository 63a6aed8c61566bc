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
 * A value that is made from files, and made anew when one of them changed. If the last check is
 * some time ago, a caller of {@link #current} starts one and waits for it a moment. A platform
 * thread checks the files and then ends: a file may be on a network that hangs, and callers may be
 * event loops, which many requests share. Files that are unreadable, late or invalid leave the
 * value unchanged, and the log says so once.
 *
 * @param <T> the type of the value
 */
public final class ReloadedFiles<T> {

  /**
   * Makes the value.
   *
   * @param <T> the type of the value
   */
  public interface Loader<T> {
    /** Reads the files anew. */
    T load() throws IOException;
  }

  /** The properties by which a changed file is noticed. */
  private record Stamp(FileTime modified, long size, Object key) {}

  private static final Logger LOGGER = System.getLogger(ReloadedFiles.class.getName());

  /** The least time between two looks at the files. */
  private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

  /** The time that a caller waits for the files; reading goes on afterwards. */
  private static final long PATIENCE_MS = 500;

  private final String what;
  private final List<Path> files;
  private final Loader<T> loader;
  private final LongSupplier clockNs;
  private final AtomicBoolean checking = new AtomicBoolean();

  // The stamps of the files of the value, and of files that failed; only the checking thread uses
  // them.
  private List<Stamp> stamps;
  private List<Stamp> failed = List.of();

  private volatile long checkedNs;
  private volatile T value;

  /**
   * Loads the value for the first time; throws if that fails.
   *
   * @param what names the value in the log
   */
  public ReloadedFiles(String what, List<Path> files, Loader<T> loader) throws IOException {
    this(what, files, loader, System::nanoTime);
  }

  /** Does the same with a clock of the caller's. */
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
      } catch (OutOfMemoryError e) { // no memory for a thread now
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
    // taken before loading, so that a later change is seen at the next check
    List<Stamp> now = stamps();
    if (now.equals(stamps)) {
      return;
    }
    try {
      value = Objects.requireNonNull(loader.load());
      stamps = now;
      LOGGER.log(Level.INFO, "{0}: loaded anew", what);
    } catch (IOException | RuntimeException e) {
      // The files are read again at the next check, as the failure may have been temporary.
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
