package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.api.Test;

final class BuildFractionTest {

  private final BuildFraction fraction = new BuildFraction();

  @Test
  void nothingIsNothing() {
    assertEquals(0, fraction.value());
    assertEquals("", fraction.innermost());
  }

  @Test
  void phasesWithinPhases() {
    fraction.started("all", Optional.empty(), 4);
    assertEquals(0, fraction.value());
    fraction.step("all", 0);
    assertEquals(0.25, fraction.value());
    fraction.started("tactics", Optional.of("all"), 2);
    fraction.started("one", Optional.of("tactics"), 10);
    assertEquals("one", fraction.innermost());
    fraction.step("one", 4);
    // A quarter, and of the next one half of the first half.
    assertEquals(0.25 + 0.25 * 0.5 * 0.5, fraction.value(), 1e-12);
    fraction.finished("one");
    fraction.step("tactics", 0);
    assertEquals(0.25 + 0.25 * 0.5, fraction.value(), 1e-12);
    fraction.finished("tactics");
    fraction.finished("all");
    assertEquals(0, fraction.value());
  }

  @Test
  void neverMoreThanAll() {
    fraction.started("all", Optional.empty(), 1);
    fraction.started("part", Optional.of("all"), 0);
    fraction.step("all", 5);
    fraction.step("part", 9);
    fraction.step("unknown", 1);
    assertEquals(1, fraction.value());
  }
}
