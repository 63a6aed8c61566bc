package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The facts in the first bytes of a plan. */
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
  void aPlanOfAnotherFormatIsOnlyKnownAsAPlan() {
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
  void filesAreReadEmptyOnesToo(@TempDir Path directory) throws IOException {
    Path plan = Files.write(directory.resolve("model.plan"), header());
    try (PlanFile file = new PlanFile(plan)) {
      assertArrayEquals(header(), file.read().toArray(JAVA_BYTE));
    }
    try (PlanFile file = new PlanFile(Files.createFile(directory.resolve("empty")))) {
      assertEquals(0, file.read().byteSize());
    }
    NereidException e =
        assertThrows(NereidException.class, () -> new PlanFile(directory.resolve("none")));
    assertEquals(StatusCode.NOT_FOUND, e.code());
  }

  @Test
  void aPlanThatIsCutLaterIsWholeInMemory(@TempDir Path directory) throws IOException {
    byte[] bytes = Arrays.copyOf(header(), 1 << 20);
    Path plan = Files.write(directory.resolve("model.plan"), bytes);
    try (PlanFile file = new PlanFile(plan)) {
      MemorySegment whole = file.read();
      Files.write(plan, new byte[0]); // as cp does
      assertArrayEquals(bytes, whole.toArray(JAVA_BYTE));
    }
  }

  @Test
  void aPlanThatIsCutBeforeItIsReadIsAnError(@TempDir Path directory) throws IOException {
    Path plan = Files.write(directory.resolve("model.plan"), header());
    try (PlanFile file = new PlanFile(plan)) {
      Files.write(plan, Arrays.copyOf(header(), 40));
      NereidException e = assertThrows(NereidException.class, file::read);
      assertEquals("expected 64 bytes, got 40: the file was cut", e.getCause().getMessage());
    }
  }

  /** The header of a plan, with something changed, in a model that a repository might have. */
  private static String said(Path directory, byte[] bytes, boolean movable) throws IOException {
    Path plan = Files.write(directory.resolve("model.plan"), bytes);
    ModelSpec spec =
        ModelSpec.builder("m")
            .backend("tensorrt")
            .parameter("model_path", plan.toString())
            .parameter("version_compatible", Boolean.toString(movable))
            .build();
    try {
      List<String> notes = new TensorRtBackend().inspect(spec);
      assertEquals(1, notes.size());
      return notes.getFirst();
    } catch (NereidException e) {
      assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
      return e.getMessage();
    }
  }

  @Test
  void aPlanIsToldByItsHeaderAlone(@TempDir Path directory) throws IOException {
    byte[] ten = header();
    String said = said(directory, ten, false);
    String command = "./nereid build model.onnx -o " + directory.resolve("model.plan");
    assertTrue(
        said.contains("/model.plan was built by TensorRT 10.6.0, and is executed by that"), said);
    assertTrue(said.contains(" alone, on a GPU with CUDA 12 "), said);
    assertTrue(said.contains("installed: " + command + ", or trtexec --onnx=model.onnx"), said);
    assertTrue(said(directory, ten, true).contains("by that or a later version,"));
    byte[] eleven = header();
    eleven[24] = 11;
    said = said(directory, eleven, false);
    assertTrue(said.contains("built by TensorRT 11.6.0"), said);
    assertTrue(said.contains("CUDA 13 "), said);
    assertTrue(said.contains("installed: NEREID_TENSORRT=11 " + command), said);
    byte[] strange = header();
    strange[4] = 1;
    assertTrue(said(directory, strange, false).contains("a format that is not known here"));
  }

  @Test
  void aPlanThatNoServedVersionExecutesIsRefusedByItsHeader(@TempDir Path directory)
      throws IOException {
    byte[] old = header();
    old[24] = 8;
    String said = said(directory, old, false);
    String expected = "built by TensorRT 8.6.0, expected one of TensorRT 10 or 11: rebuild it";
    assertTrue(said.contains(expected), said);
    assertFalse(said(directory, old, true).contains("expected"), "it may bring its own runtime");
    said = said(directory, new byte[12], false);
    assertTrue(said.contains("got a file of 12 bytes that does not begin like one"), said);
    assertTrue(said.endsWith("./nereid build model.onnx -o " + directory.resolve("model.plan")));
  }

  @Test
  void metadataBeforeThePlanIsToldApart(@TempDir Path directory) throws IOException {
    byte[] metadata = "{\"task\": \"detect\"}".getBytes(StandardCharsets.US_ASCII);
    byte[] plan = header();
    byte[] file = new byte[4 + metadata.length + plan.length];
    file[0] = (byte) metadata.length;
    System.arraycopy(metadata, 0, file, 4, metadata.length);
    System.arraycopy(plan, 0, file, 4 + metadata.length, plan.length);
    String said = said(directory, file, false);
    assertTrue(said.contains("tail -c +" + (5 + metadata.length) + " cuts them off"), said);
  }

  @Test
  void aHeaderOfRandomBytesIsRefusedInWords(@TempDir Path directory) throws IOException {
    Random random = new Random(47);
    for (int i = 0; i < 1000; i++) {
      byte[] bytes = Arrays.copyOf(header(), random.nextInt(64));
      for (int j = random.nextInt(4); j >= 0 && bytes.length > 0; j--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      String said = said(directory, bytes, random.nextBoolean());
      assertEquals(1, said.lines().count(), said);
      assertTrue(said.contains("plan"), said);
    }
  }
}
