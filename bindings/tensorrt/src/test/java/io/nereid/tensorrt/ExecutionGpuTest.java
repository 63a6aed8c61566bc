package io.nereid.tensorrt;

import static io.nereid.tensorrt.NetworkBuilder.dims;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.model.DynamicBatching;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches, graphs, and the end of memory. */
class ExecutionGpuTest extends GpuTest {

  private static final int REQUESTS = 256;

  private Path doublerPlan(long maxRows) {
    return plan(builder -> {
      doubler(builder);
      rows(builder, 1, Math.min(8, maxRows), maxRows);
    });
  }

  private static void assertManyDouble(Model model)
      throws ExecutionException, InterruptedException {
    List<InferRequest> requests = new ArrayList<>();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      int rows = 1 + i % 3;
      float[] values = new float[4 * rows];
      values[4 * rows - 1] = i;
      InferRequest request = model.newRequest().input("x", Tensor.ofFloats(values, rows, 4));
      requests.add(request);
      answers.add(request.inferAsync());
    }
    for (int i = 0; i < REQUESTS; i++) {
      try (InferRequest request = requests.get(i);
          InferResponse response = answers.get(i).get()) {
        Tensor y = response.output("y");
        assertEquals(2f * i, y.floatAt(y.elementCount() - 1), "request " + i + " of " + request);
      }
    }
  }

  @Test
  void anInputOnTheGpuIsReadThere() {
    Model model = nereid.load(doublerSpec(doublerPlan(8), 8).build());
    float[] values = {1, 2, 3, 4};
    DevicePool.Block block = memory().allocate(16, "a test's input");
    AtomicInteger released = new AtomicInteger();
    try (FloatPointer sent = new FloatPointer(values);
        InferRequest request = model.newRequest()) {
      CudaRuntime.check(
          cudart.cudaMemcpy(
              new NativePointer(block.address()), sent, 16, cudart.cudaMemcpyHostToDevice),
          "cudaMemcpy");
      assertTrue(request.takesDeviceInputs(device().number()));
      request.deviceInput(
          "x",
          new io.nereid.tensor.DeviceMemory(device().number(), block.address(), 16),
          released::incrementAndGet,
          1,
          4);
      try (InferResponse response = request.infer()) {
        for (int i = 0; i < values.length; i++) {
          assertEquals(2 * values[i], response.output("y").floatAt(i), "element " + i);
        }
      }
    } finally {
      block.release();
    }
    assertEquals(1, released.get());
  }

  /**
   * Requests of one batch that want their rows on the GPU, in the pool, and where there is no room.
   */
  @Test
  void anOutputIsWrittenOnTheGpuWhereItIsWanted() throws Exception {
    Model model =
        nereid.load(
            doublerSpec(doublerPlan(8), 8)
                .inline(false)
                .dynamicBatching(
                    DynamicBatching.builder()
                        .preferredBatchSizes(6)
                        .maxQueueDelay(Duration.ofHours(1))
                        .build())
                .build());
    DevicePool.Block block = memory().allocate(64, "a test's output");
    AtomicInteger released = new AtomicInteger();
    try (InferRequest onDevice = rows(model, 2, 1);
        InferRequest inPool = rows(model, 1, 100);
        InferRequest crowded = rows(model, 1, 200);
        InferRequest last = rows(model, 2, 300)) {
      var target = new io.nereid.tensor.DeviceMemory(device().number(), block.address(), 32);
      var small = new io.nereid.tensor.DeviceMemory(device().number(), block.address() + 32, 15);
      assertTrue(onDevice.takesDeviceOutput("y", device().number()));
      onDevice.deviceOutput("y", target, released::incrementAndGet);
      crowded.deviceOutput("y", small, released::incrementAndGet);
      var answers =
          List.of(
              onDevice.inferAsync(), inPool.inferAsync(), crowded.inferAsync(), last.inferAsync());
      try (InferResponse response = answers.get(0).get()) {
        assertEquals(6, response.executedBatchSize());
        assertArrayEquals(new long[] {2, 4}, response.output("y").shape());
      }
      try (InferResponse response = answers.get(1).get()) {
        assertArrayEquals(new float[] {200, 202, 204, 206}, response.output("y").toFloatArray());
      }
      try (InferResponse response = answers.get(3).get()) {
        assertEquals(614, response.output("y").floatAt(7));
      }
      ExecutionException e = assertThrows(ExecutionException.class, () -> answers.get(2).get());
      assertTrue(e.getCause().getMessage().contains("at least 16 bytes"), e.toString());
      float[] written = new float[8];
      try (FloatPointer copy = new FloatPointer(8)) {
        CudaRuntime.check(
            cudart.cudaMemcpy(
                copy, new NativePointer(block.address()), 32, cudart.cudaMemcpyDeviceToHost),
            "cudaMemcpy");
        copy.get(written);
      }
      assertArrayEquals(new float[] {2, 4, 6, 8, 10, 12, 14, 16}, written);
    } finally {
      block.release();
    }
    assertEquals(2, released.get());
  }

  /** A request with so many rows of numbers that go up by one. */
  private static InferRequest rows(Model model, int rows, float first) {
    float[] values = new float[4 * rows];
    for (int i = 0; i < values.length; i++) {
      values[i] = first + i;
    }
    return model.newRequest().input("x", Tensor.ofFloats(values, rows, 4));
  }

  /** 0 copies each request alone, the other gathers. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1 << 20})
  void requestsThatShareABatchGetTheirOwnAnswers(long threshold) throws Exception {
    Model model =
        nereid.load(
            doublerSpec(doublerPlan(32), 32)
                .inline(false)
                .dynamicBatching(DynamicBatching.create())
                .parameter("copy_threshold_bytes", Long.toString(threshold))
                .build());
    assertManyDouble(model);
    assertTrue(
        model.statistics().executionCount() < REQUESTS,
        "expected batches, got " + model.statistics().executionCount() + " executions");
  }

  @Test
  void instancesOnEveryGpuShareTheRequests() throws Exception {
    int devices = TensorRtLibrary.load().cuda().devices().size();
    assumeTrue(devices > 1, "needs two GPUs");
    InstanceGroup everywhere =
        new InstanceGroup("g", InstanceGroup.Kind.GPU, 1, List.of(), List.of());
    Model model =
        nereid.load(
            doublerSpec(doublerPlan(8), 8, everywhere)
                .parameter("optimization.cuda.graphs", "true")
                .build());
    assertEquals(devices, Engines.count());
    for (int i = 0; i < 2 * devices; i++) { // on this thread, whose device is that of the last load
      assertDoubles(model, i);
    }
    assertManyDouble(model);
  }

  @Test
  void graphsAreCapturedAndUsed() throws Exception {
    Model model =
        nereid.load(
            doublerSpec(doublerPlan(8), 8)
                .parameter("optimization.cuda.graphs", "true")
                .parameter("batches_in_flight", "1")
                .build());
    assertDoubles(model, 1);
    assertEquals(new GraphStatistics(1, 0, 1), TensorRtBackend.graphStatistics("m", 1));
    for (int i = 0; i < 10; i++) {
      assertDoubles(model, i);
    }
    assertEquals(new GraphStatistics(1, 10, 1), TensorRtBackend.graphStatistics("m", 1));
    assertManyDouble(model);
    assertDoubles(model, 3);
  }

  @Test
  void aLimitOfGraphsLeavesTheOtherShapesWithout() throws Exception {
    Model model =
        nereid.load(
            doublerSpec(doublerPlan(8), 8)
                .parameter("optimization.cuda.graphs", "true")
                .parameter("graph_limit", "1")
                .parameter("batches_in_flight", "1")
                .build());
    assertManyDouble(model);
    assertEquals(1, TensorRtBackend.graphStatistics("m", 1).graphs());
  }

  @Test
  void loadingAgainAndAgainLeavesNothing() {
    Path plan = doublerPlan(8);
    for (int i = 0; i < 20; i++) {
      Model model =
          nereid.load(
              doublerSpec(plan, 8)
                  .parameter("optimization.cuda.graphs", Boolean.toString(i % 2 == 0))
                  .build());
      assertDoubles(model, i);
      assertTrue(model.memoryUsage().working() > 0);
      model.unload();
    }
    assertEquals(0, Engines.count());
  }

  @Test
  void memoryThatIsNotThereFailsTheLoadAlone() {
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT, -1, 1 << 18);
          builder.output("y", builder.network().addElementWise(x, x, ElementWiseOperation.kSUM));
          builder.profile(profile ->
              profile.shapes("x", dims(1, 1 << 18), dims(8, 1 << 18), dims(1024, 1 << 18)));
        });
    ModelSpec large =
        spec(plan)
            .maxBatchSize(1024)
            .input("x", io.nereid.types.DataType.FP32, 1 << 18)
            .output("y", io.nereid.types.DataType.FP32, 1 << 18)
            .build();
    Pointer rest = takeAllBut(512L << 20);
    try {
      NereidException e = assertThrows(NereidException.class, () -> nereid.load(large));
      assertEquals(StatusCode.RESOURCE_EXHAUSTED, e.code(), e.getMessage());
      assertTrue(e.getMessage().contains(" left"), e.getMessage());
      assertEquals(0, Engines.count());
    } finally {
      CudaRuntime.check(cudart.cudaFree(rest), "cudaFree");
    }
    nereid.load(large).unload();
    memory().trim();
  }

  @Test
  void memoryThatIsNotThereFailsTheBatchAlone() {
    int most = 1 << 24;
    Path plan =
        plan(builder -> {
          ITensor x = builder.input("x", DataType.kFLOAT, -1);
          builder.output("positions", builder.network().addNonZero(x));
          builder.profile(profile -> profile.shapes("x", dims(1), dims(1024), dims(most)));
        });
    Model model = loadAsTold(plan, settings -> settings.parameter("batches_in_flight", "1"));
    float[] ones = new float[most];
    Arrays.fill(ones, 1);
    assertEquals(4, positions(model, new float[] {1, 1, 1, 1}));
    Pointer rest = takeAllBut(16L << 20);
    try {
      NereidException e = assertThrows(NereidException.class, () -> positions(model, ones));
      assertEquals(StatusCode.RESOURCE_EXHAUSTED, e.code(), e.getMessage());
      assertEquals(2, positions(model, new float[] {1, 0, 1}));
    } finally {
      CudaRuntime.check(cudart.cudaFree(rest), "cudaFree");
    }
    assertEquals(most, positions(model, ones));
    assertEquals(1, positions(model, new float[] {0, 1, 0}));
  }

  private static long positions(Model model, float[] values) {
    try (InferRequest request =
            model.newRequest().input("x", Tensor.ofFloats(values, values.length));
        InferResponse response = request.infer()) {
      return response.output("positions").dim(1);
    }
  }

  private static Pointer takeAllBut(long byteSize) {
    memory().trim();
    Pointer taken = new Pointer();
    try (SizeTPointer free = new SizeTPointer(1);
        SizeTPointer total = new SizeTPointer(1)) {
      CudaRuntime.check(cudart.cudaMemGetInfo(free, total), "cudaMemGetInfo");
      CudaRuntime.check(cudart.cudaMalloc(taken, free.get() - byteSize), "cudaMalloc");
    }
    return taken;
  }

  @Test
  void javaObjectsForTensorRtAreWhatItsLibraryCalls() {
    long[] asked = {0};
    try (OutputAllocator allocator =
            new OutputAllocator(byteSize -> {
              asked[0] = byteSize;
              return 4096;
            });
        var dims = new Dims64()) {
      var object = allocator.object();
      assertEquals("IOutputAllocator", object.getInterfaceInfo().kind());
      Pointer given =
          object.reallocateOutputAsync("y", new NativePointer(), 777, 512, new CUstream_st());
      assertEquals(4096, given.address());
      assertEquals(777, asked[0]);
      dims.nbDims(2).d(0, 3).d(1, 5);
      object.notifyShape("y", dims);
      assertEquals(List.of(3L, 5L), Arrays.stream(allocator.shape()).boxed().toList());
    }
  }
}
