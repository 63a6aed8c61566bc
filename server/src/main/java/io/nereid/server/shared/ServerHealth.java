package io.nereid.server.shared;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The health of the server: whether it takes requests, and which models do. */
public final class ServerHealth {

  private final Nereid nereid;
  private final boolean strict;
  private volatile boolean loading;
  private volatile boolean finishing;
  private volatile boolean stopping;
  private volatile boolean live = true;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /**
   * For one server.
   *
   * @param strict whether a model none of whose versions could be loaded, or is loaded yet, makes
   *     the server not ready
   * @param loading whether the models of its start are still to be loaded
   */
  ServerHealth(Nereid nereid, boolean strict, boolean loading) {
    this.nereid = nereid;
    this.strict = strict;
    this.loading = loading;
  }

  /** The models of the start are there: from now on requests are taken. */
  public void loaded() {
    loading = false;
    listeners.forEach(Runnable::run);
  }

  /** True if {@link #loaded} is still to come. */
  public boolean isLoading() {
    return loading;
  }

  /**
   * Ends a request about models while it is not known which there are.
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
   * From now on it is not ready, and new requests are refused, but for those of models with
   * sequences: sequences that have started may go on until {@link #stop}.
   */
  public void finish() {
    finishing = true;
    listeners.forEach(Runnable::run);
  }

  /** From now on it is not ready, and new requests are refused. */
  public void stop() {
    finishing = true;
    stopping = true;
    listeners.forEach(Runnable::run);
  }

  /**
   * Runs after {@link #loaded}, {@link #finish}, {@link #stop} and {@link #listenerEnded}, on the
   * thread that called them. Changes of models are told by {@link
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

  /** A frontend listens no more although nobody stopped it: the process has to begin anew. */
  public void listenerEnded() {
    if (!finishing) {
      live = false;
      listeners.forEach(Runnable::run);
    }
  }

  /** True if all that was begun still runs; what does not will not by itself. */
  public boolean isLive() {
    return live;
  }

  /** True if requests are taken, and the models are well as far as that was asked for. */
  public boolean isReady() {
    return live && !loading && !finishing && (!strict || modelsAreWell());
  }

  /** A version that was not loaded takes nothing away while another one of its model serves. */
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

  /** A model that was unloaded is not missing, and neither is one that needs it. */
  private static boolean isWell(Model model) {
    return switch (model.state()) {
      case READY, DRAINING, UNLOADED, INCOMPLETE -> true;
      case LOADING, FAILED -> false;
    };
  }

  /** True if a version of a model takes requests; of the whole model with version 0. */
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
   * True if there is such a version, or any version with version 0, though it may take no requests.
   * A model that was unloaded is not there.
   */
  public boolean isKnown(String model, long version) {
    return nereid.models().stream()
        .anyMatch(known ->
            known.name().equals(model)
                && (version == 0 || known.version() == version)
                && known.state() != ModelState.UNLOADED);
  }
}
