package io.nereid.cli;

import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** A bar on the terminal's error stream while models load; nothing where there is no terminal. */
final class LoadProgress implements LifecycleListener, AutoCloseable {

  private final ProgressBar bar;

  LoadProgress() {
    boolean terminal = System.console() != null && System.console().isTerminal();
    bar = terminal ? bar() : null;
  }

  private static ProgressBar bar() {
    return new ProgressBarBuilder()
        .setTaskName("Loading")
        .setInitialMax(0)
        .setUpdateIntervalMillis(100)
        .setStyle(ProgressBarStyle.ASCII)
        .clearDisplayOnFinish()
        .build();
  }

  @Override
  public synchronized void onEvent(ModelEvent event) {
    if (bar == null) {
      return;
    }
    switch (event) {
      case ModelEvent.Waiting waiting -> bar.maxHint(bar.getMax() + 1);
      case ModelEvent.Loading loading -> bar.setExtraMessage(loading.model());
      case ModelEvent.Ready ready -> bar.step();
      case ModelEvent.Failed failed -> bar.step();
      case ModelEvent.Replaced replaced -> {}
      case ModelEvent.Draining draining -> {}
      case ModelEvent.Unloaded unloaded -> {}
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
