package io.nereid.internal.model;

import io.nereid.model.LifecycleListener;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelEvent;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Locale;

/**
 * Writes the events of models' lives to the log {@code io.nereid.load}, which can be turned off.
 */
public final class LoadLog implements LifecycleListener {

  private static final Logger LOGGER = System.getLogger("io.nereid.load");

  @Override
  public void onEvent(ModelEvent event) {
    switch (event) {
      case ModelEvent.Ready ready ->
          LOGGER.log(Level.INFO, name(ready) + " is ready after " + text(ready.times()));
      case ModelEvent.Failed failed ->
          LOGGER.log(
              Level.WARNING, name(failed) + " was not loaded: " + failed.cause().getMessage());
      case ModelEvent.Replaced replaced ->
          LOGGER.log(Level.DEBUG, name(replaced) + " was replaced");
      case ModelEvent.Unloaded unloaded -> LOGGER.log(Level.INFO, name(unloaded) + " is unloaded");
      case ModelEvent.Waiting waiting ->
          LOGGER.log(Level.DEBUG, name(waiting) + " is to be loaded");
      case ModelEvent.Loading loading ->
          LOGGER.log(Level.DEBUG, name(loading) + " is being loaded");
      case ModelEvent.Draining draining -> LOGGER.log(Level.DEBUG, name(draining) + " is leaving");
    }
  }

  private static String name(ModelEvent event) {
    String version = event.version() == 0 ? "" : " version " + event.version();
    return "model '" + event.model() + "'" + version;
  }

  private static String text(LoadTimes times) {
    return "%s ms (read %s, parse %s, session %s, warm-up %s)"
        .formatted(
            ms(times.total()),
            ms(times.read()),
            ms(times.parse()),
            ms(times.session()),
            ms(times.warmUp()));
  }

  /** Returns milliseconds, with a digit after the point if that shows something. */
  private static String ms(Duration time) {
    double ms = time.toNanos() / 1e6;
    return ms >= 10 ? Long.toString(Math.round(ms)) : String.format(Locale.ROOT, "%.1f", ms);
  }
}
