package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All seeds and a short run over each target; './dev fuzz' has the long ones. */
@Tag("slow")
class FuzzTest {

  private static final int SECONDS = 1;

  @ParameterizedTest
  @EnumSource(FuzzRun.Target.class)
  void chanceFindsNothing(FuzzRun.Target target, @TempDir Path directory) throws Exception {
    assumeTrue(target.isThere(), () -> "there is no " + target.program());
    StringBuilder log = new StringBuilder();
    FuzzRun.Outcome outcome =
        FuzzRun.run(
            target,
            SECONDS,
            directory,
            List.of("-XX:TieredStopAtLevel=1"), // most of a short run is its start
            log);
    assertEquals(0, outcome.status(), log::toString);
    assertEquals(0, outcome.findings(), log::toString);
    assertTrue(outcome.edges() > 0, log::toString); // with what it needs to know where it gets
    assertTrue(outcome.executions() > 0, log::toString);
    assertTrue(outcome.processorSeconds() > 0, log::toString);
  }

  @Test
  void runsAddUp(@TempDir Path directory) throws Exception {
    FuzzTotals.of(directory, directory).add("json", new FuzzRun.Outcome(0, 1000, 50, 1800, 0));
    FuzzTotals.of(directory, directory).add("json", new FuzzRun.Outcome(77, 500, 60, 5400, 1));
    FuzzTotals.of(directory, directory).add("http", new FuzzRun.Outcome(0, 7, 100, 3600, 0));
    FuzzTotals totals = FuzzTotals.of(directory, directory);
    assertEquals(
        List.of(
            "http: 1 runs, 7 inputs tried, 100 edges seen, 0 findings, 1.00 processor-hours",
            "json: 2 runs, 1500 inputs tried, 60 edges seen, 1 findings, 2.00 processor-hours",
            "all: 3 runs, 1507 inputs tried, 160 edges seen, 1 findings, 3.00 processor-hours"),
        totals.toString().lines().toList());
  }
}
