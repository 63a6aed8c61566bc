package io.nereid.recording.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers of two sides that are the same, nearly so, or not. */
class AnswerComparisonTest {

  @TempDir private Path directory;

  private static Answer floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return new Answer(DataType.FP32, List.of(1L, (long) values.length), bytes);
  }

  private static AnswerComparison compared(Answer a, Answer b) {
    AnswerComparison comparison = new AnswerComparison(Map.of(), Map.of());
    comparison.add("m", "r1", Map.of("OUT", a), Map.of("OUT", b));
    return comparison;
  }

  /** One output in a thousand answers, a thousandth off in one element. */
  @Test
  void aThousandthInOneOfAThousandRequestsIsFound() {
    AnswerComparison comparison = new AnswerComparison(Map.of(), Map.of());
    for (int i = 0; i < 1000; i++) {
      float planted = i == 617 ? 1.001f : 1;
      comparison.add(
          "m",
          "r" + i,
          Map.of("OUT", floats(3, 2, 0.5f), "OTHER", floats(1)),
          Map.of("OUT", floats(3, 2 * planted, 0.5f), "OTHER", floats(1)));
    }
    assertTrue(comparison.differs());
    String text = comparison.text();
    assertTrue(
        text.contains("m/OUT: 1 of 1000 answers differ; absolute 2.00e-03, relative 1.00e-03"),
        text);
    assertTrue(text.contains("worst r617\n  ULPs  0: 2999, 2^13: 1\n"), text);
    assertTrue(text.contains("m/OTHER: 0 of 1000 answers differ; absolute 0, relative 0"), text);
  }

  @Test
  void sumsInAnotherOrderAreNoDifference() {
    assertFalse(compared(floats(0.1f, 1e6f), floats(0.100001f, 1e6f + 10)).differs());
    assertFalse(compared(floats(Float.NaN, 1), floats(Float.NaN, 1)).differs());
  }

  @Test
  void otherKindsOfDifferencesAreTold() {
    String top = compared(floats(1, 1.00001f), floats(1.00001f, 1)).text();
    assertTrue(top.contains("No answer differs"), top);
    assertTrue(top.contains("cosine 1.000000, top-1 1, NaN/Inf 0, shapes 0"), top);
    String nan = compared(floats(1, 2), floats(1, Float.NaN)).text();
    assertTrue(nan.contains("Answers differ"), nan);
    assertTrue(compared(floats(1, 2), floats(1, 2, 3)).differs());
    Answer texts =
        new Answer(DataType.BYTES, List.of(1L), ByteBuffer.wrap(new byte[] {1, 0, 0, 0, 'a'}));
    Answer others =
        new Answer(DataType.BYTES, List.of(1L), ByteBuffer.wrap(new byte[] {1, 0, 0, 0, 'b'}));
    assertFalse(compared(texts, texts).differs());
    assertTrue(compared(texts, others).differs());
    AnswerComparison failed = new AnswerComparison(Map.of(), Map.of());
    failed.addFailure("m", "r1", "OK", "INTERNAL: no");
    assertTrue(failed.differs());
    assertTrue(failed.text().contains("m, r1: OK and INTERNAL: no"), failed.text());
  }

  private static List<Long> ulps(Answer a, Answer b) {
    return compared(a, b).figures().getFirst().ulps();
  }

  @Test
  void theNumbersBetweenTwoAreCounted() {
    assertEquals(List.of(1L, 1L), ulps(floats(1, 2), floats(Math.nextUp(1f), 2)));
    assertEquals(List.of(1L), ulps(floats(2), floats(2)));
    float least = Float.MIN_VALUE;
    assertEquals(List.of(1L, 0L, 1L), ulps(floats(-least, 0f), floats(least, -0f)));
    float most = Float.MAX_VALUE;
    assertEquals(33, ulps(floats(most), floats(-most)).size());
    ByteBuffer doubles = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    doubles.putDouble(0, Double.MAX_VALUE);
    ByteBuffer others = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    others.putDouble(0, -Double.MAX_VALUE);
    List<Long> furthest =
        ulps(
            new Answer(DataType.FP64, List.of(1L), doubles),
            new Answer(DataType.FP64, List.of(1L), others));
    assertEquals(65, furthest.size());
    assertEquals(1, furthest.getLast());
    Answer half = // 1, and the number that follows it
        new Answer(DataType.FP16, List.of(1L), ByteBuffer.wrap(new byte[] {0x00, 0x3c}));
    Answer next = new Answer(DataType.FP16, List.of(1L), ByteBuffer.wrap(new byte[] {0x01, 0x3c}));
    assertEquals(List.of(0L, 1L), ulps(half, next));
  }

  @Test
  void noiseIsNoDifferenceAndMoreThanNoiseIs() {
    AnswerComparison comparison = new AnswerComparison(Map.of(), Map.of("m/OUT", 0.01));
    assertEquals(
        0, comparison.add("m", "r1", Map.of("OUT", floats(1)), Map.of("OUT", floats(1.009f))));
    assertFalse(comparison.differs());
    assertTrue(comparison.text().contains("1 within the noise of 1.00e-02"), comparison.text());
    double by = comparison.add("m", "r2", Map.of("OUT", floats(1)), Map.of("OUT", floats(1.011f)));
    assertTrue(by > 100, "tolerances: " + by);
    assertTrue(comparison.differs());
    assertEquals("r2", comparison.figures().getFirst().worst());
  }

  @Test
  void tolerancesComeFromAFile() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("tolerances"), "# all\ndefault = 0,0\nm/OUT = 0.1, 1e-9\n");
    AnswerComparison comparison = new AnswerComparison(Tolerance.read(file), Map.of());
    comparison.add("m", "r", Map.of("OUT", floats(1)), Map.of("OUT", floats(1.05f)));
    assertFalse(comparison.differs());
    comparison.add("m", "r", Map.of("B", floats(1)), Map.of("B", floats(1.000001f)));
    assertTrue(comparison.differs());
  }
}
