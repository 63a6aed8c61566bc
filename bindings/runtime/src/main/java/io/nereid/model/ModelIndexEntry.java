package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.OptionalLong;

/**
 * A version of a model in the repository's index.
 *
 * @param name the model's name
 * @param version the version; empty for a model that was never loaded, or that is broken as a whole
 * @param state whether it takes requests
 * @param reason the reason why it does not; else empty
 */
public record ModelIndexEntry(String name, OptionalLong version, State state, String reason) {

  /** The states of the repository extension. */
  public enum State {
    /** The version was never loaded. */
    UNKNOWN,
    /** It takes requests. */
    READY,
    /** It is being loaded for the first time. */
    LOADING,
    /** The version finishes its open requests. */
    UNLOADING,
    /** It takes no requests. */
    UNAVAILABLE
  }

  /** Checks that there is something. */
  public ModelIndexEntry {
    Checks.notNull(name, "name");
    Checks.notNull(version, "version");
    Checks.notNull(state, "state");
    Checks.notNull(reason, "reason");
  }
}
