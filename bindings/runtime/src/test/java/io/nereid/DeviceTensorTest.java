package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Inputs that lie on a GPU and outputs that are wanted there, as the runtime sees them: an address
 * that it hands on. Nothing is at the address here, and nobody looks.
 */
class DeviceTensorTest extends RuntimeTest {

  private static final DeviceMemory MEMORY = new DeviceMemory(1, 0x7f00_0000_1000L, 8);

  private final List<DeviceMemory> targets = new CopyOnWriteArrayList<>();
  private final AtomicInteger releases = new AtomicInteger();
  private final CountDownLatch executing = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  /** Answers where each request's input lies: its device and address, or its own numbers. */
  private final class Places implements Backend {
    private final List<Integer> devices;
    private final boolean takesDeviceTensors;

    Places(boolean takesDeviceTensors, Integer... devices) {
      this.takesDeviceTensors = takesDeviceTensors;
      this.devices = List.of(devices);
    }

    @Override
    public List<Integer> devices() {
      return devices;
    }

    @Override
    public boolean takesDeviceTensors() {
      return takesDeviceTensors;
    }

    @Override
    public BackendInstance open(ModelContext context) {
      return this::execute;
    }

    private void execute(Batch batch) throws InterruptedException {
      executing.countDown();
      goOn.await();
      assertThrows(IllegalStateException.class, () -> batch.input("IN"));
      for (int i = 0; i < batch.requestCount(); i++) {
        BatchRequest request = batch.request(i);
        if (request.wantsOnDevice("OUT")) {
          answerOnDevice(batch, i);
          continue;
        }
        Tensor output = request.output("OUT", request.inputShape("IN"));
        if (request.deviceInput("IN").isEmpty()) {
          output.copyFrom(request.input("IN"));
          continue;
        }
        assertThrows(IllegalStateException.class, () -> request.input("IN"));
        DeviceMemory memory = request.deviceInput("IN").orElseThrow();
        output.copyFrom(
            Tensor.ofInts(
                new int[] {memory.device(), (int) (memory.address() + memory.byteSize())}, 2));
      }
    }
  }

  /** Notes where an output is wanted; one for which there is no room fails its request alone. */
  private void answerOnDevice(Batch batch, int index) {
    BatchRequest request = batch.request(index);
    assertTrue(request.wantsOutput("OUT"));
    assertThrows(IllegalStateException.class, () -> request.output("OUT", 2));
    try {
      targets.add(request.deviceOutput("OUT", 2));
    } catch (NereidException e) {
      batch.fail(index, e.code(), e.getMessage());
    }
  }

  private Model load(Backend backend) {
    return nereid.load(
        ModelSpec.builder("places")
            .backend(backend)
            .input("IN", DataType.INT32, 2)
            .output("OUT", DataType.INT32, 2)
            .build());
  }

  private InferRequest onDevice(Model model) {
    return model.newRequest().deviceInput("IN", MEMORY, releases::incrementAndGet, 2);
  }

  @Override
  NereidOptions.Builder options() {
    return super.options().pageLockPool(false); // there is no GPU that could do it
  }

  @Test
  void theBackendGetsTheAddress() {
    goOn.countDown();
    Model model = load(new Places(true, 1));
    try (var request = onDevice(model)) {
      assertTrue(request.takesDeviceInputs(1));
      assertFalse(request.takesDeviceInputs(0));
      try (var response = request.infer()) {
        assertEquals(1, response.output("OUT").intAt(0));
        assertEquals(0x1008, response.output("OUT").intAt(1));
      }
    }
    assertEquals(1, releases.get());
    try (var request = model.newRequest().input("IN", Tensor.ofInts(new int[] {5, 6}, 2));
        var response = request.infer()) {
      assertEquals(6, response.output("OUT").intAt(1));
    }
    assertEquals(1, releases.get());
  }

  private InferRequest wanting(Model model, long room) {
    DeviceMemory target = new DeviceMemory(1, 0x7f00_0000_2000L, room);
    return model
        .newRequest()
        .input("IN", Tensor.ofInts(new int[] {1, 2}, 2))
        .deviceOutput("OUT", target, releases::incrementAndGet);
  }

  @Test
  void theBackendWritesAnOutputWhereItIsWanted() {
    goOn.countDown();
    Model model = load(new Places(true, 1));
    try (var request = wanting(model, 100)) {
      assertTrue(request.takesDeviceOutput("OUT", 1));
      assertFalse(request.takesDeviceOutput("OUT", 0));
      try (var response = request.infer()) {
        Tensor output = response.output("OUT");
        assertEquals(DataType.INT32, output.dataType());
        assertArrayEquals(new long[] {2}, output.shape());
        assertEquals(8, output.byteSize());
        assertThrows(IllegalStateException.class, output::segment);
        assertThrows(IllegalStateException.class, () -> output.intAt(0));
        try (var next = model.newRequest()) {
          assertThrows(IllegalStateException.class, () -> next.input("IN", output));
        }
      }
    }
    assertEquals(List.of(new DeviceMemory(1, 0x7f00_0000_2000L, 8)), targets);
    assertEquals(1, releases.get());
  }

  @Test
  void tooLittleRoomFailsTheRequest() {
    goOn.countDown();
    Model model = load(new Places(true, 1));
    try (var request = wanting(model, 7)) {
      NereidException e = assertThrows(NereidException.class, request::infer);
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      assertTrue(e.getMessage().contains("'OUT' (7 bytes) should be at least 8"), e.getMessage());
    }
    assertEquals(1, releases.get());
    try (var request = wanting(model, 8).id("again");
        var response = request.infer()) {
      assertEquals("again", response.id().orElseThrow());
    }
  }

  @Test
  void anOutputIsWantedInOnePlace() {
    goOn.countDown();
    Model model = load(new Places(true, 1));
    DeviceMemory other = new DeviceMemory(1, 0x7f00_0000_3000L, 8);
    assertThrows(
        NereidException.class,
        () -> wanting(model, 8).deviceOutput("OUT", other, releases::incrementAndGet));
    assertEquals(1, releases.get());
    assertThrows(NereidException.class, () -> wanting(model, 8).output("OUT"));
    assertEquals(2, releases.get());
    try (var request = model.newRequest().input("IN", Tensor.ofInts(new int[] {1, 2}, 2))) {
      request.output("OUT").deviceOutput("OUT", MEMORY, releases::incrementAndGet);
      request.infer().close();
    }
    assertEquals(3, releases.get());
  }

  @Test
  void aModelThatDoesNotWriteThereRefusesIt() {
    goOn.countDown();
    Model model = load(new Places(false, 1));
    try (var request = wanting(model, 8)) {
      NereidException e = assertThrows(NereidException.class, request::infer);
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      assertTrue(e.getMessage().contains("is wanted in the memory of a device"), e.getMessage());
    }
    assertEquals(1, releases.get());
  }

  @Test
  void onlyModelsOnThatGpuAloneTakeIt() {
    goOn.countDown();
    for (Backend backend : List.of(new Places(true, 0, 1), new Places(false, 1))) {
      Model model = load(backend);
      try (var request = model.newRequest()) {
        assertFalse(request.takesDeviceInputs(1));
      }
      model.unload();
    }
    Model identity = nereid.load(identity("identity").build());
    try (var request = identity.newRequest()) {
      assertFalse(request.takesDeviceInputs(0));
      assertFalse(request.takesDeviceInputs(1));
    }
  }

  @Test
  void aModelThatDoesNotTakeItRefusesIt() {
    goOn.countDown();
    Model model = load(new Places(false, 1));
    try (var request = onDevice(model)) {
      NereidException e = assertThrows(NereidException.class, request::infer);
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      assertTrue(e.getMessage().contains("memory of a device"), e.getMessage());
      assertEquals(0, releases.get());
    }
    assertEquals(1, releases.get());
  }

  @Test
  void refusedMemoryIsNotReleased() {
    Model model = load(new Places(true, 1));
    for (String name : new String[] {"IN", "none"}) {
      int before = releases.get();
      assertThrows(
          NereidException.class,
          () -> onDevice(model).deviceInput(name, MEMORY, () -> releases.addAndGet(100), 2));
      assertEquals(before + 1, releases.get(), "what was taken before");
    }
  }

  /** Memory that is unmapped under a GPU that reads it would end CUDA for the whole process. */
  @Test
  void itStaysUntilTheExecutionEndsAlthoughNobodyWaitsForIt() throws Exception {
    Model model = load(new Places(true, 1));
    CompletableFuture<InferResponse> future;
    try (var request = onDevice(model)) {
      future = request.inferAsync();
    }
    executing.await();
    future.cancel(true);
    assertTrue(future.isCancelled());
    assertEquals(0, releases.get());
    goOn.countDown();
    await(() -> releases.get() == 1, "the memory to be released");
  }
}
