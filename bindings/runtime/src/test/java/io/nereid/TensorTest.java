package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class TensorTest {

  private static Tensor of(DataType type, int... bytes) {
    byte[] content = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      content[i] = (byte) bytes[i];
    }
    long count = type.isFixedSize() ? content.length / type.byteSize() : 1;
    return Tensor.of(type, MemorySegment.ofArray(content), count);
  }

  @Test
  void arraysComeBack() {
    assertArrayEquals(new int[] {1, -2}, Tensor.ofInts(new int[] {1, -2}, 2).toIntArray());
    assertArrayEquals(new long[] {1, -2}, Tensor.ofLongs(new long[] {1, -2}, 1, 2).toLongArray());
    assertArrayEquals(new float[] {1.5f}, Tensor.ofFloats(new float[] {1.5f}, 1).toFloatArray());
    assertArrayEquals(new double[] {.1}, Tensor.ofDoubles(new double[] {.1}).toDoubleArray());
    boolean[] booleans = {true, false, true};
    assertArrayEquals(booleans, Tensor.ofBooleans(booleans, 3).toBooleanArray());
    String[] strings = {"a", "", "ß"};
    assertArrayEquals(strings, Tensor.ofStrings(strings, 3, 1).toStringArray());
    assertArrayEquals(new int[0], Tensor.ofInts(new int[0], 0, 3).toIntArray());
  }

  @Test
  void elementsAreReadWithTheirSign() {
    assertEquals(255, of(DataType.UINT8, 255).intAt(0));
    assertEquals(-1, of(DataType.INT8, 255).intAt(0));
    assertEquals(65535, of(DataType.UINT16, 255, 255).intAt(0));
    assertEquals(-1, of(DataType.INT16, 255, 255).intAt(0));
    assertEquals(0xFFFFFFFFL, of(DataType.UINT32, 255, 255, 255, 255).longAt(0));
    assertEquals(-1, of(DataType.INT32, 255, 255, 255, 255).intAt(0));
    assertThrows(ArithmeticException.class, () -> of(DataType.UINT32, 255, 255, 255, 255).intAt(0));
    assertEquals(-1, of(DataType.UINT64, 255, 255, 255, 255, 255, 255, 255, 255).longAt(0));
    assertTrue(of(DataType.BOOL, 2).booleanAt(0));
    assertEquals(1.0, of(DataType.FP16, 0, 0x3C).doubleAt(0));
    assertEquals(1f, of(DataType.BF16, 0x80, 0x3F).floatAt(0));
  }

  @Test
  void elementsOutsideAndOtherTypesAreRefused() {
    Tensor ints = Tensor.ofInts(new int[2], 2);
    assertThrows(IndexOutOfBoundsException.class, () -> ints.intAt(2));
    assertThrows(IndexOutOfBoundsException.class, () -> ints.intAt(-1));
    assertThrows(IllegalStateException.class, ints::toFloatArray);
    assertThrows(IllegalStateException.class, ints::toStringArray);
    assertThrows(IllegalStateException.class, () -> ints.doubleAt(0));
    assertThrows(IllegalStateException.class, () -> Tensor.ofDoubles(new double[1], 1).floatAt(0));
    assertThrows(IllegalStateException.class, () -> Tensor.ofDoubles(new double[1], 1).longAt(0));
  }

  @Test
  void shapesMustFitTheArrays() {
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofInts(new int[3], 2));
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofInts(new int[1], -1, -1));
    assertThrows(
        IllegalArgumentException.class, () -> Tensor.ofInts(new int[0], 1L << 32, 1L << 32));
    assertThrows(
        IllegalArgumentException.class, () -> Tensor.ofHalfFloats(DataType.FP32, new float[1], 1));
    Tensor tensor = Tensor.ofInts(new int[6], 2, 3);
    assertArrayEquals(new long[] {2, 3}, tensor.shape());
    assertEquals(3, tensor.dim(1));
    assertEquals(2, tensor.rank());
    assertEquals(6, tensor.elementCount());
    assertEquals("INT32[2, 3]", tensor.toString());
  }

  @Test
  void brokenByteStringsAreRefused() {
    assertThrows(NereidException.class, () -> of(DataType.BYTES, 1, 0, 0).toStringArray());
    assertThrows(NereidException.class, () -> of(DataType.BYTES, 2, 0, 0, 0, 65).toStringArray());
    assertThrows(
        NereidException.class, () -> of(DataType.BYTES, 255, 255, 255, 255, 65).toStringArray());
    assertThrows(NereidException.class, () -> of(DataType.BYTES, 0, 0, 0, 0, 65).toStringArray());
    assertEquals("A", of(DataType.BYTES, 1, 0, 0, 0, 65).stringAt(0));
    assertThrows(
        IndexOutOfBoundsException.class, () -> of(DataType.BYTES, 1, 0, 0, 0, 65).stringAt(1));
  }

  @Test
  void everyHalfPrecisionNumberSurvivesTheWayThroughFloat() {
    for (int bits = 0; bits <= 0xFFFF; bits++) {
      short half = (short) bits;
      float fp16 = HalfPrecision.fp16ToFloat(half);
      float bf16 = HalfPrecision.bf16ToFloat(half);
      if (!Float.isNaN(fp16)) {
        assertEquals(half, HalfPrecision.floatToFp16(fp16));
      }
      if (Float.isNaN(bf16)) {
        assertTrue(Float.isNaN(HalfPrecision.bf16ToFloat(HalfPrecision.floatToBf16(bf16))));
      } else {
        assertEquals(half, HalfPrecision.floatToBf16(bf16));
      }
    }
  }

  @Test
  void bf16RoundsToTheNearestAndTiesToEven() {
    assertEquals(bf16(0x3F80), HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F808000)));
    assertEquals(bf16(0x3F82), HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F818000)));
    assertEquals(bf16(0x3F81), HalfPrecision.floatToBf16(Float.intBitsToFloat(0x3F808001)));
    assertEquals(bf16(0x7F80), HalfPrecision.floatToBf16(Float.MAX_VALUE));
    assertTrue(
        Float.isNaN(
            HalfPrecision.bf16ToFloat(
                HalfPrecision.floatToBf16(Float.intBitsToFloat(0x7F800001)))));
  }

  private static short bf16(int bits) {
    return (short) bits;
  }

  @Test
  void halfFloatsAreRounded() {
    Tensor tensor = Tensor.ofHalfFloats(DataType.FP16, new float[] {1.0f, 1e9f, .1f}, 3);
    assertArrayEquals(
        new float[] {1f, Float.POSITIVE_INFINITY, 0.099975586f}, tensor.toFloatArray());
    assertEquals(6, tensor.byteSize());
  }

  @Test
  void memoryNeedNotBeAligned() {
    byte[] bytes = new byte[9];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(1, 77).putFloat(5, 1.5f);
    MemorySegment memory = MemorySegment.ofArray(bytes);
    assertEquals(77, Tensor.of(DataType.INT32, memory.asSlice(1, 4), 1).intAt(0));
    assertArrayEquals(
        new float[] {1.5f}, Tensor.of(DataType.FP32, memory.asSlice(5, 4), 1).toFloatArray());
  }

  @Test
  void copying() {
    Tensor target = Tensor.ofInts(new int[2], 2);
    target.copyFrom(Tensor.ofInts(new int[] {4, 5}, 1, 2));
    assertArrayEquals(new int[] {4, 5}, target.toIntArray());
    assertThrows(
        IllegalArgumentException.class, () -> target.copyFrom(Tensor.ofInts(new int[1], 1)));
  }

  @Test
  void datatypesAreKnownByName() {
    assertEquals(14, DataType.values().length);
    for (DataType type : DataType.values()) {
      assertEquals(type, DataType.ofName(type.name()));
      assertEquals(type, DataType.ofCode(type.code()));
    }
    assertThrows(NereidException.class, () -> DataType.ofName("FP8"));
    for (StatusCode code : StatusCode.values()) {
      assertEquals(code, StatusCode.ofNumber(code.number()));
    }
    assertEquals(StatusCode.UNKNOWN, StatusCode.ofNumber(99));
  }
}
