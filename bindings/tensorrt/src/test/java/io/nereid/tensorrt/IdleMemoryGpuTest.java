package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.internal.cuda.CudaDevice;
import io.nereid.internal.cuda.CudaDriver;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.bytedeco.cuda.global.cudart;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The memory of a device that is kept for later goes back when others can use it. */
class IdleMemoryGpuTest extends GpuTest {

  private static final int OUT_OF_MEMORY = 2;

  private Rehearsal rehearsal;

  @BeforeEach
  void needsRehearsal() {
    assumeTrue(Rehearsal.find().isPresent(), "needs a device that counts and fails on demand");
    rehearsal = Rehearsal.find().orElseThrow();
    memory().trim();
  }

  @AfterEach
  void reset() {
    Rehearsal.find().ifPresent(Rehearsal::reset);
  }

  private long calls(String name) {
    return rehearsal.calls().getOrDefault(name, 0L);
  }

  private static void keepSome() {
    CudaRuntime.check(cudart.cudaSetDevice(device().number()), "cudaSetDevice");
    memory().allocate(4096, "a test").release();
    assertEquals(4096, memory().idleBytes());
  }

  @Test
  void anEngineThatLeavesTakesItAlong() {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 4, 8);
        });
    long before = calls("cudaMalloc") - calls("cudaFree");
    Model model = nereid.load(doublerSpec(plan, 8).build());
    assertDoubles(model, 1);
    assertTrue(calls("cudaMalloc") - calls("cudaFree") > before);
    model.unload();
    assertEquals(before, calls("cudaMalloc") - calls("cudaFree"));
    assertEquals(0, memory().idleBytes());
  }

  @Test
  void aPlugInThatFindsTooLittleGetsIt() {
    keepSome();
    CudaDevice device = CudaDriver.instance().device(device().number());
    rehearsal.fail("cuMemAlloc_v2", 1, OUT_OF_MEMORY);
    device.free(device.allocate(4096));
    assertEquals(0, memory().idleBytes());
  }

  /** Classes of the other version of TensorRT have a pool of their own on the device. */
  @Test
  void memoryThatAnotherPoolKeepsIsAskedFor() {
    AtomicInteger asked = new AtomicInteger();
    CudaDriver.instance().device(device().number()).onShortage(() -> asked.getAndIncrement() == 0);
    CudaRuntime.check(cudart.cudaSetDevice(device().number()), "cudaSetDevice");
    rehearsal.fail("cudaMalloc", 1, OUT_OF_MEMORY);
    memory().allocate(4096, "a test").release();
    assertEquals(1, asked.get());
  }
}
