package io.nereid.types;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
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
  void byteStringsComeBackAsTheyWere() {
    Random random = new Random(17);
    for (int round = 0; round < 200; round++) {
      byte[][] values = new byte[random.nextInt(8)][];
      for (int i = 0; i < values.length; i++) {
        values[i] = new byte[random.nextInt(20)];
        random.nextBytes(values[i]);
      }
      MemorySegment encoded = ByteStrings.encode(values);
      assertArrayEquals(values, ByteStrings.decode(encoded, values.length));
      for (int i = 0; i < values.length; i++) {
        assertArrayEquals(values[i], ByteStrings.element(encoded, i));
      }
    }
  }

  @Test
  void brokenByteStringsAreTheSendersMistake() {
    Random random = new Random(18);
    for (int round = 0; round < 2000; round++) {
      byte[] bytes = new byte[random.nextInt(24)];
      random.nextBytes(bytes);
      for (int at = 0; at + 4 <= bytes.length; at += 4) {
        bytes[at + 1] &= (byte) random.nextInt(2); // lengths that sometimes fit
        bytes[at + 2] = 0;
        bytes[at + 3] = 0;
      }
      int count = random.nextInt(4);
      try {
        byte[][] values = ByteStrings.decode(MemorySegment.ofArray(bytes), count);
        assertEquals(count, values.length);
        assertEquals(bytes.length, Arrays.stream(values).mapToInt(v -> v.length + 4).sum());
      } catch (NereidException e) {
        assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      }
    }
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
    // Halfway between two numbers the even one is taken.
    assertEquals((short) 0x3F80, HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F80_8000)));
    assertEquals((short) 0x3F82, HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F81_8000)));
  }
}
