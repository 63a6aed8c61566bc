package io.nereid.server.shared;

import io.nereid.Model;
import io.nereid.ModelState;
import io.nereid.Nereid;

/** Whether the server takes requests. */
public final class ServerHealth {

  private final Nereid nereid;
  private final boolean strict;
  private volatile boolean stopping;

  /**
   * For a server whose models are loaded.
   *
   * @param strict whether a model that is broken or still loading makes the server not ready
   */
  public ServerHealth(Nereid nereid, boolean strict) {
    this.nereid = nereid;
    this.strict = strict;
  }

  /** From now on it is not ready, and new requests are refused. */
  public void stop() {
    stopping = true;
  }

  /** Whether {@link #stop} was called. */
  public boolean isStopping() {
    return stopping;
  }

  /** Whether requests are taken, and the models are well as far as that was asked for. */
  public boolean isReady() {
    return !stopping && (!strict || nereid.models().stream().allMatch(ServerHealth::isWell));
  }

  private static boolean isWell(Model model) {
    return switch (model.state()) {
      case READY, DRAINING, UNLOADED -> true;
      case LOADING, FAILED -> false;
    };
  }

  /** Whether a version of a model takes requests; of the whole model with version 0. */
  public boolean isReady(String model, long version) {
    return !stopping
        && nereid.models().stream()
            .anyMatch(known ->
                known.name().equals(model)
                    && (version == 0 || known.version() == version)
                    && known.state() == ModelState.READY);
  }

  /**
   * Whether there is such a version, or any version with version 0, though it may take no requests.
   * What was unloaded is not there.
   */
  public boolean isKnown(String model, long version) {
    return nereid.models().stream()
        .anyMatch(known ->
            known.name().equals(model)
                && (version == 0 || known.version() == version)
                && known.state() != ModelState.UNLOADED);
  }
}
