package io.nereid.server.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.server.memory.Region.CudaRegion;
import io.nereid.server.memory.Region.SystemRegion;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Regions on GPUs beside those of the system, and what is said where there is no GPU. */
class CudaRegionsTest {

  private static void expect(StatusCode code, String message, Runnable action) {
    NereidException failure = assertThrows(NereidException.class, action::run);
    assertEquals(code, failure.code(), failure::getMessage);
    assertTrue(failure.getMessage().contains(message), failure::getMessage);
  }

  /** Memory of the test's own, of which only the table of regions is told that it is on a GPU. */
  private static final class PlainMemory implements RegionMemory {
    final byte[] bytes = new byte[16];
    boolean closed;

    @Override
    public void read(long position, MemorySegment to) {
      MemorySegment.copy(MemorySegment.ofArray(bytes), position, to, 0, to.byteSize());
    }

    @Override
    public void write(long position, MemorySegment from) {
      MemorySegment.copy(from, 0, MemorySegment.ofArray(bytes), position, from.byteSize());
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Test
  void whileItIsOffTheFlagIsNamed() {
    CudaRegions cuda = new CudaRegions(new SharedMemoryRegions(false), device -> {});
    assertFalse(cuda.isEnabled());
    String message =
        "CUDA shared memory is not supported: Client shared memory is disabled. Start the server"
            + " with '--allow-client-shm=true' to enable it.";
    expect(StatusCode.UNIMPLEMENTED, message, () -> cuda.register("r", new byte[64], 0, 8));
    expect(StatusCode.UNIMPLEMENTED, message, () -> cuda.unregister("r"));
    expect(StatusCode.UNIMPLEMENTED, message, cuda::unregisterAll);
    assertEquals(List.of(), cuda.status());
    assertEquals(List.of(), cuda.status("r"));
  }

  @Test
  void withoutAGpuTheReasonIsTold() {
    assumeFalse(CudaDriver.isPresent(), "there is a GPU here");
    CudaRegions cuda =
        new CudaRegions(
            new SharedMemoryRegions(true),
            device -> {
              throw new AssertionError("there is nothing to be done before nothing");
            });
    assertFalse(cuda.isEnabled());
    String message = "CUDA shared memory is not supported: " + CudaDriver.absence();
    expect(StatusCode.UNIMPLEMENTED, message, () -> cuda.register("r", new byte[64], 0, 8));
    cuda.unregister("r");
    cuda.unregisterAll();
    assertEquals(List.of(), cuda.status());
    assertEquals(List.of(), cuda.status("r"));
  }

  @Test
  void kindsShareNamesAndNothingElse() throws IOException {
    PlainMemory memory = new PlainMemory();
    try (Segment segment = new Segment(8);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      CudaRegions cuda = new CudaRegions(regions, device -> {});
      CudaRegion region = new CudaRegion("gpu", 0, 16);
      regions.add(region, memory);
      regions.register("host", segment.key(), 0, 8);
      expect(
          StatusCode.ALREADY_EXISTS,
          "shared memory region 'gpu' already in manager",
          () -> regions.register("gpu", segment.key(), 0, 8));
      assertEquals(List.of(region), cuda.status());
      assertEquals(List.of("host"), names(regions));
      String unknown = "Unable to find shared memory region: 'gpu'";
      expect(StatusCode.NOT_FOUND, unknown, () -> regions.status("gpu"));

      regions.unregister("gpu");
      regions.unregisterAll();
      assertEquals(List.of(), names(regions));
      assertEquals(List.of(region), cuda.status());
      assertFalse(memory.closed);

      regions.unregister("gpu", CudaRegion.class);
      assertTrue(memory.closed);
      assertEquals(List.of(), cuda.status());
    }
  }

  private static List<String> names(SharedMemoryRegions regions) {
    return regions.status().stream().map(SystemRegion::name).toList();
  }

  @Test
  void tensorsFindARegionOfEitherKindByName() {
    PlainMemory memory = new PlainMemory();
    memory.bytes[5] = 7;
    try (SharedMemoryRegions regions = new SharedMemoryRegions(true);
        Arena arena = Arena.ofConfined()) {
      regions.add(new CudaRegion("gpu", 0, 12), memory);
      try (RegionSlice slice = regions.slice("gpu", 4, 8)) {
        MemorySegment tensor = arena.allocate(8);
        slice.read(tensor);
        assertEquals(7, tensor.get(ValueLayout.JAVA_BYTE, 1));
        tensor.set(ValueLayout.JAVA_BYTE, 7, (byte) 9);
        regions.unregister("gpu", CudaRegion.class);
        assertFalse(memory.closed, "a request uses it");
        slice.write("OUT", tensor);
      }
      assertTrue(memory.closed);
      assertEquals(9, memory.bytes[11]);
      expect(StatusCode.NOT_FOUND, "'gpu'", () -> regions.slice("gpu", 0, 1));
      regions.add(new CudaRegion("gpu", 0, 12), memory);
      expect(StatusCode.INVALID_ARGUMENT, "at most 12 bytes", () -> regions.slice("gpu", 0, 13));
    }
  }

  // ---- With a GPU ------------------------------------------------------------------------------

  @Test
  @Tag("gpu")
  void memoryOfAnotherProcessIsReadAndWritten() throws IOException {
    int byteSize = 4 << 20;
    try (CudaExporter client = new CudaExporter(byteSize);
        SharedMemoryRegions regions = new SharedMemoryRegions(true);
        Arena arena = Arena.ofConfined()) {
      int[] before = {0};
      CudaRegions cuda = new CudaRegions(regions, device -> before[device]++);
      cuda.register("gpu", client.handle(), 0, byteSize);
      assertEquals(1, before[0]);
      assertEquals(List.of(new CudaRegion("gpu", 0, byteSize)), cuda.status("gpu"));
      MemorySegment tensor = arena.allocate(byteSize / 2);
      try (RegionSlice slice = regions.slice("gpu", 3, tensor.byteSize())) {
        slice.read(tensor);
        for (int i = 0; i < tensor.byteSize(); i++) {
          assertEquals(CudaExporter.firstContent(i + 3), tensor.get(ValueLayout.JAVA_BYTE, i));
        }
        tensor.fill((byte) 0x5a);
        slice.write("OUT", tensor);
      }
      byte[] expected = new byte[byteSize];
      for (int i = 0; i < byteSize; i++) {
        boolean written = i >= 3 && i < 3 + byteSize / 2;
        expected[i] = written ? (byte) 0x5a : CudaExporter.firstContent(i);
      }
      assertArrayEquals(expected, client.contents());
      cuda.unregisterAll();
      cuda.register("gpu", client.handle(), 0, byteSize); // it can be opened again
    }
  }

  @Test
  @Tag("gpu")
  void wrongRegistrationsAreRefused() throws IOException {
    int byteSize = 2 << 20;
    try (CudaExporter client = new CudaExporter(byteSize);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      CudaRegions cuda = new CudaRegions(regions, device -> {});
      StatusCode invalid = StatusCode.INVALID_ARGUMENT;
      byte[] handle = client.handle();
      expect(invalid, "1 to 1024 characters", () -> cuda.register("", handle, 0, 8));
      expect(invalid, "64 bytes", () -> cuda.register("r", new byte[63], 0, 8));
      expect(invalid, "a byte size of 1 or more", () -> cuda.register("r", handle, 0, 0));
      expect(invalid, "the number of a GPU", () -> cuda.register("r", handle, 1000, 8));
      expect(invalid, "the number of a GPU", () -> cuda.register("r", handle, -1, 8));
      expect(
          invalid,
          "Unable to open CUDA shared memory region: 'r'",
          () -> cuda.register("r", new byte[64], 0, 8));
      // CUDA may share more than was allocated, up to its own granularity.
      expect(
          invalid,
          "Invalid offset + byte size",
          () -> cuda.register("r", handle, 0, (long) byteSize << 10));
      cuda.register("r", handle, 0, byteSize);
      expect(
          StatusCode.ALREADY_EXISTS, "already in manager", () -> cuda.register("r", handle, 0, 8));
      assertEquals(1, cuda.status().size());
    }
  }
}
