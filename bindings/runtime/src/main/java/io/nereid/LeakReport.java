package io.nereid;

import io.nereid.internal.request.Diagnostics;
import io.nereid.statistics.OpenHandle;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Says what was not closed when the runtime was. */
final class LeakReport {

  /** How many places are told: a program that leaks does it at a few. */
  private static final int MOST_PLACES = 16;

  /** The place where something was made, as an exception so that it is printed with the failure. */
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

  private LeakReport() {}

  /**
   * The failure of closing.
   *
   * @param open counts of what is open, in words
   * @param recorded those whose place is known, which are the failure's suppressed exceptions
   */
  static NereidException failure(List<String> open, List<OpenHandle> recorded) {
    Map<List<StackTraceElement>, OpenHandle> places = new LinkedHashMap<>();
    recorded.forEach(handle -> places.putIfAbsent(handle.madeAt(), handle));
    NereidException failure =
        new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "Nereid was closed while requests or responses were open ("
                + String.join(", ", open)
                + "); their memory is gone; "
                + (Diagnostics.RECORDS_LEAKS
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
