package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceBatching;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Plans that a process of their own executes, which does all of CUDA. */
@Timeout(600)
class IsolationGpuTest extends GpuTest {

  private Path doubler() {
    return plan(builder -> {
      doubler(builder);
      rows(builder, 1, 4, 8);
    });
  }

  private static long process(Model model) {
    return model.isolationStatistics().orElseThrow().process();
  }

  @Test
  void aPlanThatTellsItsTensorsIsServedWithoutAnEngineHere() throws Exception {
    Path models = repository(doubler(), "platform: \"tensorrt_plan\"\n");
    RepositoryOptions options =
        RepositoryOptions.builder().repository(models).isolation("*", "process").build();
    try (Nereid some = Nereid.open(options)) {
      Model model = some.model("m");
      assertDoubles(model, 3);
      assertEquals(4, model.spec().maxBatchSize());
      assertEquals(0, Engines.count());
      assertTrue(process(model) > 0);
    }
  }

  @Test
  void aFaultOfTheDeviceEndsTheProcessAloneAndTheNextOneServes() {
    assumeTrue(Rehearsal.find().isPresent(), "a GPU fails when it likes");
    Path plan = doubler();
    Model here = nereid.load(doublerSpec(plan, 8).build());
    ModelSpec.Builder spec =
        ModelSpec.builder("isolated")
            .backend("tensorrt")
            .parameter("model_path", plan.toString())
            .instances(onFirstGpu())
            .maxBatchSize(8)
            .input("x", DataType.FP32, 4)
            .output("y", DataType.FP32, 4);
    environment("REHEARSAL_FAULTS", "cudaMemcpyAsync~late:5:719");
    Model model = nereid.load(spec.isolation("process").build());
    environment("REHEARSAL_FAULTS", "");
    NereidException fault =
        assertThrows(
            NereidException.class,
            () -> {
              for (int i = 0; i < 10; i++) {
                assertDoubles(model, i);
              }
            });
    assertEquals(StatusCode.UNAVAILABLE, fault.code(), fault.getMessage());
    assertTrue(fault.getMessage().contains("cudaErrorLaunchFailure"), fault.getMessage());
    for (int i = 0; i < 10; i++) {
      assertDoubles(model, i);
      assertDoubles(here, i);
    }
    assertEquals(1, model.isolationStatistics().orElseThrow().restarts());
    model.unload();
    here.unload();
  }

  @Test
  void statesOnTheDeviceAreRefused() {
    ModelSpec spec =
        doublerSpec(doubler(), 8)
            .sequenceBatching(
                SequenceBatching.oldest(2)
                    .withState(SequenceBatching.State.of("state", "next", DataType.FP32, 4)))
            .isolation("process")
            .build();
    NereidException refused = assertThrows(NereidException.class, () -> nereid.load(spec));
    assertEquals(StatusCode.UNIMPLEMENTED, refused.code(), refused.getMessage());
    assertTrue(refused.getMessage().contains("keeps states"), refused.getMessage());
  }

  /** Sets a variable that processes inherit which are started from now on. */
  @SuppressWarnings("restricted")
  private static void environment(String name, String value) {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment function = linker.defaultLookup().findOrThrow("setenv");
      int result =
          (int)
              linker
                  .downcallHandle(function, type)
                  .invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 1);
      assertEquals(0, result);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }
}
