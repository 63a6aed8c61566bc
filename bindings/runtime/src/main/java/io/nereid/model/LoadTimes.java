package io.nereid.model;

import io.nereid.internal.Checks;
import java.time.Duration;

/**
 * The times that the phases of loading a model took.
 *
 * @param read reading its directory; zero for a model from code
 * @param parse understanding its configuration
 * @param session opening its backend and the instances
 * @param warmUp executing its warm-up requests
 */
public record LoadTimes(Duration read, Duration parse, Duration session, Duration warmUp) {

  /** Checks that there is something. */
  public LoadTimes {
    Checks.notNull(read, "read");
    Checks.notNull(parse, "parse");
    Checks.notNull(session, "session");
    Checks.notNull(warmUp, "warmUp");
  }

  /** Nothing was done yet. */
  public static final LoadTimes NONE = ofReading(Duration.ZERO, Duration.ZERO);

  /** The times of a model that was read, and is not loaded yet. */
  public static LoadTimes ofReading(Duration read, Duration parse) {
    return new LoadTimes(read, parse, Duration.ZERO, Duration.ZERO);
  }

  /** Returns these times with those of opening the model and warming it up. */
  public LoadTimes withLoading(Duration session, Duration warmUp) {
    return new LoadTimes(read, parse, session, warmUp);
  }

  /** All phases together. */
  public Duration total() {
    return read.plus(parse).plus(session).plus(warmUp);
  }
}
