package io.nereid.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.gpu.Checks.Check;
import io.nereid.gpu.VerifyReport.Outcome;
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
  private final VerifyReport report =
      new VerifyReport(new PrintWriter(new StringWriter()), Optional.empty());

  private interface Body {
    void run() throws Exception;
  }

  private static Check check(String name, int patience, Body body) {
    return new Check(
        name,
        patience,
        (bench, report) -> {
          body.run();
          report.info("done", "");
        });
  }

  private List<String> run(Duration patience, Check... checks) {
    new Checks.Runner(new Workbench(directory, 1, 1), report, patience, new PrintWriter(err, true))
        .run(List.of(checks));
    return report.rows().stream().map(row -> row.check() + ' ' + row.outcome()).toList();
  }

  @Test
  void anExceptionIsARowAndTheNextBenchmarkRuns() {
    Check fails =
        check(
            "fails",
            1,
            () -> {
              throw new IllegalStateException("it always does");
            });
    assertEquals(
        List.of("fails FAIL", "next INFO"),
        run(Duration.ofMinutes(1), fails, check("next", 1, () -> {})));
    assertTrue(err.toString().contains("it always does"), err.toString());
  }

  @Test
  void aBenchmarkThatDoesNotEndEndsTheSuite() {
    CountDownLatch never = new CountDownLatch(1);
    Check hangs = check("hangs", 2, never::await);
    Check next = check("next", 1, () -> {});
    assertEquals(
        List.of("hangs FAIL", "next SKIP", "after SKIP"),
        run(Duration.ofMillis(20), hangs, next, check("after", 1, () -> {})));
    assertEquals(1, report.count(Outcome.FAIL));
    assertEquals("'hangs' still runs beside it", report.rows().getLast().measured());
    never.countDown();
  }
}
