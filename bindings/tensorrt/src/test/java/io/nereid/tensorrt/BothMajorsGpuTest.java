package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plans of TensorRT 10 and 11 in one process, which has JavaCPP's classes for both. */
class BothMajorsGpuTest extends GpuTest {

  @BeforeEach
  void needsBoth() {
    assumeTrue(TensorRtMajor.HERE == TensorRtMajor.TEN, "the build has jars for 11 beside those");
    assertTrue(OtherMajor.find().isPresent(), () -> "no jars are in " + OtherMajor.directory());
    Optional<?> missing = OtherMajor.find().orElseThrow().missing();
    assumeTrue(Rehearsal.find().isPresent() || missing.isEmpty(), () -> "needs both: " + missing);
    assertEquals(Optional.empty(), missing);
  }

  /** Builds a plan by the other one, in a process that has its jars on the class path. */
  private Path plansOfOther() throws IOException, InterruptedException {
    Path plan = directory.resolve("other.plan");
    String classPath = System.getProperty("java.class.path");
    try (Stream<Path> jars = Files.list(OtherMajor.directory())) {
      String other =
          Stream.concat(
                  Arrays.stream(classPath.split(File.pathSeparator))
                      .filter(entry -> !entry.contains("bytedeco")),
                  jars.map(Path::toString))
              .collect(Collectors.joining(File.pathSeparator));
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin/java").toString(),
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  other,
                  PlanMaker.class.getName(),
                  plan.toString())
              .inheritIO()
              .start();
      assertEquals(0, process.waitFor());
    }
    return plan;
  }

  /** The doubler as a plan of the version that the class path has. */
  static final class PlanMaker {
    private PlanMaker() {}

    public static void main(String[] args) throws IOException {
      TensorRtLibrary.load();
      try (NetworkBuilder builder = NetworkBuilder.create()) {
        doubler(builder);
        rows(builder, 1, 2, 8);
        builder.write(Path.of(args[0]));
      }
    }
  }

  private Path ownPlan() {
    return plan(builder -> {
      doubler(builder);
      rows(builder, 1, 2, 8);
    });
  }

  @Test
  void eachPlanIsExecutedByTheVersionThatBuiltIt() throws Exception {
    Path own = ownPlan();
    Path other = plansOfOther();
    assertEquals(
        OtherMajor.MAJOR.number(),
        PlanFile.builtBy("m", TensorRtOptions.of(spec(other).build())).orElseThrow().major());
    Model ofOwn = nereid.load(doublerSpec(own, 8).build());
    Model ofOther =
        nereid.load(
            ModelSpec.builder("other")
                .backend("tensorrt")
                .parameter("model_path", other.toString())
                .parameter("optimization.cuda.graphs", "true")
                .instances(onFirstGpu())
                .maxBatchSize(8)
                .input("x", io.nereid.types.DataType.FP32, 4)
                .output("y", io.nereid.types.DataType.FP32, 4)
                .build());
    for (int i = 0; i < 10; i++) {
      assertDoubles(ofOwn, i);
      assertDoubles(ofOther, -i);
    }
    assertTrue(TensorRtBackend.graphStatistics("other", 1).graphs() > 0);
    assertEquals(0, TensorRtBackend.graphStatistics("m", 1).graphs());
  }

  @Test
  void aConfigurationIsCompletedByTheOtherVersion() throws Exception {
    Path repository = repository(plansOfOther(), "");
    nereid.close();
    nereid = Nereid.open(repository);
    Model model = nereid.model("m");
    assertDoubles(model, 3);
  }

  @Test
  void aPlanOfTheOtherVersionThatIsCutOffIsRefused() throws Exception {
    Path other = plansOfOther();
    byte[] whole = Files.readAllBytes(other);
    Files.write(other, Arrays.copyOf(whole, whole.length / 2));
    NereidException e =
        assertThrows(NereidException.class, () -> nereid.load(doublerSpec(other, 8).build()));
    assertTrue(e.getMessage().contains("TensorRT 11"), e.getMessage());
    assertTrue(e.getMessage().contains("NEREID_TENSORRT=11 ./nereid build"), e.getMessage());
  }
}
