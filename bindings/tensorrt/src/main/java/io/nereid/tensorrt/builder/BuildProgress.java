package io.nereid.tensorrt.builder;

import java.util.Optional;

/** Receives the progress of a build; any thread may call, also several at once. */
public interface BuildProgress {

  /** Ignores progress. */
  BuildProgress NONE = new BuildProgress() {};

  /** Called when a phase begins; {@code parent} is the enclosing phase. */
  default void started(String phase, Optional<String> parent, int steps) {}

  /**
   * Called when a step of a phase, counted from 0, is done. Returns whether to go on; false ends
   * the build.
   */
  default boolean step(String phase, int step) {
    return true;
  }

  /** Called when a phase ends, perhaps before all of its steps. */
  default void finished(String phase) {}
}
