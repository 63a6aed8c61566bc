package io.nereid.server.shared;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.recording.Shadow;
import io.nereid.recording.ShadowOptions;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compares the shadows among a server's models with their primaries, from when each is loaded until
 * it is unloaded or promoted. Threads that load models call its listener; any thread may ask, and
 * the server closes it.
 */
public final class Shadows implements LifecycleListener, AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.nereid.recording");

  private final Nereid nereid;
  private final ShadowOptions options;
  private final Map<Model, Shadow> running = new ConcurrentHashMap<>();

  Shadows(Nereid nereid, ShadowOptions options) {
    this.nereid = nereid;
    this.options = options;
  }

  @Override
  public void onEvent(ModelEvent event) {
    boolean ready = event instanceof ModelEvent.Ready;
    if (ready || event instanceof ModelEvent.Draining) {
      nereid.models().stream()
          .filter(model -> model.name().equals(event.model()))
          .filter(model -> model.version() == event.version())
          .forEach(model -> {
            end(model); // the old verdict was on the previous load
            if (ready && model.shadowOf().isPresent()) {
              running.put(model, Shadow.start(nereid, model, options));
            }
          });
    }
  }

  /** Ends a comparison without waiting, which would delay a model's load or unload. */
  private void end(Model model) {
    Shadow shadow = running.remove(model);
    if (shadow != null) {
      tell(shadow);
      Thread.startVirtualThread(shadow::close);
    }
  }

  private static void tell(Shadow shadow) {
    Shadow.Verdict verdict = shadow.verdict();
    LOGGER.log(
        Level.INFO,
        "version {0} of model ''{1}'' was compared with version {2}: {3} requests, {4} with other"
            + " answers, {5} that it alone failed; {6} were dropped",
        Long.toString(shadow.model().version()),
        shadow.model().name(),
        Long.toString(verdict.primary()),
        verdict.compared(),
        verdict.differing(),
        verdict.failed(),
        verdict.dropped());
  }

  /** The verdict on a model so far; empty: it is no shadow, or not loaded. */
  public Optional<Shadow.Verdict> verdict(Model model) {
    return Optional.ofNullable(running.get(model)).map(Shadow::verdict);
  }

  @Override
  public void close() {
    nereid.removeListener(this);
    running
        .values()
        .forEach(shadow -> {
          tell(shadow);
          shadow.close();
        });
    running.clear();
  }
}
