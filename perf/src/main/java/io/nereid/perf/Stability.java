package io.nereid.perf;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Whether windows agree.
 *
 * @param tolerance by which fraction a window may differ from their mean
 */
record Stability(double tolerance) {

  /** What of a window is compared. */
  record Window(double requestsPerSecond, double latencyNs) {}

  /** Of the last ones. */
  boolean agree(List<Window> windows) {
    if (windows.size() < MeasureOptions.AGREEING) {
      return false;
    }
    List<Window> last = windows.subList(windows.size() - MeasureOptions.AGREEING, windows.size());
    return agree(last, Window::requestsPerSecond) && agree(last, Window::latencyNs);
  }

  private boolean agree(List<Window> windows, ToDoubleFunction<Window> value) {
    double mean = windows.stream().mapToDouble(value).average().orElseThrow();
    return mean > 0
        && windows.stream()
            .mapToDouble(value)
            .allMatch(one -> Math.abs(one - mean) <= tolerance * mean);
  }
}
