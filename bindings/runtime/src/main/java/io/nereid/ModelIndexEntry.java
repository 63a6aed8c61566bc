package io.nereid;

import io.nereid.internal.Checks;
import java.util.OptionalLong;

/**
 * A version of a model in the repository's index.
 *
 * @param name the model's name
 * @param version the version; empty for a model that was never loaded, or that is broken as a whole
 * @param state whether it takes requests
 * @param reason why it does not; empty when there is nothing to say
 */
public record ModelIndexEntry(String name, OptionalLong version, State state, String reason) {

  /** The states of the repository extension. */
  public enum State {
    /** It was never loaded. */
    UNKNOWN,
    /** It takes requests. */
    READY,
    /** It is being loaded for the first time. */
    LOADING,
    /** It finishes what it has. */
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
