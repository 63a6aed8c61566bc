package io.nereid.server.shared;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The health of the server: whether the server and its models take requests. */
public final class ServerHealth {

  private final Nereid nereid;
  private final boolean strict;
  private volatile boolean loading;
  private volatile boolean finishing;
  private volatile boolean stopping;
  private volatile boolean live = true;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /**
   * Makes the health of one server.
   *
   * @param strict whether a model without any loaded version makes the server not ready
   * @param loading whether the models of its start are still to be loaded
   */
  ServerHealth(Nereid nereid, boolean strict, boolean loading) {
    this.nereid = nereid;
    this.strict = strict;
    this.loading = loading;
  }

  /** Called when the models of the start are loaded: from now on requests are taken. */
  public void loaded() {
    loading = false;
    listeners.forEach(Runnable::run);
  }

  /** True if {@link #loaded} is still to come. */
  public boolean isLoading() {
    return loading;
  }

  /**
   * Refuses a request about models while these are not known yet.
   *
   * @throws NereidException with {@code UNAVAILABLE} until {@link #loaded}
   */
  public void checkLoaded() {
    if (loading) {
      throw new NereidException(
          StatusCode.UNAVAILABLE, "the server is starting: its models are being loaded");
    }
  }

  /**
   * Makes the server not ready and refuses new requests, except to models with sequences: sequences
   * that have started may go on until {@link #stop}.
   */
  public void finish() {
    finishing = true;
    listeners.forEach(Runnable::run);
  }

  /** Makes the server not ready and refuses all new requests. */
  public void stop() {
    finishing = true;
    stopping = true;
    listeners.forEach(Runnable::run);
  }

  /**
   * Adds a listener, which runs after {@link #loaded}, {@link #finish}, {@link #stop} and {@link
   * #listenerEnded}, on the thread that called them. Changes of models are told by {@link
   * io.nereid.model.LifecycleListener}.
   */
  public void addListener(Runnable listener) {
    listeners.add(listener);
  }

  /** Takes back {@link #addListener}; a listener that is running finishes. */
  public void removeListener(Runnable listener) {
    listeners.remove(listener);
  }

  /** True if {@link #finish} or {@link #stop} was called. */
  public boolean isFinishing() {
    return finishing;
  }

  /** True if {@link #stop} was called. */
  public boolean isStopping() {
    return stopping;
  }

  /** True if a request to the model is refused because the server is about to end. */
  public boolean refuses(Model model) {
    return stopping || (finishing && !model.hasSequences());
  }

  /**
   * Called when a frontend stops listening without {@link #stop}: the process must be restarted.
   */
  public void listenerEnded() {
    if (!finishing) {
      live = false;
      listeners.forEach(Runnable::run);
    }
  }

  /** True if all frontends still run; one that ended does not come back by itself. */
  public boolean isLive() {
    return live;
  }

  /** True if requests are taken and, if strict, all models are well. */
  public boolean isReady() {
    return live && !loading && !finishing && (!strict || modelsAreWell());
  }

  /** True if every version is well, or another version of its model serves. */
  private boolean modelsAreWell() {
    List<Model> models = nereid.models();
    return models.stream()
        .allMatch(model ->
            isWell(model)
                || models.stream()
                    .anyMatch(other ->
                        other.state() == ModelState.READY
                            && other.shadowOf().isEmpty()
                            && other.name().equals(model.name())
                            && other.namespace().equals(model.namespace())));
  }

  /**
   * True unless a version failed or is still loading; an unloaded one, and an ensemble that lacks
   * it, count as well.
   */
  private static boolean isWell(Model model) {
    return switch (model.state()) {
      case READY, DRAINING, UNLOADED, INCOMPLETE -> true;
      case LOADING, FAILED -> false;
    };
  }

  /** True if a version of a model takes requests; version 0: any version. */
  public boolean isReady(String model, long version) {
    return !loading
        && !finishing
        && nereid.models().stream()
            .anyMatch(known ->
                known.name().equals(model)
                    && (version == 0 ? known.shadowOf().isEmpty() : known.version() == version)
                    && known.isReady());
  }

  /**
   * True if the version exists (version 0: any), even if it takes no requests. An unloaded model
   * does not exist.
   */
  public boolean isKnown(String model, long version) {
    return nereid.models().stream()
        .anyMatch(known ->
            known.name().equals(model)
                && (version == 0 || known.version() == version)
                && known.state() != ModelState.UNLOADED);
  }
}
