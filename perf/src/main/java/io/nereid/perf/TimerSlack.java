package io.nereid.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * By how much Linux may wake a sleeping thread too late in order to wake several at once: 50 µs.
 */
final class TimerSlack {

  private TimerSlack() {}

  /** For the calling thread; where it cannot be done, its sleeps are that much longer. */
  static void reduce() {
    try {
      Path thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
      Files.writeString(Path.of("/proc", thread.toString(), "timerslack_ns"), "1000");
    } catch (IOException | UnsupportedOperationException e) {
      return; // not Linux, or not allowed
    }
  }
}
