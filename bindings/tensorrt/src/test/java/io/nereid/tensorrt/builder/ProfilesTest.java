package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.tensorrt.builder.Profiles.NetworkInput;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ProfilesTest {

  private static final NetworkInput DATA = new NetworkInput("data", List.of(-1L, 3L), false);
  private static final NetworkInput FIXED = new NetworkInput("fixed", List.of(2L), false);
  private static final NetworkInput TO = new NetworkInput("to", List.of(2L), true);

  private static void check(List<NetworkInput> inputs, String... profiles) {
    Map<String, NetworkInput> named = new LinkedHashMap<>();
    inputs.forEach(input -> named.put(input.name(), input));
    Profiles.check(
        named,
        Arrays.stream(profiles)
            .map(profile -> Arrays.stream(profile.split(",")).map(ShapeRange::parse).toList())
            .toList());
  }

  private static String refused(List<NetworkInput> inputs, String... profiles) {
    var e = assertThrows(NereidException.class, () -> check(inputs, profiles));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    return e.getMessage();
  }

  @Test
  void fixedShapesNeedNothing() {
    assertDoesNotThrow(() -> check(List.of(FIXED)));
  }

  @Test
  void openDimensionsNeedARange() {
    String message = refused(List.of(DATA, FIXED));
    assertTrue(message.contains("--shapes data=MIN:OPT:MAX"), message);
    assertTrue(message.contains("[-1, 3]"), message);
  }

  @Test
  void eachProfileNeedsIt() {
    assertDoesNotThrow(() -> check(List.of(DATA, TO), "data=1x3,to=4x4", "data=2x3,to=1x1"));
    assertTrue(refused(List.of(DATA, TO), "data=1x3,to=4x4", "data=2x3").contains("each profile"));
  }

  @Test
  void shapeTensorsNeedValues() {
    assertTrue(refused(List.of(TO)).contains("values decide on shapes"));
    assertDoesNotThrow(() -> check(List.of(TO), "to=1x1:2x2:9x9"));
  }

  @Test
  void unknownInputsAreRefusedWithThoseThereAre() {
    String message = refused(List.of(DATA), "dat=1x3");
    assertEquals("expected shapes of the inputs [data], got 'dat'", message);
  }

  @Test
  void fixedDimensionsStay() {
    assertDoesNotThrow(() -> check(List.of(DATA), "data=1x3:4x3:8x3"));
    assertTrue(refused(List.of(DATA), "data=1x3:4x4:8x4").contains("expected shapes of [-1, 3]"));
    assertTrue(refused(List.of(DATA), "data=1:4:8").contains("expected shapes of [-1, 3]"));
    assertTrue(refused(List.of(DATA), "data=-1x3:4x3:8x3").contains("[-1, 3]"));
  }
}
