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
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
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
  void byteStringsComeBackAsTheyWere() {
    Random random = new Random(17);
    for (int round = 0; round < 200; round++) {
      byte[][] values = new byte[random.nextInt(8)][];
      for (int i = 0; i < values.length; i++) {
        values[i] = new byte[random.nextInt(20)];
        random.nextBytes(values[i]);
      }
      Tensor tensor = Tensor.ofByteStrings(values, values.length);
      assertArrayEquals(values, tensor.toByteStrings());
      for (int i = 0; i < values.length; i++) {
        assertEquals(new String(values[i], StandardCharsets.UTF_8), tensor.stringAt(i));
      }
    }
  }

  @Test
  void byteStringsThatAreBrokenAnywhereAreRefused() {
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
      Tensor tensor = Tensor.of(DataType.BYTES, MemorySegment.ofArray(bytes), count);
      try {
        byte[][] values = tensor.toByteStrings();
        assertEquals(count, values.length);
        assertEquals(bytes.length, Arrays.stream(values).mapToInt(v -> v.length + 4).sum());
      } catch (NereidException e) {
        assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      }
    }
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

  @Test
  void arraysOfArraysBecomeTensorsAndBack() {
    float[][][] floats = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
    Tensor tensor = Tensor.ofArray(floats);
    assertEquals("FP32[2, 3, 2]", tensor.toString());
    assertArrayEquals(floats, tensor.toArray(float[][][].class));
    assertArrayEquals(
        new float[][] {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}},
        tensor.reshape(2, 6).toFloatArray2d());
    String[][] strings = {{"a", "ß"}, {"", "long"}};
    assertArrayEquals(strings, Tensor.ofArray(strings).toArray(String[][].class));
    boolean[][] booleans = {{true}, {false}};
    assertArrayEquals(booleans, Tensor.ofArray(booleans).toArray(boolean[][].class));
    assertEquals("INT64[0, 0]", Tensor.ofArray(new long[0][]).toString());
    assertEquals("INT16[1]", Tensor.ofArray(new short[1]).toString());
    assertEquals("INT8[1]", Tensor.ofArray(new byte[1]).toString());
    assertEquals("BYTES[2]", Tensor.of(List.of("a", "b")).toString());
  }

  @Test
  void arraysThatAreNoTensorAreRefusedByName() {
    var jagged =
        assertThrows(
            IllegalArgumentException.class, () -> Tensor.ofArray(new int[][] {{1, 2}, {3}}));
    assertEquals(
        "all arrays of depth 2 must have 2 elements as the first has, and one has 1",
        jagged.getMessage());
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofArray(new int[][] {{1}, null}));
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofArray("text"));
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofArray(new Object[] {1}));
    Tensor matrix = Tensor.ofFloats(new float[4], 2, 2);
    assertThrows(IllegalArgumentException.class, () -> matrix.toArray(float[].class));
    assertThrows(IllegalStateException.class, () -> matrix.toArray(int[][].class));
    assertThrows(IllegalArgumentException.class, () -> matrix.toArray(Object[][].class));
  }

  @Test
  void buffersAreViewed() {
    FloatBuffer floats =
        ByteBuffer.allocateDirect(16).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    floats.put(1, 2.5f).position(1);
    Tensor tensor = Tensor.of(floats, 3);
    assertArrayEquals(new float[] {2.5f, 0, 0}, tensor.toFloatArray());
    floats.put(2, 7);
    assertEquals(7, tensor.floatAt(1));
    assertEquals("INT64[1, 2]", Tensor.of(LongBuffer.allocate(2), 1, 2).toString());
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(floats, 4));
    assertThrows(
        IllegalArgumentException.class,
        () -> Tensor.of(ByteBuffer.allocate(8).asFloatBuffer(), 2)); // big-endian
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(ByteBuffer.allocate(4), 1));
  }

  @Test
  void slicesAndRowsShareTheMemory() {
    int[] values = {1, 2, 3, 4, 5, 6};
    Tensor matrix = Tensor.ofInts(values, 3, 2);
    Tensor last = matrix.slice(1, 2);
    values[5] = 60;
    assertEquals("INT32[2, 2]", last.toString());
    assertArrayEquals(new int[] {3, 4, 5, 60}, last.toIntArray());
    assertArrayEquals(new int[] {5, 60}, last.row(1).toIntArray());
    assertEquals("INT32[]", matrix.row(0).row(1).toString());
    assertEquals(2, matrix.row(0).row(1).intAt(0));
    assertEquals(0, matrix.slice(3, 0).elementCount());
    Tensor strings = Tensor.ofArray(new String[][] {{"a", "bb"}, {"", "ccc"}, {"d", "e"}});
    assertArrayEquals(
        new String[][] {{"", "ccc"}, {"d", "e"}}, strings.slice(1, 2).toArray(String[][].class));
    assertArrayEquals(new String[] {"d", "e"}, strings.row(2).toStringArray());
    assertThrows(IndexOutOfBoundsException.class, () -> matrix.slice(2, 2));
    assertThrows(IndexOutOfBoundsException.class, () -> matrix.row(3));
    assertThrows(IllegalArgumentException.class, () -> matrix.reshape(5));
    assertThrows(IllegalStateException.class, () -> matrix.row(0).row(0).slice(0, 1));
  }
}
