package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the first bytes of a plan tell. */
class PlanFileTest {

  /** The first bytes of a plan of TensorRT 10.6.0.26. */
  static byte[] header() {
    byte[] bytes = Arrays.copyOf("ftrt".getBytes(StandardCharsets.US_ASCII), 64);
    bytes[24] = 10;
    bytes[25] = 6;
    bytes[27] = 26;
    return bytes;
  }

  private static Optional<TensorRtVersion> version(byte[] bytes) {
    return PlanFile.version(MemorySegment.ofArray(bytes));
  }

  @Test
  void theVersionStandsInTheHeader() {
    assertEquals(Optional.of(new TensorRtVersion(10, 6, 0)), version(header()));
  }

  @Test
  void ofAnotherFormatNothingIsKnownButThatItIsAPlan() {
    byte[] bytes = header();
    bytes[4] = 1;
    assertTrue(PlanFile.isPlan(MemorySegment.ofArray(bytes)));
    assertEquals(Optional.empty(), version(bytes));
  }

  @Test
  void otherFilesAreNone() {
    byte[] bytes = header();
    bytes[0] = 8; // as ONNX files begin
    assertFalse(PlanFile.isPlan(MemorySegment.ofArray(bytes)));
    byte[] cut = Arrays.copyOf(header(), (int) PlanFile.HEADER_BYTES - 1);
    assertFalse(PlanFile.isPlan(MemorySegment.ofArray(cut)));
    assertFalse(PlanFile.isPlan(MemorySegment.ofArray(new byte[0])));
  }

  @Test
  void filesAreMappedEmptyOnesToo(@TempDir Path directory) throws IOException {
    Path plan = Files.write(directory.resolve("model.plan"), header());
    try (PlanFile file = new PlanFile(plan)) {
      assertTrue(PlanFile.isPlan(file.bytes()));
    }
    try (PlanFile file = new PlanFile(Files.createFile(directory.resolve("empty")))) {
      assertEquals(0, file.bytes().byteSize());
    }
    NereidException e =
        assertThrows(NereidException.class, () -> new PlanFile(directory.resolve("none")));
    assertEquals(StatusCode.NOT_FOUND, e.code());
  }
}
