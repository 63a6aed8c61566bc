package io.nereid.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class VocabularyTest {

  @Test
  void codesOfFailuresHaveTheNumbersOfGrpc() {
    assertEquals(0, StatusCode.OK.number());
    assertEquals(3, StatusCode.INVALID_ARGUMENT.number());
    assertEquals(10, StatusCode.ABORTED.number());
    assertEquals(14, StatusCode.UNAVAILABLE.number());
    assertEquals(16, StatusCode.UNAUTHENTICATED.number());
    for (StatusCode code : StatusCode.values()) {
      assertEquals(code, StatusCode.ofNumber(code.number()));
    }
    assertEquals(StatusCode.UNKNOWN, StatusCode.ofNumber(17));
    assertEquals(StatusCode.UNKNOWN, StatusCode.ofNumber(-1));
  }

  @Test
  void typesAreFoundByNameAndByNumber() {
    for (DataType type : DataType.values()) {
      assertEquals(type, DataType.ofName(type.name()));
      assertEquals(type, DataType.ofCode(type.code()));
      assertEquals(type != DataType.BYTES, type.isFixedSize());
    }
    assertEquals(DataType.FP32, DataType.ofName("fp32"));
    NereidException e = assertThrows(NereidException.class, () -> DataType.ofName("FP8"));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertEquals("unknown data-type 'FP8'", e.getMessage());
    assertThrows(NereidException.class, () -> DataType.ofCode(0));
    assertThrows(NereidException.class, () -> DataType.ofCode(15));
  }

  @Test
  void anExceptionSaysItsCodeAndItsCause() {
    NereidException e =
        new NereidException(StatusCode.NOT_FOUND, "no such file", new RuntimeException("gone"));
    assertEquals("no such file: gone", e.getMessage());
    assertTrue(
        e.toString().endsWith("NereidException: NOT_FOUND: no such file: gone"), e::toString);
    assertThrows(NullPointerException.class, () -> new NereidException(null, "no code"));
  }

  @Test
  void shapesThatOverflowAreRefused() {
    assertEquals(1, Shapes.elementCount());
    assertEquals(0, Shapes.elementCount(5, 0, 7));
    assertEquals(24, Shapes.elementCount(2, 3, 4));
    assertThrows(IllegalArgumentException.class, () -> Shapes.elementCount(2, -1));
    assertThrows(
        IllegalArgumentException.class, () -> Shapes.elementCount(Long.MAX_VALUE, Long.MAX_VALUE));
    Shapes.checkByteSize(DataType.FP16, 12, 2, 3);
    Shapes.checkByteSize(DataType.BYTES, 5, 2, 3);
    assertThrows(
        IllegalArgumentException.class, () -> Shapes.checkByteSize(DataType.FP16, 11, 2, 3));
  }

  @Test
  void halvesRoundToTheNearest() {
    for (int bits = Short.MIN_VALUE; bits <= Short.MAX_VALUE; bits++) {
      float fp16 = HalfPrecision.fp16ToFloat((short) bits);
      float bf16 = HalfPrecision.bf16ToFloat((short) bits);
      if (!Float.isNaN(fp16)) {
        assertEquals((short) bits, HalfPrecision.floatToFp16(fp16));
      }
      if (!Float.isNaN(bf16)) {
        assertEquals((short) bits, HalfPrecision.floatToBf16(bf16));
      }
    }
    assertTrue(Float.isNaN(HalfPrecision.bf16ToFloat(HalfPrecision.floatToBf16(Float.NaN))));
    assertEquals(
        Float.POSITIVE_INFINITY, HalfPrecision.fp16ToFloat(HalfPrecision.floatToFp16(1e9f)));
    assertEquals((short) 0x7BFF, HalfPrecision.floatToFp16(Math.nextDown(65520f)));
    assertEquals((short) 0x7C00, HalfPrecision.floatToFp16(65520f));
    assertEquals((short) 0x8001, HalfPrecision.floatToFp16(Math.nextDown(-0x1p-25f)));
    assertEquals((short) 0x03FF, HalfPrecision.floatToFp16(0x1.ff8p-15f));
    assertTrue(Float.isNaN(HalfPrecision.fp16ToFloat(HalfPrecision.floatToFp16(Float.NaN))));
    // Halfway between two numbers the even one is taken.
    assertEquals((short) 0, HalfPrecision.floatToFp16(0x1p-25f));
    assertEquals((short) 2, HalfPrecision.floatToFp16(0x3p-25f));
    assertEquals((short) 0x3C00, HalfPrecision.floatToFp16(1 + 0x1p-11f));
    assertEquals((short) 0x3C02, HalfPrecision.floatToFp16(1 + 0x3p-11f));
    assertEquals((short) 0x3F80, HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F80_8000)));
    assertEquals((short) 0x3F82, HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F81_8000)));
  }
}
