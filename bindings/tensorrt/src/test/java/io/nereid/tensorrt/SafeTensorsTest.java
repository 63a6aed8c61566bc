package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of safetensors, right ones and others. */
class SafeTensorsTest {

  private static final int MUTATIONS = 1000;

  @TempDir private Path directory;

  /** A file with a header and as many bytes of tensors, which count up from 0. */
  static byte[] file(String header, int dataBytes) {
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer all = ByteBuffer.allocate(Long.BYTES + text.length + dataBytes);
    all.order(ByteOrder.LITTLE_ENDIAN).putLong(text.length).put(text);
    for (int i = 0; i < dataBytes; i++) {
      all.put((byte) i);
    }
    return all.array();
  }

  private static final String TWO =
      """
      {"__metadata__": {"format": "pt"},
       "b": {"dtype": "F16", "shape": [3], "data_offsets": [8, 14]},
       "a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}}  \
      """;

  private SafeTensors open(byte[] bytes) throws IOException {
    return new SafeTensors(Files.write(directory.resolve("model.safetensors"), bytes));
  }

  @Test
  void tensorsAreFoundByTheirNames() throws IOException {
    try (SafeTensors file = open(file(TWO, 14))) {
      assertEquals(2, file.tensors().size());
      SafeTensors.Stored a = file.tensors().get("a");
      assertEquals(EngineType.FLOAT, a.type().engineType());
      assertEquals(List.of(2L, 1L), a.shape());
      assertEquals(2, a.count());
      assertEquals(8, file.read(a).byteSize());
      SafeTensors.Stored b = file.tensors().get("b");
      assertEquals(EngineType.HALF, b.type().engineType());
      byte[] expected = {8, 9, 10, 11, 12, 13};
      assertArrayEquals(expected, file.read(b).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  @Test
  void emptyAndScalarTensorsAreTensors() throws IOException {
    String header =
        "{\"none\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[0,0]},"
            + "\"one\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]}}";
    try (SafeTensors file = open(file(header, 1))) {
      assertEquals(0, file.tensors().get("none").count());
      assertEquals(1, file.tensors().get("one").count());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[]|0|an object in the header",
        "{\"a\":1}|0|an object for 'a'",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}|7|of 7 bytes",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}|9|got 9 (is the file",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}|12|at [0, 8], got [4",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}|8|of shape [3]",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}|8|that is not negative",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2.5],\"data_offsets\":[0,8]}}|8|a whole number",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,8]}}|8"
            + "|that fits into memory",
        "{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}|8|a dtype such as F32",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}|8|two data_offsets",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}|8|got 'x'",
        "{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
            + "\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[1,2]}}|2|Duplicate",
        "{} {}|0|nothing behind the object"
      })
  void filesOfAnotherFormatAreRefusedInWords(String header, int dataBytes, String said)
      throws IOException {
    byte[] bytes = file(header, dataBytes);
    NereidException e = assertThrows(NereidException.class, () -> open(bytes));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertTrue(e.getMessage().contains(said), e.getMessage());
  }

  @Test
  void aSizeOfTheHeaderThatCannotBeIsRefused() throws IOException {
    for (long size : new long[] {0, 1, 100, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      byte[] bytes = file(TWO, 14);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(size);
      assertEquals(
          StatusCode.INVALID_ARGUMENT,
          assertThrows(NereidException.class, () -> open(bytes)).code());
    }
    assertThrows(NereidException.class, () -> open(new byte[7]));
  }

  @Test
  void aFileThatIsCutWhileItIsReadIsRefusedInWords() throws IOException {
    try (SafeTensors file = open(file(TWO, 14))) {
      SafeTensors.Stored b = file.tensors().get("b");
      Path path = directory.resolve("model.safetensors");
      Files.write(path, java.util.Arrays.copyOf(Files.readAllBytes(path), 20));
      NereidException e = assertThrows(NereidException.class, () -> file.read(b));
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      assertTrue(e.getMessage().contains("cut off meanwhile"), e.getMessage());
    }
  }

  /** Each of them is read, or refused in a line. */
  @Test
  void aFileThatIsWrongAnywhereIsReadOrRefused() throws IOException {
    Random random = new Random(47);
    int refused = 0;
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] bytes = file(TWO, 14);
      int length = i % 4 == 0 ? random.nextInt(bytes.length) : bytes.length;
      bytes = java.util.Arrays.copyOf(bytes, length);
      for (int j = random.nextInt(3); j >= 0 && length > 0; j--) {
        bytes[random.nextInt(length)] = (byte) random.nextInt(256);
      }
      try (SafeTensors file = open(bytes)) {
        long sum =
            file.tensors().values().stream().mapToLong(one -> file.read(one).byteSize()).sum();
        assertTrue(sum <= 14, "bytes of tensors: " + sum);
      } catch (NereidException e) {
        assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
        assertTrue(e.getMessage().contains("is no file of safetensors"), e.getMessage());
        refused++;
      }
    }
    assertTrue(refused > MUTATIONS / 2, "refused: " + refused);
  }
}
