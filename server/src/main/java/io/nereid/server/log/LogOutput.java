package io.nereid.server.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The place where lines go: the error stream, or the end of a file. Any thread may write. When the
 * path of the file no longer leads to the file that was opened, as after a rotation, lines go to a
 * new file there from then on. Writing checks that, at most once a second.
 */
final class LogOutput implements AutoCloseable {

  private static final long CHECK_NS = 1_000_000_000;

  // Not a channel of java.nio, which an interrupt of the writing thread would close.
  @GuardedBy("this")
  private OutputStream stream;

  private final Path file; // null: the error stream

  @GuardedBy("this")
  private Object fileKey; // identifies the open file

  @GuardedBy("this")
  private long checkedNs = System.nanoTime();

  /** True if the last line may lack its end, as when a disk is full. */
  @GuardedBy("this")
  private boolean unfinished;

  LogOutput(OutputStream stream, Path file) {
    this.stream = stream;
    this.file = file;
    fileKey = keyOf(file);
  }

  /** The identity of the file at this path; null if there is none. */
  private static Object keyOf(Path file) {
    try {
      return file == null ? null : Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    } catch (IOException e) {
      return null;
    }
  }

  static LogOutput errorStream() {
    return new LogOutput(new FileOutputStream(FileDescriptor.err), null);
  }

  static LogOutput file(Path path) {
    try {
      return new LogOutput(new FileOutputStream(path.toFile(), true), path);
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected a file that a log can be written to, got " + e.getMessage());
    }
  }

  /** Writes whole lines, in one piece. */
  synchronized void write(CharSequence lines) throws IOException {
    if (file != null && System.nanoTime() - checkedNs > CHECK_NS) {
      followRotation();
    }
    String text = unfinished ? "\n" + lines : lines.toString();
    unfinished = true;
    stream.write(text.getBytes(StandardCharsets.UTF_8));
    unfinished = false;
  }

  @GuardedBy("this")
  private void followRotation() {
    checkedNs = System.nanoTime();
    if (fileKey != null && fileKey.equals(keyOf(file))) {
      return;
    }
    OutputStream before = stream;
    try {
      stream = new FileOutputStream(file.toFile(), true);
    } catch (IOException e) {
      return; // lines still go to the open file; the next check may succeed
    }
    fileKey = keyOf(file);
    unfinished = false;
    close(before);
  }

  @Override
  public synchronized void close() {
    if (file != null) {
      close(stream);
    }
  }

  private static void close(OutputStream stream) {
    try {
      stream.close();
    } catch (IOException e) {
      // The lines are written; nothing else can be done.
    }
  }
}
