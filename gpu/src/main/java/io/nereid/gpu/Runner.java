package io.nereid.gpu;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs checks one after another.
 *
 * @param patience how long one may take, times its own factor
 * @param err for stack traces
 */
record Runner(Workbench bench, Report report, Duration patience, PrintWriter err) {

  /** All of them, up to one that does not end: what runs beside it would measure both. */
  void run(List<Check> checks) {
    String running = "";
    for (Check check : checks) {
      report.begin(check.name());
      if (!running.isEmpty()) {
        report.skip("not begun", "'" + running + "' still runs beside it");
      } else if (!ends(check)) {
        running = check.name();
      }
    }
  }

  /** On a thread of its own, so that what was seen is told whether or not it ends. */
  private boolean ends(Check check) {
    FutureTask<Void> task =
        new FutureTask<>(() -> {
          check.run(bench, report);
          return null;
        });
    Thread.ofPlatform().name("nrd-verify").daemon().start(task);
    Duration most = patience.multipliedBy(check.patience());
    try {
      task.get(most.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException e) {
      report.fail("the check itself", String.valueOf(e.getCause()), "no exception");
      e.getCause().printStackTrace(err);
      return true;
    } catch (TimeoutException e) {
      report.fail(
          "the check itself",
          "no end after " + most.toSeconds() + " s, so nothing after it is begun",
          "an end");
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      report.fail("the check itself", "interrupted", "an end");
      return false;
    }
  }
}
