package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The last lines of {@code ./dev test}. */
class TestSummaryTest {

  private static final String RUN =
      "set -euo pipefail; root=$1; . ../../.dev/summary.sh; "
          + "run() { trap \"print_test_summary \\$? $SECONDS\" EXIT; ACTION; }; run";

  @TempDir private Path root;

  @BeforeEach
  void makeReports() throws IOException {
    report(
        "bindings/a/target/surefire-reports/TEST-A.xml",
        "<testsuite xmlns:x=\"y\" name=\"A\" time=\"0.1\" tests=\"9\" errors=\"1\" skipped=\"2\""
            + " failures=\"1\"><testcase name=\"<tests='7'\"/></testsuite>");
    report(
        "b/target/surefire-reports/TEST-B.xml",
        "<testsuite name=\"B\" tests=\"5\" errors=\"0\" skipped=\"0\" failures=\"0\"/>");
    report(
        "build/asan/ctest.xml",
        "<testsuite name=\"(empty)\"\n\ttests=\"20\"\n\tfailures=\"0\"\n\tdisabled=\"1\"\n"
            + "\tskipped=\"0\"\n/>");
    report("build/bench/trees/c/target/surefire-reports/TEST-C.xml", "<testsuite tests=\"100\"/>");
  }

  private void report(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "<?xml version=\"1.0\"?>\n" + text);
  }

  private List<String> run(String action, int status) throws Exception {
    Process process =
        new ProcessBuilder("bash", "-c", RUN.replace("ACTION", action), "run", root.toString())
            .redirectErrorStream(true)
            .start();
    String printed =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertEquals(status, process.waitFor(), printed);
    return printed.lines().toList();
  }

  @Test
  void theLastLinesAreTheSums() throws Exception {
    assertEquals(
        List.of(
            "passed 29, failed 2, skipped 3, in 0 minutes",
            "tests: 29 passed, 2 failed, 3 skipped"),
        run("exit 7", 7));
  }

  @Test
  void aRunThatFailsWithoutATestHasFailedOnce() throws Exception {
    run("remove_test_reports", 0);
    assertEquals("tests: 0 passed, 1 failed, 0 skipped", run("false", 1).getLast());
    assertEquals("tests: 0 passed, 0 failed, 0 skipped", run("true", 0).getLast());
  }
}
