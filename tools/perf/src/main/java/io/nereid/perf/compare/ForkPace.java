package io.nereid.perf.compare;

/** Hands out settings that suit how busy the machine is. For one thread. */
public final class ForkPace {

  /** Forks that are compared with each other are alike: A B B A. */
  private static final int ALIKE = 4;

  private final Fork.Settings quiet;
  private Fork.Settings current;
  private int count;

  /** For forks that run so where nothing else does. */
  public ForkPace(Fork.Settings quiet) {
    this.quiet = quiet;
  }

  /** The next fork runs so. */
  public Fork.Settings next() {
    if (count++ % ALIKE == 0) {
      current = quiet.under(Machine.load());
    }
    return current;
  }
}
