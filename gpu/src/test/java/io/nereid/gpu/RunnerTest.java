package io.nereid.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.gpu.Row.Outcome;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunnerTest {

  @TempDir Path directory;

  private final StringWriter err = new StringWriter();
  private final Report report = new Report(new PrintWriter(new StringWriter()), Optional.empty());

  private interface Body {
    void run() throws Exception;
  }

  private record Named(String name, int patience, Body body) implements Check {
    @Override
    public void run(Workbench bench, Report report) throws Exception {
      body.run();
      report.info("done", "");
    }
  }

  private List<String> run(Duration patience, Check... checks) {
    new Runner(new Workbench(directory, 1, 1), report, patience, new PrintWriter(err, true))
        .run(List.of(checks));
    return report.rows().stream().map(row -> row.check() + ' ' + row.outcome()).toList();
  }

  @Test
  void whatIsThrownIsARowAndTheNextOneRuns() {
    Check fails =
        new Named(
            "fails",
            1,
            () -> {
              throw new IllegalStateException("it always does");
            });
    assertEquals(
        List.of("fails FAIL", "next INFO"),
        run(Duration.ofMinutes(1), fails, new Named("next", 1, () -> {})));
    assertTrue(err.toString().contains("it always does"), err.toString());
  }

  @Test
  void whatDoesNotEndEndsTheSuite() {
    CountDownLatch never = new CountDownLatch(1);
    Check hangs = new Named("hangs", 2, never::await);
    Check next = new Named("next", 1, () -> {});
    assertEquals(
        List.of("hangs FAIL", "next SKIP", "after SKIP"),
        run(Duration.ofMillis(20), hangs, next, new Named("after", 1, () -> {})));
    assertEquals(1, report.count(Outcome.FAIL));
    assertEquals("'hangs' still runs beside it", report.rows().getLast().measured());
    never.countDown();
  }
}
