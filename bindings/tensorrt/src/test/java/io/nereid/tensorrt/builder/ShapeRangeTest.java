package io.nereid.tensorrt.builder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ShapeRangeTest {

  @Test
  void threeShapes() {
    assertEquals(
        new ShapeRange("data", List.of(1L, 3L), List.of(8L, 3L), List.of(32L, 3L)),
        ShapeRange.parse("data=1x3:8x3:32x3"));
  }

  @Test
  void oneShapeIsAllThree() {
    assertEquals(ShapeRange.parse("a=2x5:2x5:2x5"), ShapeRange.parse("a=2x5"));
  }

  @Test
  void scalars() {
    assertEquals(List.of(), ShapeRange.parse("a=scalar").opt());
  }

  @Test
  void namesMayHaveEqualSignsAndColons() {
    assertEquals("scope/x:0=y", ShapeRange.parse("scope/x:0=y=1:2:3").input());
  }

  @Test
  void valuesOfShapeTensorsMayBeNegative() {
    assertEquals(List.of(-1L, 4L), ShapeRange.parse("to=-1x4").min());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "data",
        "=1x3",
        "data=",
        "data=1x3:8x3",
        "data=1,3",
        "data=1xx3",
        "data=1:2:3:4"
      })
  void otherFormsAreRefusedWithAnExample(String text) {
    var e = assertThrows(IllegalArgumentException.class, () -> ShapeRange.parse(text));
    assertTrue(e.getMessage().contains("INPUT=MIN:OPT:MAX"), e.getMessage());
    assertTrue(e.getMessage().endsWith("got '" + text + "'"), e.getMessage());
  }

  @Test
  void ranksMustBeEqual() {
    var e = assertThrows(IllegalArgumentException.class, () -> ShapeRange.parse("a=1:2x2:3"));
    assertTrue(e.getMessage().contains("as many dimensions"), e.getMessage());
  }

  @Test
  void shapesMustGrow() {
    var e = assertThrows(IllegalArgumentException.class, () -> ShapeRange.parse("a=4:2:8"));
    assertTrue(e.getMessage().contains("grow"), e.getMessage());
  }

  @Test
  void anInputThatIsNamedAgainBeginsTheNextProfile() {
    ShapeRange a = ShapeRange.parse("a=1");
    ShapeRange b = ShapeRange.parse("b=1");
    assertEquals(List.of(), ShapeRange.profiles(List.of()));
    assertEquals(List.of(List.of(a, b)), ShapeRange.profiles(List.of(a, b)));
    assertEquals(
        List.of(List.of(a, b), List.of(b, a), List.of(a)),
        ShapeRange.profiles(List.of(a, b, b, a, a)));
  }
}
