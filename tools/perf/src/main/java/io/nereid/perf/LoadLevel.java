package io.nereid.perf;

import java.util.Locale;

/**
 * A level of load.
 *
 * @param concurrency senders of a closed loop; 0: an open loop
 * @param ratePerSecond the rate of an open loop
 * @param poisson whether its gaps are random
 * @param mostSenders how many requests may be under way
 */
record LoadLevel(int concurrency, double ratePerSecond, boolean poisson, int mostSenders) {

  static LoadLevel closed(int concurrency) {
    return new LoadLevel(concurrency, 0, false, concurrency);
  }

  static LoadLevel open(double ratePerSecond, boolean poisson, int mostSenders) {
    return new LoadLevel(0, ratePerSecond, poisson, mostSenders);
  }

  boolean isOpenLoop() {
    return concurrency == 0;
  }

  /** The number that a range varies. */
  double value() {
    return isOpenLoop() ? ratePerSecond : concurrency;
  }

  /** Such as {@code concurrency 8}. */
  String label() {
    return isOpenLoop()
        ? (poisson ? "poisson " : "rate ") + rate() + "/s"
        : "concurrency " + concurrency;
  }

  private String rate() {
    return ratePerSecond >= 100 || ratePerSecond == Math.rint(ratePerSecond)
        ? String.format(Locale.ROOT, "%.0f", ratePerSecond)
        : String.format(Locale.ROOT, "%.2f", ratePerSecond);
  }
}
