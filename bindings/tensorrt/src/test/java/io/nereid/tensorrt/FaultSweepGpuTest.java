package io.nereid.tensorrt;

import static io.nereid.tensorrt.NetworkBuilder.dims;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.BuildProgress;
import io.nereid.tensorrt.builder.EngineBuilder;
import io.nereid.tensorrt.builder.OnnxFile;
import io.nereid.tensorrt.builder.ShapeRange;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.bytedeco.tensorrt.global.nvinfer.BuilderFlag;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each call of CUDA and TensorRT that a life of models makes is made to fail, the first time and
 * the last: what comes of it is a right answer or an error in Nereid's words, nothing is left, and
 * the next life goes well. Only in a rehearsal: a GPU fails when it likes.
 */
@Tag("slow")
class FaultSweepGpuTest extends GpuTest {

  private static final Path MODEL = Path.of("../../examples/models/digits/1/model.onnx");

  private static final int OUT_OF_MEMORY = 2;

  /** Of work that fails when it runs: the device is broken from there on. */
  private static final int LAUNCH_FAILED = 719;

  private static final String LATE = "~late";

  private static final int FIRST = 4;

  private Rehearsal rehearsal;

  @BeforeEach
  void needsRehearsal() {
    assumeTrue(
        Rehearsal.find().isPresent(),
        "needs test-doubles/rehearsal in place of NVIDIA's libraries");
    rehearsal = Rehearsal.find().orElseThrow();
  }

  @AfterEach
  void reset() {
    if (rehearsal != null) {
      rehearsal.reset();
    }
  }

  @Test
  void whateverFailsTheNextLifeGoesWell() throws Exception {
    life(); // what is made once is there from here on
    Map<String, Long> before = rehearsal.calls();
    life();
    Map<String, Long> after = rehearsal.calls();
    List<String> wrong = new ArrayList<>();
    for (String call : after.keySet()) {
      long count = after.get(call) - before.getOrDefault(call, 0L);
      // The first ones, a capture's among them, and the last; none of what is made once.
      for (long nth = 1; nth <= count; nth = nth < FIRST || nth == count ? nth + 1 : count) {
        String said = failing(call, nth);
        if (!said.isEmpty()) {
          wrong.add(call + ":" + nth + ": " + said);
        }
      }
    }
    assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
  }

  /** The requests go on without one, whatever it is that fails. */
  @ParameterizedTest
  @CsvSource({
    "cudaStreamBeginCapture, 1",
    "IExecutionContext::enqueueV3, 3", // of the batch, before the capture, in it
    "cudaStreamEndCapture, 1",
    "cudaGraphInstantiate, 1",
    "cudaGraphDestroy, 1"
  })
  void aGraphThatCannotBeCapturedIsDoneWithout(String call, long nth) {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 4, 8);
        });
    Model model =
        nereid.load(
            doublerSpec(plan, 8)
                .parameter("optimization.cuda.graphs", "true")
                .parameter("batches_in_flight", "1")
                .build());
    long before = rehearsal.calls().getOrDefault(call, 0L);
    rehearsal.fail(call, nth, OUT_OF_MEMORY);
    for (int i = 0; i < 4; i++) {
      assertDoubles(model, i);
    }
    assertTrue(rehearsal.calls().get(call) >= before + nth, "it was called");
    assertEquals(0, rehearsal.misuses());
  }

  /** What is wrong with the life in which a call fails, and with what is left after it. */
  private String failing(String call, long nth) throws Exception {
    Set<String> before = whatIsOpen();
    rehearsal.fail(call, nth, call.endsWith(LATE) ? LAUNCH_FAILED : OUT_OF_MEMORY);
    String said = "";
    try {
      life();
    } catch (NereidException e) {
      said = e.getMessage() == null || e.getMessage().isBlank() ? "an error without words" : "";
    } catch (Exception | AssertionError e) {
      said = e.toString();
    }
    if (rehearsal.misuses() > 0) {
      said += rehearsal.report();
    }
    rehearsal.reset();
    Set<String> left = whatIsOpen();
    left.removeAll(before);
    if (call.startsWith("cuCtxPushCurrent")) { // without a context no pages can be unlocked
      left.removeIf(line -> line.contains("page lock"));
    }
    if (Engines.count() != 0 || !left.isEmpty()) {
      said += " left: " + left;
    }
    return said;
  }

  /** What is open when nothing is kept for later. */
  private Set<String> whatIsOpen() {
    memory().trim();
    return rehearsal.report().lines().collect(Collectors.toCollection(TreeSet::new));
  }

  /** Models are built, loaded, asked and unloaded. */
  private void life() throws Exception {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 4, 8);
        });
    try (Nereid own = Nereid.create()) {
      Model model =
          own.load(
              doublerSpec(plan, 8)
                  .parameter("optimization.cuda.graphs", "true")
                  .parameter("batches_in_flight", "1")
                  .build());
      for (int i = 0; i < 3; i++) {
        assertDoubles(model, i);
      }
    }
    Path positions =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT, -1);
          builder.output("positions", builder.network().addNonZero(x));
          builder.profile(profile -> profile.shapes("x", dims(1), dims(8), dims(16)));
        });
    try (Nereid own = Nereid.create()) {
      Model model =
          own.load(
              spec(positions)
                  .input("x", io.nereid.types.DataType.FP32, -1)
                  .output("positions", io.nereid.types.DataType.INT32, 1, -1)
                  .build());
      try (InferRequest request =
              model.newRequest().input("x", Tensor.ofFloats(new float[] {0, 1, 1, 0}, 4));
          InferResponse response = request.infer()) {
        assertEquals(2, response.output("positions").dim(1));
        assertEquals(1, response.output("positions").intAt(0));
      }
    }
    sequence();
    build();
    refit();
  }

  /** A plan gets its weights from a file of safetensors, and one from an ONNX file. */
  private void refit() throws IOException {
    Path plan = plan(builder -> RefitGpuTest.weighted(builder, BuilderFlag.kREFIT));
    Path weights = RefitGpuTest.weights(directory.resolve("model.safetensors"), 2, 0);
    try (Nereid own = Nereid.create()) {
      assertDoubles(own.load(doublerSpec(plan, 8).build()), 1);
    } finally {
      Files.delete(weights);
    }
    Path built = directory.resolve("built.plan");
    try (Nereid own = Nereid.create()) {
      own.load(
          spec(built)
              .parameter("weights", MODEL.getFileName().toString())
              .input("image", io.nereid.types.DataType.FP32, -1, 8, 8)
              .output("scores", io.nereid.types.DataType.FP32, -1, 10)
              .build());
    }
  }

  /** A state goes from one request to the next, and two of them are left when the model goes. */
  private void sequence() {
    Path plan = plan(SequenceGpuTest::adder);
    try (Nereid own = Nereid.create()) {
      Model model = own.load(SequenceGpuTest.adderSpec(plan).build());
      try {
        for (long id = 1; id <= 2; id++) {
          Model.Sequence sequence = model.sequence(id);
          assertEquals(id, SequenceGpuTest.next(sequence, id));
          assertEquals(2 * id, SequenceGpuTest.next(sequence, id));
        }
      } finally {
        own.finishSequences(Duration.ZERO); // nobody ends them, and closing would wait for it
      }
    }
  }

  /** As the command does it. */
  private void build() throws IOException {
    Path plan = directory.resolve("built.plan");
    if (Files.notExists(directory.resolve("model.onnx"))) {
      Files.copy(MODEL, directory.resolve("model.onnx"));
    }
    Files.deleteIfExists(plan);
    // @start region="build"
    EngineBuilder.build(
        new OnnxFile(MODEL),
        BuildOptions.builder()
            .profiles(List.of(List.of(ShapeRange.parse("image=1x8x8:2x8x8:8x8x8"))))
            .refittable(true)
            .timingCache(directory.resolve("timing.cache"))
            .build(),
        plan,
        BuildProgress.NONE);
    // @end
    assertFalse(Files.size(plan) == 0);
  }
}
