package io.nereid.model;

/** Hears of models being loaded and unloaded. */
@FunctionalInterface
public interface LifecycleListener {

  /**
   * Called on the thread that loads or unloads, which waits for it: be quick. An exception is
   * logged and otherwise ignored.
   */
  void onEvent(ModelEvent event);
}
