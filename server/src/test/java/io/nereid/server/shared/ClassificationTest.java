package io.nereid.server.shared;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ClassificationTest {

  private static Classification of(long count, boolean batches, String... labels) {
    ModelSpec model =
        ModelSpec.builder("m")
            .backend("identity")
            .maxBatchSize(batches ? 8 : 0)
            .input("IN", DataType.FP32, -1)
            .output(TensorSpec.of("OUT", DataType.FP32, -1).withLabels(List.of(labels)))
            .build();
    return Classification.of(model, "OUT", count);
  }

  private static List<String> strings(Tensor classes) {
    assertEquals(DataType.BYTES, classes.dataType());
    return IntStream.range(0, (int) classes.elementCount()).mapToObj(classes::stringAt).toList();
  }

  private static void expect(String message, Tensor scores, long count) {
    Classification classification = of(count, true);
    NereidException failure =
        assertThrows(NereidException.class, () -> classification.classify(scores, null));
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().contains(message), failure::getMessage);
  }

  /** Others run meanwhile, however the elements are split into rows. */
  @ParameterizedTest
  @CsvSource({"1, 100000", "100000, 1", "1000, 100"})
  void pausesFromTimeToTime(int rows, int size) {
    AtomicInteger pauses = new AtomicInteger();
    Tensor scores = Tensor.ofInts(new int[rows * size], rows, size);
    Tensor classes = of(size, true).classify(scores, null, pauses::incrementAndGet);
    assertEquals(rows * size, classes.elementCount());
    assertTrue(pauses.get() >= 2 * rows * size / 1000, pauses::toString); // for scores and texts
  }

  @Test
  void givesTheBestOfEachRow() {
    Tensor scores = Tensor.ofFloats(new float[] {0.25f, 7, 0.5f, -1, -2, -0.125f}, 2, 3);
    Tensor classes = of(2, true, "a", "", "c").classify(scores, null);
    assertArrayEquals(new long[] {2, 2}, classes.shape());
    assertEquals(
        List.of("7.000000:1", "0.500000:2:c", "-0.125000:2:c", "-1.000000:0:a"), strings(classes));
  }

  @Test
  void withoutBatchesAllIsOneRow() {
    Tensor scores = Tensor.ofInts(new int[] {3, 9, 9, 4}, 2, 2);
    Tensor classes = of(3, false, "a", "b").classify(scores, null);
    assertArrayEquals(new long[] {3}, classes.shape());
    assertEquals(List.of("9:1:b", "9:2", "4:3"), strings(classes));
  }

  @Test
  void thereAreNoMoreClassesThanScores() {
    Tensor classes = of(100, true).classify(Tensor.ofLongs(new long[] {1, 2, 3, 4}, 2, 2), null);
    assertArrayEquals(new long[] {2, 2}, classes.shape());
    assertEquals(List.of("2:1", "1:0", "4:1", "3:0"), strings(classes));
    classes = of(100, true).classify(Tensor.ofLongs(new long[0], 2, 0), null);
    assertArrayEquals(new long[] {2, 0}, classes.shape());
    classes = of(100, true).classify(Tensor.ofLongs(new long[0], 0, 5), null);
    assertArrayEquals(new long[] {0, 5}, classes.shape());
  }

  /** What C++ prints for the same values with %f. */
  @ParameterizedTest
  @CsvSource({
    "0.1, 0.100000",
    "-0.0, -0.000000",
    "1e-7, 0.000000",
    "-4.9e-324, -0.000000",
    "5e-7, 0.000000",
    "5.000000000000001e-7, 0.000001",
    "0.0000015, 0.000002",
    "2.5e-6, 0.000003",
    "0.5000005, 0.500000",
    "1234567.8912345, 1234567.891235",
    "1e21, 1000000000000000000000.000000",
    "1.7976931348623157e16, 17976931348623156.000000",
    "NaN, nan",
    "Infinity, inf",
    "-Infinity, -inf"
  })
  void numbersAreWrittenAsInCpp(double value, String text) {
    Tensor classes = of(1, false).classify(Tensor.ofDoubles(new double[] {value}, 1), null);
    assertEquals(List.of(text + ":0"), strings(classes));
  }

  /** Many of the numbers lie in the middle of two last digits, or next to it. */
  @Test
  void numbersAreRoundedByTheirExactValue() {
    Random random = new Random(7);
    for (int round = 0; round < 50_000; round++) {
      double value =
          switch (round % 4) {
            case 0 -> random.nextFloat() / (1 << random.nextInt(30));
            case 1 -> random.nextLong() * Math.pow(2, -random.nextInt(90));
            case 2 -> (random.nextInt(1 << random.nextInt(1, 31)) + 0.5) / 1e6;
            default -> random.nextInt() / 128.0; // the last of seven digits may be 5
          };
      double[] values = {value, Math.nextUp(value)};
      Tensor classes = of(2, false).classify(Tensor.ofDoubles(values, 2), null);
      for (int i = 0; i < 2; i++) {
        BigDecimal exact = new BigDecimal(values[i]).setScale(6, RoundingMode.HALF_EVEN);
        String sign = values[i] < 0 ? "-" : "";
        assertEquals(sign + exact.abs().toPlainString() + ":" + i, classes.stringAt(1 - i));
      }
    }
  }

  @Test
  void aFloatIsWrittenWithItsExactValue() {
    Tensor classes = of(1, false).classify(Tensor.ofFloats(new float[] {16777217.1f}, 1), null);
    assertEquals(List.of("16777218.000000:0"), strings(classes));
    classes = of(1, false).classify(Tensor.ofFloats(new float[] {0.1f}, 1), null);
    assertEquals(List.of("0.100000:0"), strings(classes));
  }

  @Test
  void notANumberIsWorseThanAnyNumber() {
    double[] values = {Double.NaN, Double.NEGATIVE_INFINITY, -0.0, 0.0, Double.POSITIVE_INFINITY};
    Tensor classes = of(5, false).classify(Tensor.ofDoubles(values, 5), null);
    assertEquals(
        List.of("inf:4", "-0.000000:2", "0.000000:3", "-inf:1", "nan:0"), strings(classes));
  }

  @ParameterizedTest
  @CsvSource({
    "INT8, 127:0 0:2 -1:1",
    "UINT8, 255:1 127:0 0:2",
    "INT16, 32767:0 0:2 -1:1",
    "UINT16, 65535:1 32767:0 0:2",
    "INT32, 2147483647:0 0:2 -1:1",
    "UINT32, 4294967295:1 2147483647:0 0:2",
    "INT64, 9223372036854775807:0 0:2 -1:1",
    "UINT64, 18446744073709551615:1 9223372036854775807:0 0:2"
  })
  void integersKeepTheirSign(DataType type, String expected) {
    int size = type.byteSize();
    byte[] bytes = new byte[3 * size];
    Arrays.fill(bytes, 0, 2 * size, (byte) 0xff);
    bytes[size - 1] = 0x7f;
    Tensor scores = Tensor.of(type, MemorySegment.ofArray(bytes), 3);
    assertEquals(List.of(expected.split(" ")), strings(of(3, false).classify(scores, null)));
  }

  @ParameterizedTest
  @EnumSource(names = {"BOOL", "FP16", "BF16", "BYTES"})
  void othersAreNoScores(DataType type) {
    expect(
        "class result not available for output due to unsupported type '" + type + "'",
        Tensor.of(type, MemorySegment.ofArray(new byte[4]), 1, 1),
        1);
  }

  @Test
  void rowsAndAnswersAreNotTooLarge() {
    String message = "classification output tensor too large";
    MemorySegment bytes = MemorySegment.ofArray(new byte[1_000_004]);
    Tensor wide = Tensor.of(DataType.INT8, bytes.asSlice(0, 1_000_001), 1, 1_000_001);
    expect(message, wide, 1);
    Tensor tall = Tensor.of(DataType.INT8, bytes, 500_002, 2);
    expect(message, tall, 2);
    assertArrayEquals(new long[] {500_002, 1}, of(1, true).classify(tall, null).shape());
  }

  /** Against sorting everything, with many equal scores. */
  @Test
  void isTheHeadOfTheSortedScores() {
    Random random = new Random(7);
    for (int round = 0; round < 300; round++) {
      int size = 1 + random.nextInt(60);
      int[] scores = random.ints(size, 0, 1 + random.nextInt(20)).toArray();
      int count = 1 + random.nextInt(size + 5);
      List<String> expected =
          IntStream.range(0, size)
              .boxed()
              .sorted(
                  Comparator.comparingInt((Integer index) -> -scores[index])
                      .thenComparingInt(index -> index))
              .limit(count)
              .map(index -> scores[index] + ":" + index)
              .toList();
      assertEquals(expected, strings(of(count, false).classify(Tensor.ofInts(scores, size), null)));
    }
  }
}
