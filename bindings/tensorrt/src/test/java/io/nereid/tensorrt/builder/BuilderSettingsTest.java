package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.tensorrt.Gpu;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class BuilderSettingsTest {

  private static final Set<Precision> EIGHT_BITS = Set.of(Precision.INT8, Precision.FP8);

  private static Set<Precision> precisions(
      BuildOptions.Builder options, Set<Precision> quantized, int major) {
    return BuilderSettings.precisions(options.build(), quantized, new Gpu(0, "a GPU", major, 0, 1));
  }

  @Test
  void theBestIsWhatGpuAndNetworkHave() {
    assertEquals(
        Set.of(Precision.values()), precisions(BuildOptions.builder().best(true), EIGHT_BITS, 9));
    assertEquals(
        Set.of(Precision.FP16), precisions(BuildOptions.builder().best(true), Set.of(), 7));
  }

  @Test
  void forOtherGpusTheBestLeavesFp8Out() {
    assertEquals(
        Set.of(Precision.FP16, Precision.BF16, Precision.INT8),
        precisions(BuildOptions.builder().best(true).hardwareCompatible(true), EIGHT_BITS, 9));
  }

  @Test
  void forOtherGpusFp8IsRefused() {
    var options = BuildOptions.builder().precision(Precision.FP8).hardwareCompatible(true);
    var e = assertThrows(IllegalArgumentException.class, options::build);
    assertTrue(e.getMessage().contains("an engine for other GPUs"), e.getMessage());
  }

  @Test
  void eightBitsNeedNodesThatQuantize() {
    var options = BuildOptions.builder().precision(Precision.INT8);
    var e =
        assertThrows(NereidException.class, () -> precisions(options, Set.of(Precision.FP8), 9));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertTrue(e.getMessage().contains("QuantizeLinear"), e.getMessage());
  }
}
