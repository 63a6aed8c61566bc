package io.nereid.gpu;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Lists all checks, those first that others build on and that tell the most, and runs them. */
final class Checks {

  /** The code of a check. */
  interface Body {
    void run(Workbench bench, VerifyReport report) throws Exception;
  }

  /**
   * A part of the suite. An exception of a check makes a row that failed; the next check runs all
   * the same. A check that does not end ends the suite.
   *
   * @param name a short name, which {@code --only} takes
   * @param patience how many times the suite's patience it may take
   */
  record Check(String name, int patience, Body body) {}

  /**
   * The factor of patience for a check that builds an engine of many layers first, or measures for
   * long.
   */
  private static final int LONG = 2;

  private static final List<Check> ALL =
      List.of(
          new Check("build", LONG, EngineChecks::engines),
          new Check("command", 1, EngineChecks::command),
          new Check("numerics", 1, EngineChecks::numerics),
          new Check("resnet", 1, EngineChecks::resNet),
          new Check("speed", LONG, SpeedChecks::resNet),
          new Check("graphs", 1, SpeedChecks::graphs),
          new Check("batching", 1, ServingChecks::batching),
          new Check("types", 1, TypeChecks::identities),
          new Check("data-shapes", 1, TypeChecks::dataDependent),
          new Check("cancel", 1, ServingChecks::cancel),
          new Check("reload", 1, ServingChecks::reload),
          new Check("refusals", 1, FailureChecks::refusals),
          new Check("memory", 1, FailureChecks::outOfMemory),
          new Check("leaks", 1, FailureChecks::leaks));

  /** The names of all checks, for the help. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return names().iterator();
    }
  }

  private Checks() {}

  static List<String> names() {
    return ALL.stream().map(Check::name).toList();
  }

  /** The checks that are named, or all where none is; fewer where a name is unknown. */
  static List<Check> named(List<String> named) {
    return named.isEmpty()
        ? ALL
        : ALL.stream().filter(check -> named.contains(check.name())).toList();
  }

  /**
   * Runs checks one after another.
   *
   * @param patience how long one may take, times its own factor
   * @param err for stack traces
   */
  record Runner(Workbench bench, VerifyReport report, Duration patience, PrintWriter err) {

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
            check.body().run(bench, report);
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
}
