package io.nereid.perf;

import java.io.PrintWriter;

/**
 * Shows progress on the error stream: one changing line on a terminal, nothing elsewhere, where the
 * results come line by line.
 */
final class Progress {

  private static final String REPLACE_LINE = "\r\u001b[K";

  private final PrintWriter err; // null: quiet
  private boolean shown;

  private Progress(PrintWriter err) {
    this.err = err;
  }

  static Progress on(PrintWriter err) {
    return new Progress(err);
  }

  static Progress none() {
    return new Progress(null);
  }

  static boolean isTerminal() {
    return System.console() != null;
  }

  void live(String text) {
    if (err != null) {
      err.print(REPLACE_LINE + text);
      err.flush();
      shown = true;
    }
  }

  /** Clears the line, before other output. */
  void clear() {
    if (shown) {
      err.print(REPLACE_LINE);
      err.flush();
      shown = false;
    }
  }
}
