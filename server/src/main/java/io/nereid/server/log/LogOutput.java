package io.nereid.server.log;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Where lines go: the error stream, or the end of a file. */
final class LogOutput implements AutoCloseable {

  // Not one of java.nio: its channels are closed when a thread that writes is interrupted.
  private final OutputStream stream;
  private final boolean file;

  /** Whether the last line may lack its end, as when a disk is full. */
  private boolean unfinished;

  LogOutput(OutputStream stream, boolean file) {
    this.stream = stream;
    this.file = file;
  }

  static LogOutput errorStream() {
    return new LogOutput(new FileOutputStream(FileDescriptor.err), false);
  }

  static LogOutput file(Path path) {
    try {
      return new LogOutput(new FileOutputStream(path.toFile(), true), true);
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected a file that a log can be written to, got " + e.getMessage());
    }
  }

  /** Whole lines, in one piece. */
  synchronized void write(CharSequence lines) throws IOException {
    String text = unfinished ? "\n" + lines : lines.toString();
    unfinished = true;
    stream.write(text.getBytes(StandardCharsets.UTF_8));
    unfinished = false;
  }

  @Override
  public synchronized void close() {
    if (file) {
      try {
        stream.close();
      } catch (IOException e) {
        // What was written is there; there is nothing else to do about it.
      }
    }
  }
}
