package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.WarmUp;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests that every instance executes before the first client comes. */
class WarmUpTest extends RuntimeTest {

  @TempDir Path directory;

  /** Batches that were executed: the thread, the number of rows, the values. */
  private record Seen(String thread, long rows, float[] values) {}

  private final List<Seen> seen = Collections.synchronizedList(new ArrayList<>());

  private Backend recording() {
    return context ->
        batch -> {
          float[] values = batch.input("IN").toFloatArray();
          seen.add(new Seen(Thread.currentThread().getName(), batch.size(), values));
          batch.output("OUT", batch.input("IN"));
        };
  }

  private static WarmUp warmUp(long batchSize, int count, WarmUp.Data data) {
    return new WarmUp(
        "w", batchSize, count, Map.of("IN", new WarmUp.Input(DataType.FP32, List.of(4L), data)));
  }

  private Model load(WarmUp warmUp) {
    return nereid.load(identity("m").backend(recording()).instanceCount(3).warmUp(warmUp).build());
  }

  @Test
  void everyInstanceExecutesItAndNothingIsCounted() {
    Model model = load(warmUp(2, 4, new WarmUp.Zero()));
    assertEquals(12, seen.size());
    assertEquals(3, seen.stream().map(Seen::thread).distinct().count());
    for (Seen batch : seen) {
      assertEquals(2, batch.rows);
      assertTrue(Arrays.equals(new float[8], batch.values), Arrays.toString(batch.values));
    }
    ModelStatistics statistics = model.statistics();
    assertEquals(0, statistics.success().count());
    assertEquals(0, statistics.executionCount());
    assertTrue(model.loadTimes().warmUp().isPositive());
    roundTrip(model, 1);
  }

  @Test
  void contentOfAFileIsRepeatedForEachRow() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : new float[] {1, 2, 3, 4}) {
      bytes.putFloat(value);
    }
    Path file = Files.write(directory.resolve("row"), bytes.array());
    load(warmUp(2, 1, new WarmUp.Content(file)));
    assertTrue(Arrays.equals(new float[] {1, 2, 3, 4, 1, 2, 3, 4}, seen.getFirst().values));
    seen.clear();

    Files.write(file, new byte[12]);
    NereidException e =
        assertFails(
            StatusCode.INVALID_ARGUMENT, () -> load(warmUp(1, 1, new WarmUp.Content(file))));
    assertEquals(
        "warm-up 'w' failed: input 'IN' needs 16 bytes a row, the data has 12", e.getMessage());
  }

  @Test
  void randomDataIsNeitherConstantNorWild() {
    load(warmUp(1, 1, new WarmUp.Random()));
    float[] values = seen.getFirst().values;
    assertTrue(values[0] != values[1] || values[1] != values[2], Arrays.toString(values));
    for (float value : values) {
      assertTrue(value >= 0 && value < 1, Arrays.toString(values));
    }
  }

  @ParameterizedTest
  @EnumSource(DataType.class)
  void everyDataTypeCanBeMadeUp(DataType type) {
    for (WarmUp.Data data : List.of(new WarmUp.Zero(), new WarmUp.Random())) {
      Model model =
          nereid.load(
              ModelSpec.builder("typed")
                  .backend("identity")
                  .input("IN", type, -1)
                  .output("OUT", type, -1)
                  .warmUp(
                      new WarmUp(
                          "w", 1, 1, Map.of("IN", new WarmUp.Input(type, List.of(5L), data))))
                  .build());
      assertEquals(ModelState.READY, model.state());
    }
  }

  @Test
  void aFailingWarmUpFailsTheLoadAndLeavesTheOldOneServing() {
    Model model = nereid.load(identity("m").build());
    ModelSpec failing =
        identity("m")
            .backend(context ->
                batch -> {
                  throw new NereidException(StatusCode.RESOURCE_EXHAUSTED, "too little memory");
                })
            .warmUp(warmUp(1, 1, new WarmUp.Zero()))
            .build();
    NereidException e = assertFails(StatusCode.RESOURCE_EXHAUSTED, () -> nereid.load(failing));
    assertEquals("warm-up 'w' failed: too little memory", e.getMessage());
    roundTrip(model, 2);
    assertEquals("warm-up 'w' failed: too little memory", model.failure().orElse(""));
  }

  @Test
  void moreThanThePoolHasIsTheModelsFailure() {
    ModelSpec huge =
        ModelSpec.builder("huge")
            .backend("identity")
            .input("IN", DataType.UINT8, -1)
            .output("OUT", DataType.UINT8, -1)
            .warmUp(
                new WarmUp(
                    "w",
                    1,
                    1,
                    Map.of(
                        "IN",
                        new WarmUp.Input(DataType.UINT8, List.of(1L << 40), new WarmUp.Zero()))))
            .build();
    assertFails(StatusCode.RESOURCE_EXHAUSTED, () -> nereid.load(huge));
    assertEquals(ModelState.FAILED, nereid.models().getFirst().state());
  }

  @Test
  void aWarmUpThatDoesNotFitTheModelIsTold() {
    WarmUp wide =
        new WarmUp(
            "w",
            1,
            1,
            Map.of("IN", new WarmUp.Input(DataType.FP32, List.of(5L), new WarmUp.Zero())));
    NereidException e = assertFails(StatusCode.INVALID_ARGUMENT, () -> load(wide));
    assertTrue(e.getMessage().contains("Expected [-1,4], got [1,5]"), e.getMessage());
    assertFails(StatusCode.INVALID_ARGUMENT, () -> load(warmUp(9, 1, new WarmUp.Zero())));
    assertEquals(List.of(), seen);
  }
}
