package io.nereid.benchmarks.compare;

/** What is said of a ratio. */
enum Verdict {
  /** More than the threshold, seen in two batches of forks that know nothing of each other. */
  SLOWER("SLOWER"),
  /** The first batch said so, the second did not. */
  NOT_CONFIRMED("slower, not confirmed"),
  FASTER("faster"),
  /** Whatever change there is, it is small or not to be told from noise. */
  NO_CHANGE("no change"),
  /** Too few pairs for an interval. */
  UNKNOWN("too few forks");

  private final String label;

  Verdict(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }
}
