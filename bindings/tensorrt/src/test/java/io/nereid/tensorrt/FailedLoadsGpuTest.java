package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.types.NereidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Plans that cannot be loaded, again and again: each failure gives back all that it took. */
class FailedLoadsGpuTest extends GpuTest {

  private static final int LOADS = 200;
  private static final int OUT_OF_MEMORY = 2;
  private static final int MUTATIONS = 1000;

  /** Descriptors and threads that come and go by themselves, such as the compiler's. */
  private static final int SLACK = 8;

  @AfterEach
  void reset() {
    Rehearsal.find().ifPresent(Rehearsal::reset);
  }

  /** The process's share of the machine and of the device. */
  private record Holdings(long deviceBytes, long descriptors, long threads, String open) {

    static Holdings now() throws IOException {
      try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"));
          Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
        return new Holdings(
            memory().liveBytes() + memory().idleBytes(),
            files.count(),
            tasks.count(),
            Rehearsal.find().map(Rehearsal::report).orElse(""));
      }
    }

    void assertAsBefore(Holdings before) {
      assertEquals(before.deviceBytes, deviceBytes, "bytes of the device");
      assertTrue(descriptors <= before.descriptors + SLACK, "descriptors: " + descriptors);
      assertTrue(threads <= before.threads + SLACK, "threads: " + threads);
      assertEquals(before.open, open, "what is open on the device");
    }
  }

  private Path doublerPlan() {
    return plan(builder -> {
      doubler(builder);
      rows(builder, 1, 4, 8);
    });
  }

  private String failure(Path plan) {
    return assertThrows(
            NereidException.class, () -> nereid.load(doublerSpec(plan, 8).build()).unload())
        .getMessage();
  }

  @Test
  void eachFailedLoadGivesEverythingBack() throws IOException {
    assumeTrue(Rehearsal.find().isPresent(), "needs a device that fails on demand");
    Rehearsal rehearsal = Rehearsal.find().orElseThrow();
    Path good = doublerPlan();
    byte[] whole = Files.readAllBytes(good);
    Path cut = Files.write(directory.resolve("cut.plan"), Arrays.copyOf(whole, whole.length / 2));
    byte[] old = whole.clone();
    old[25]--;
    Path otherVersion = Files.write(directory.resolve("old.plan"), old);
    String[] calls = {
      "IRuntime::deserializeCudaEngine", "ICudaEngine::createExecutionContext", "cudaMalloc"
    };
    Holdings before = null;
    for (int i = 0; i < LOADS; i++) {
      switch (i % 5) {
        case 0 -> assertFalse(failure(cut).isEmpty());
        case 1 -> assertTrue(failure(otherVersion).contains("rebuild"), "its version is named");
        default -> {
          rehearsal.fail(calls[i % 5 - 2], 1, OUT_OF_MEMORY);
          rehearsal.fail(calls[i % 5 - 2], 2, OUT_OF_MEMORY); // once idle memory was given back
          assertFalse(failure(good).isEmpty());
          rehearsal.reset();
        }
      }
      if (i == LOADS / 10) {
        memory().trim();
        before = Holdings.now(); // what is made once is there
      }
    }
    memory().trim();
    Holdings.now().assertAsBefore(before);
    assertDoubles(nereid.load(doublerSpec(good, 8).build()), 1);
  }

  @Test
  void aHeaderThatIsWrongAnywhereIsRefusedInWords() throws IOException {
    byte[] whole = Files.readAllBytes(doublerPlan());
    Random random = new Random(47);
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] wrong = whole.clone();
      switch (i % 4) {
        case 0 ->
            wrong[random.nextInt((int) PlanFile.HEADER_BYTES)] ^= (byte) (1 + random.nextInt(255));
        case 1 -> wrong = Arrays.copyOf(wrong, random.nextInt(wrong.length));
        case 2 -> wrong[24] = (byte) (wrong[24] + 1 + random.nextInt(200));
        default -> {
          byte[] noise = new byte[random.nextInt(64)];
          random.nextBytes(noise);
          System.arraycopy(noise, 0, wrong, 0, noise.length);
          wrong[0] ^= (byte) (noise.length == 0 ? 1 : 0);
        }
      }
      Path plan = Files.write(directory.resolve("wrong.plan"), wrong);
      String said = failure(plan);
      assertTrue(said.contains("'m' (" + plan + ")"), said);
      assertTrue(said.contains("./nereid build"), said);
      assertEquals(1, said.lines().count(), said);
    }
  }
}
