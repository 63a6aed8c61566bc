package io.nereid;

import io.nereid.internal.Checks;
import java.time.Duration;

/**
 * How long the phases of loading a model took.
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

  /** All phases together. */
  public Duration total() {
    return read.plus(parse).plus(session).plus(warmUp);
  }
}
