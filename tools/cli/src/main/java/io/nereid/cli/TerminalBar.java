package io.nereid.cli;

import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.tensorrt.builder.BuildFraction;
import io.nereid.tensorrt.builder.BuildProgress;
import java.util.Optional;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Shows a progress bar on the terminal's error stream; nothing without a terminal. */
abstract sealed class TerminalBar implements AutoCloseable {

  /** The bar; null: there is no terminal, or bars are turned off. */
  final ProgressBar bar;

  private TerminalBar(String name, int steps, int intervalMs, boolean wanted) {
    boolean terminal = wanted && System.console() != null && System.console().isTerminal();
    bar =
        terminal
            ? new ProgressBarBuilder()
                .setTaskName(name)
                .setInitialMax(steps)
                .setUpdateIntervalMillis(intervalMs)
                .setStyle(ProgressBarStyle.ASCII)
                .clearDisplayOnFinish()
                .build()
            : null;
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }

  /** Counts loaded models on a bar. The threads that load models call it. */
  static final class OfLoads extends TerminalBar implements LifecycleListener {

    OfLoads() {
      super("Loading", 0, 100, true);
    }

    /** Shows the progress of fetching. */
    synchronized void show(String text) {
      if (bar != null) {
        bar.setExtraMessage(text);
      }
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
  }

  /** Shows the progress of building an engine. The building thread calls it. */
  static final class OfBuild extends TerminalBar implements BuildProgress {

    private static final int PARTS = 1000;

    private final BuildFraction fraction = new BuildFraction();

    OfBuild(boolean quiet) {
      super("Building", PARTS, 200, !quiet);
    }

    @Override
    public void started(String phase, Optional<String> parent, int steps) {
      fraction.started(phase, parent, steps);
      show();
    }

    @Override
    public boolean step(String phase, int step) {
      fraction.step(phase, step);
      show();
      return true;
    }

    @Override
    public void finished(String phase) {
      fraction.finished(phase);
      show();
    }

    private void show() {
      if (bar != null) {
        bar.stepTo(Math.round(fraction.value() * PARTS));
        bar.setExtraMessage(fraction.innermost());
      }
    }
  }
}
