package io.nereid.server.grpc;

import java.util.concurrent.TimeUnit;

/**
 * Counts what a client of HTTP/2 sends for nothing: resets, and frames that carry nothing, such as
 * empty DATA, settings, pings, priorities, frames of unknown types. Each frame that carries
 * something makes up for one of the latter. Each method but {@link #carried} gives what is expected
 * of the client once it has sent too many, and null before. For one connection, whose thread calls
 * it.
 */
final class FrameCount {

  /** DATA frames in a row that are empty and do not end their stream. */
  private static final int MAX_EMPTY_DATA = 10;

  /** Resets, and other frames that carry nothing, within the seconds below. */
  static final int MAX_FRAMES = 400;

  /** The seconds after which the count of frames begins anew. */
  static final int WINDOW_SECONDS = 30;

  private int emptyDataCount;
  private int idleCount;
  private int resetCount;
  private long windowStartNs = System.nanoTime();

  /** A frame carried something; those of DATA say so by {@link #data}. */
  void carried() {
    if (idleCount > 0) {
      idleCount--;
    }
  }

  /** A DATA frame carried something, unless it was empty and did not even end its stream. */
  String data(boolean carriesNothing) {
    if (carriesNothing) {
      return ++emptyDataCount > MAX_EMPTY_DATA
          ? atMost(MAX_EMPTY_DATA + " empty DATA frames in a row")
          : null;
    }
    emptyDataCount = 0;
    carried();
    return null;
  }

  /** A stream was reset that was open. */
  String reset() {
    beginWindow();
    return ++resetCount > MAX_FRAMES
        ? atMost(MAX_FRAMES + " resets within " + WINDOW_SECONDS + " s")
        : null;
  }

  /** Another frame carried nothing. */
  String idle() {
    beginWindow();
    return ++idleCount > MAX_FRAMES
        ? atMost(MAX_FRAMES + " frames without content within " + WINDOW_SECONDS + " s")
        : null;
  }

  private void beginWindow() {
    long nowNs = System.nanoTime();
    if (nowNs - windowStartNs > TimeUnit.SECONDS.toNanos(WINDOW_SECONDS)) {
      windowStartNs = nowNs;
      idleCount = 0;
      resetCount = 0;
    }
  }

  private static String atMost(String most) {
    return "expected at most " + most + ", got more";
  }
}
