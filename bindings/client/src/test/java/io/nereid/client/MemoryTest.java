package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** Tensors and the memory that they lie in. */
class MemoryTest {

  @Test
  void memoryThatWasGivenBackIsUsedAgain() {
    MemoryPool pool = new MemoryPool(1 << 20);
    MemoryPool.Lease first = pool.take(100_000);
    first.buffer().putInt(0, 1);
    assertEquals(100_000, first.byteSize());
    assertEquals(0, first.buffer().alignmentOffset(0, 64));
    MemoryPool.Lease second = pool.take(100_000);
    second.buffer().putInt(0, 2);
    assertEquals(1, first.buffer().getInt(0));
    first.close();
    first.close();
    assertTrue(pool.idleBytes() >= 100_000 && pool.idleBytes() <= 125_000);
    assertEquals(1, pool.take(100_001).buffer().getInt(0));
    assertEquals(0, pool.idleBytes());
    pool.take(1 << 20).close();
    pool.take(1 << 20).close();
    assertEquals(1 << 20, pool.idleBytes());
    second.close();
    assertTrue(pool.idleBytes() <= 125_000, "the other size had to go");
    assertEquals(2, pool.take(100_000).buffer().getInt(0));
    assertEquals(0, pool.take(0).byteSize());
  }

  @Test
  void sizesThatDoNotFitTheShapeAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofFloats(new float[3], 2, 2));
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofInts(new int[1], -1));
    assertThrows(
        IllegalArgumentException.class, () -> Tensor.ofInts(new int[1], 1L << 40, 1L << 40));
    assertThrows(IllegalArgumentException.class, () -> Tensor.ofStrings(new String[] {"x"}, 2));
    assertThrows(
        IllegalArgumentException.class,
        () -> Tensor.ofSharedMemory(DataType.FP32, SharedMemory.Slice.of("r", 0, 7), 2));
    assertThrows(
        IllegalArgumentException.class, () -> Tensor.ofHalfFloats(DataType.FP32, new float[1], 1));
    assertThrows(IllegalStateException.class, () -> Tensor.ofInts(new int[1], 1).toFloatArray());
    assertThrows(
        IllegalStateException.class,
        () ->
            Tensor.ofSharedMemory(DataType.FP32, SharedMemory.Slice.of("r", 0, 8), 2).byteBuffer());
    assertEquals("FP32[2, 1]", Tensor.ofFloats(new float[2], 2, 1).toString());
  }

  @Test
  void halfPrecisionRoundsToTheNearest() {
    float[] values = {0, -1.5f, 65504, 1e6f, 1.00048828125f};
    assertArrayEquals(
        new float[] {0, -1.5f, 65504, Float.POSITIVE_INFINITY, 1},
        Tensor.ofHalfFloats(DataType.FP16, values, 5).toFloatArray());
    assertArrayEquals(
        new float[] {0, -1.5f, 65536, 999_424, 1},
        Tensor.ofHalfFloats(DataType.BF16, values, 5).toFloatArray());
    assertTrue(
        Float.isNaN(
            Tensor.ofHalfFloats(DataType.BF16, new float[] {Float.intBitsToFloat(0x7f800001)}, 1)
                .toFloatArray()[0]));
  }

  @Test
  void sharedMemoryIsAFileUntilItIsClosed() throws Exception {
    String key = "/nereid-client-memory-" + ProcessHandle.current().pid();
    Path file = Path.of("/dev/shm" + key);
    SharedMemory region = SharedMemory.create(key, 100_000);
    try {
      assertEquals(100_000, Files.size(file));
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      assertEquals(key.substring(1), region.name());
      region.slice(8, 4).byteBuffer().putInt(7);
      assertEquals(7, Files.readAllBytes(file)[8]);
      assertEquals(ByteBuffer.allocate(100_000 - 12), region.byteBuffer().position(12));
      assertThrows(IndexOutOfBoundsException.class, () -> region.slice(99_999, 2));
      assertThrows(UncheckedIOException.class, () -> SharedMemory.create(key, 1));
    } finally {
      region.close();
    }
    region.close();
    assertFalse(Files.exists(file));
    assertThrows(IllegalStateException.class, region::byteBuffer);
    for (String wrong : new String[] {"", "/", "x", "/a/b", "/../x"}) {
      assertThrows(IllegalArgumentException.class, () -> SharedMemory.create(wrong, 1));
    }
    assertThrows(IllegalArgumentException.class, () -> SharedMemory.create(key, 0));
  }

  @Test
  void addressesAndNamesAreChecked() {
    for (String wrong :
        new String[] {"localhost:8000", "ftp://h:1", "http://", "grpc://host", "grpc://h:1/path"}) {
      assertThrows(IllegalArgumentException.class, () -> InferenceClient.connect(wrong), wrong);
    }
    ClientOptions host = ClientOptions.builder().header("Host", "x").build();
    assertThrows(IllegalArgumentException.class, () -> InferenceClient.connect("http://h:1", host));
    assertThrows(IllegalArgumentException.class, () -> InferRequest.builder(""));
    InferRequest.Builder request =
        InferRequest.builder("m").input("A", Tensor.ofInts(new int[1], 1)).output("X");
    assertThrows(
        IllegalArgumentException.class, () -> request.input("A", Tensor.ofInts(new int[1], 1)));
    assertThrows(IllegalArgumentException.class, () -> request.classification("X", 1));
    assertThrows(IllegalArgumentException.class, () -> request.parameter("p", Double.NaN));
    assertThrows(IllegalArgumentException.class, () -> request.deadline(java.time.Duration.ZERO));
  }
}
