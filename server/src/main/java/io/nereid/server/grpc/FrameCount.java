package io.nereid.server.grpc;

import java.util.concurrent.TimeUnit;

/**
 * Counts useless frames of an HTTP/2 client: resets, and frames without content, such as empty
 * DATA, settings, pings, priorities, unknown types. Each frame with content makes up for one of the
 * latter. All methods but {@link #carried} return null or, once there are too many, the rule that
 * the client broke. For one connection, whose thread calls it.
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

  /** Counts a frame with content, other than DATA. */
  void carried() {
    if (idleCount > 0) {
      idleCount--;
    }
  }

  /** Counts a DATA frame; {@code carriesNothing}: it was empty and did not end its stream. */
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

  /** Counts the reset of an open stream. */
  String reset() {
    beginWindow();
    return ++resetCount > MAX_FRAMES
        ? atMost(MAX_FRAMES + " resets within " + WINDOW_SECONDS + " s")
        : null;
  }

  /** Counts another frame without content. */
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
