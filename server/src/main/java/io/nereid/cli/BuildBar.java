package io.nereid.cli;

import io.nereid.tensorrt.builder.BuildFraction;
import io.nereid.tensorrt.builder.BuildProgress;
import java.util.Optional;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** A bar on the terminal's error stream while an engine is built; nothing without a terminal. */
final class BuildBar implements BuildProgress, AutoCloseable {

  private static final int PARTS = 1000;

  private final BuildFraction fraction = new BuildFraction();
  private final ProgressBar bar;

  BuildBar(boolean quiet) {
    boolean terminal = System.console() != null && System.console().isTerminal();
    bar = terminal && !quiet ? bar() : null;
  }

  private static ProgressBar bar() {
    return new ProgressBarBuilder()
        .setTaskName("Building")
        .setInitialMax(PARTS)
        .setUpdateIntervalMillis(200)
        .setStyle(ProgressBarStyle.ASCII)
        .clearDisplayOnFinish()
        .build();
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

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
