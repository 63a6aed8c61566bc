package io.nereid.internal.request;

import io.nereid.statistics.OpenHandle;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Switches for finding mistakes in the use of requests and responses. Both settings are system
 * properties, read once, and off by default; a setting that is off costs nothing, as the compiler
 * leaves its code out.
 */
public final class Diagnostics {

  /** {@code nereid.leaks=record}: each request records the place where it was made. */
  public static final boolean RECORDS_LEAKS = recordsLeaks(System.getProperty("nereid.leaks"));

  /**
   * {@code nereid.checked=true}: segments of requests, responses and batches fail when these were
   * closed, and memory that was given back is overwritten.
   */
  public static final boolean CHECKED = Boolean.getBoolean("nereid.checked");

  /** The most places of leaks in a message: a program leaks at few. */
  private static final int MOST_PLACES = 16;

  private Diagnostics() {}

  private static boolean recordsLeaks(String value) {
    if (value != null && !value.equals("record")) {
      System.getLogger("io.nereid")
          .log(Level.WARNING, "nereid.leaks is ''{0}'', the only value it knows is record", value);
    }
    return "record".equals(value);
  }

  /** The place where a request was made. */
  public record Origin(String thread, List<StackTraceElement> stack) {

    /** The topmost frames that are Nereid's own: this method, and the one that the user called. */
    private static final int OWN_FRAMES = 2;

    /** The place that called the method which calls this. */
    public static Origin ofCaller() {
      StackTraceElement[] stack = new Throwable().getStackTrace();
      int own = Math.min(OWN_FRAMES, stack.length);
      return new Origin(
          Thread.currentThread().getName(), List.of(Arrays.copyOfRange(stack, own, stack.length)));
    }
  }

  /** The place where a handle was made, as an exception, so that it is printed with the failure. */
  private static final class MadeHere extends RuntimeException {

    private static final long serialVersionUID = 1L;

    MadeHere(String message, List<StackTraceElement> stack) {
      super(message, null, false, true);
      setStackTrace(stack.toArray(StackTraceElement[]::new));
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }

    @Override
    public String toString() {
      return getMessage();
    }
  }

  /**
   * The failure of closing a runtime that has open handles.
   *
   * @param open counts of what is open, in words
   * @param recorded handles with known places, which become suppressed exceptions
   */
  public static NereidException leak(List<String> open, List<OpenHandle> recorded) {
    Map<List<StackTraceElement>, OpenHandle> places = new LinkedHashMap<>();
    recorded.forEach(handle -> places.putIfAbsent(handle.madeAt(), handle));
    NereidException failure =
        new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "Nereid was closed while requests or responses were open ("
                + String.join(", ", open)
                + "); their memory is gone; "
                + (RECORDS_LEAKS
                    ? "made at: " + topFrames(places)
                    : "-Dnereid.leaks=record tells where they were made"));
    places.values().stream()
        .limit(MOST_PLACES)
        .forEach(handle -> failure.addSuppressed(new MadeHere(handle.toString(), handle.madeAt())));
    return failure;
  }

  private static String topFrames(Map<List<StackTraceElement>, OpenHandle> places) {
    List<String> frames =
        places.keySet().stream()
            .limit(MOST_PLACES)
            .map(stack -> stack.isEmpty() ? "an unknown place" : stack.getFirst().toString())
            .distinct()
            .toList();
    return String.join(", ", frames);
  }
}
