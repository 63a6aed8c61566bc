package io.nereid;

import java.time.Duration;
import java.util.Objects;

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
    Objects.requireNonNull(read);
    Objects.requireNonNull(parse);
    Objects.requireNonNull(session);
    Objects.requireNonNull(warmUp);
  }

  /** All phases together. */
  public Duration total() {
    return read.plus(parse).plus(session).plus(warmUp);
  }
}
