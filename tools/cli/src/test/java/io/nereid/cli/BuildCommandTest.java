package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.model.ModelSignature;
import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.TensorRtVersion;
import io.nereid.tensorrt.builder.BuiltEngine;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BuildCommandTest {

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path model;
  private Path plan;

  @BeforeEach
  void makeModel() throws Exception {
    model = Files.write(directory.resolve("model.onnx"), new byte[8]);
    plan = directory.resolve("models/m/1/model.plan");
  }

  private int build(String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("build", model.toString(), "-o", plan.toString()));
    arguments.addAll(List.of(more));
    return Main.run(
        arguments.toArray(String[]::new), new PrintWriter(out, true), new PrintWriter(err, true));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--shapes=data=1x3:2x3          | expected shapes as INPUT=MIN:OPT:MAX",
        "--shapes=a=1:2:3,b             | got 'b'",
        "--workspace=4P                 | expected --workspace in bytes or with K, M, G or T",
        "--optimization-level=9         | an optimization level from 0 to 5, got 9",
        "--weight-streaming             | strongly typed",
      })
  void mistakesAreTold(String option, String message) {
    assertEquals(2, build(option));
    assertTrue(err.toString().contains(message), err.toString());
  }

  @Test
  void precisionsAndStrongTypesExcludeEachOther() {
    assertEquals(2, build("--fp16", "--strongly-typed"));
    assertTrue(err.toString().contains("got [FP16] with it"), err.toString());
  }

  @Test
  void fp8IsNotForOtherGpus() {
    assertEquals(2, build("--fp8", "--hardware-compatible"));
    assertTrue(err.toString().contains("an engine for other GPUs"), err.toString());
  }

  @Test
  void aMissingFileIsOneLine() {
    model = directory.resolve("no.onnx");
    assertEquals(1, build("--fp16"));
    assertTrue(err.toString().contains("no.onnx"), err.toString());
    assertEquals(1, err.toString().lines().count(), err.toString());
  }

  @Test
  void withoutAGpuItIsOneLine() {
    Optional<String> missing = TensorRtLibrary.missing();
    assumeTrue(missing.isPresent(), "this machine has a GPU, CUDA and TensorRT");
    assertEquals(1, build("--best", "--shapes", "a=1:2:3,b=1:2:3", "--shapes", "a=4:5:6,b=1:1:1"));
    assertEquals("nereid: " + missing.get(), err.toString().strip());
    assertFalse(Files.exists(plan.getParent()));
    assertEquals("", out.toString());
  }

  @Test
  void memoryOfAnExecutionIsToldWithAndWithoutItsTime() {
    assertEquals(
        "1 profile, batches up to 8; an execution takes 0.250 ms (median, the first profile's best"
            + " shapes, without copies) and 2.0 MiB of memory",
        BuildCommand.execution(engine(8, Optional.of(Duration.ofNanos(250_000)))));
    assertEquals(
        "1 profile, no batch dimension; an execution takes a time that was not measured and 2.0 MiB"
            + " of memory",
        BuildCommand.execution(engine(0, Optional.empty())));
  }

  private static BuiltEngine engine(long maxBatchSize, Optional<Duration> latency) {
    return new BuiltEngine(
        new ModelSignature(List.of(), List.of(), maxBatchSize),
        1,
        1,
        1,
        2 << 20,
        Duration.ZERO,
        latency,
        new Gpu(0, "a GPU", 9, 0, 1),
        new TensorRtVersion(10, 6, 0));
  }

  @Test
  void theOutputIsAFile() throws Exception {
    Files.createDirectories(plan);
    assertEquals(2, build());
    assertTrue(err.toString().contains("got the directory"), err.toString());
  }

  @Test
  void aVersionsDirectoryHasAModel() {
    Path models = Path.of("/models");
    assertEquals(
        Optional.of(models.resolve("m")),
        BuildCommand.modelDirectory(models.resolve("m/12/model.plan")));
    assertEquals(Optional.empty(), BuildCommand.modelDirectory(models.resolve("m/model.plan")));
    assertEquals(Optional.empty(), BuildCommand.modelDirectory(Path.of("/1/model.plan")));
    assertEquals(Optional.empty(), BuildCommand.modelDirectory(Path.of("/model.plan")));
  }

  @ParameterizedTest
  @CsvSource({
    "17,17",
    "4K,4096",
    "3MiB,3145728",
    "2G,2147483648",
    "1GB,1073741824",
    "500m,524288000",
    "1T,1099511627776"
  })
  void sizes(String text, long bytes) {
    assertEquals(bytes, BuildCommand.bytes("--workspace", text));
  }
}
