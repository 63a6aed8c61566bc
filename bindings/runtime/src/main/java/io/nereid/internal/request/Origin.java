package io.nereid.internal.request;

import java.util.Arrays;
import java.util.List;

/** Where a request was made. */
public record Origin(String thread, List<StackTraceElement> stack) {

  /** Frames of Nereid's own on top: this, and the method that the user called. */
  private static final int OWN_FRAMES = 2;

  /** Of the method that calls, its caller. */
  public static Origin ofCaller() {
    StackTraceElement[] stack = new Throwable().getStackTrace();
    int own = Math.min(OWN_FRAMES, stack.length);
    return new Origin(
        Thread.currentThread().getName(), List.of(Arrays.copyOfRange(stack, own, stack.length)));
  }
}
