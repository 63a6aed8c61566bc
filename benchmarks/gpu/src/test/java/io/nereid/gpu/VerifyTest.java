package io.nereid.gpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.gpu.VerifyReport.Outcome;
import io.nereid.tensorrt.TensorRtLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

final class VerifyTest {

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int verify(String... arguments) {
    return Verify.run(arguments, new PrintWriter(out, true), new PrintWriter(err, true));
  }

  @Test
  void withoutAGpuItSaysSoInOneLine() {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isPresent(), "this machine has a GPU, CUDA and TensorRT");
    Path json = directory.resolve("results.json");
    assertEquals(Verify.NO_GPU, verify("--json", json.toString()));
    assertEquals("gpu/verify: no GPU to verify: " + missing.get(), err.toString().strip());
    assertEquals("", out.toString());
    assertFalse(Files.exists(json));
  }

  @Test
  void unknownChecksAreAnError() {
    assertEquals(2, verify("--only", "numerics,speeed"));
    assertTrue(err.toString().contains("expected checks of [build, command,"), err.toString());
  }

  @Test
  void theReportIsATableAndAFile() throws Exception {
    Path json = directory.resolve("results.json");
    VerifyReport report = new VerifyReport(new PrintWriter(out, true), Optional.of(json));
    report.machine("gpu_0", "some GPU");
    report.begin("first");
    report.verify("a number", true, "0.98", ">= 0.97");
    assertEquals(1, rows(json).size(), "written before the next check begins");
    report.begin("second");
    report.verify("another", false, "0.50", ">= 0.90");
    report.skip("a third", "there is only one GPU");
    report.info("a fourth", "12 ms");
    report.close();
    assertEquals(1, report.count(Outcome.FAIL));
    assertTrue(out.toString().contains("1 passed, 1 failed, 1 skipped"), out.toString());
    List<?> rows = rows(json);
    assertEquals(4, rows.size());
    Map<?, ?> second = (Map<?, ?>) rows.get(1);
    assertEquals("second", second.get("check"));
    assertEquals("FAIL", second.get("outcome"));
    assertEquals("0.50", second.get("measured"));
    assertEquals(Map.of("gpu_0", "some GPU"), JSON.std.mapFrom(json.toFile()).get("machine"));
  }

  private static List<?> rows(Path json) throws Exception {
    return (List<?>) JSON.std.mapFrom(json.toFile()).get("rows");
  }

  /** In a rehearsal all of it; on a GPU that takes long, and is what gpu/verify is run for. */
  @Test
  @Tag("gpu")
  @Tag("slow")
  void itPasses() {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isEmpty(), () -> "needs a GPU: " + missing.orElseThrow());
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--directory",
                directory.toString(),
                "--json",
                directory.resolve("results.json").toString()));
    if (Workbench.isRehearsal()) {
      arguments.addAll(List.of("--seconds", "0.2", "--in-flight", "8"));
    } else {
      arguments.addAll(List.of("--only", "numerics,types"));
    }
    int exitCode = verify(arguments.toArray(String[]::new));
    assertEquals(0, exitCode, out.toString() + err);
    assertEquals(Workbench.isRehearsal(), out.toString().contains("no GPU was used"));
  }
}
