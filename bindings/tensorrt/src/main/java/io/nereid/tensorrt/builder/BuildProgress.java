package io.nereid.tensorrt.builder;

import java.util.Optional;

/** Told how far a build is; from any thread, also from several at once. */
public interface BuildProgress {

  /** The progress that nobody wants to know of. */
  BuildProgress NONE = new BuildProgress() {};

  /** A phase begins; {@code parent} is the one that it is part of. */
  default void started(String phase, Optional<String> parent, int steps) {}

  /** A step of a phase is done, from 0. Returns whether to go on; otherwise the build ends. */
  default boolean step(String phase, int step) {
    return true;
  }

  /** A phase ends, perhaps before all of its steps. */
  default void finished(String phase) {}
}
