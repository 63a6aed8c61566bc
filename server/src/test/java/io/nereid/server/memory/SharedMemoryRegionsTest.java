package io.nereid.server.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedMemoryRegionsTest {

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static void expect(StatusCode code, String message, Runnable action) {
    NereidException failure = assertThrows(NereidException.class, action::run);
    assertEquals(code, failure.code(), failure::getMessage);
    assertTrue(failure.getMessage().contains(message), failure::getMessage);
  }

  @Test
  void readsAndWritesWithinTheRegion() throws IOException {
    try (Segment segment = new Segment(64);
        SharedMemoryRegions regions = new SharedMemoryRegions(true);
        Arena arena = Arena.ofConfined()) {
      segment.write(20, new byte[] {1, 2, 3, 4});
      regions.register("r", segment.key(), 16, 32);
      try (RegionSlice slice = regions.slice("r", 4, 4)) {
        MemorySegment to = arena.allocate(4);
        slice.read(to);
        assertArrayEquals(new byte[] {1, 2, 3, 4}, to.toArray(ValueLayout.JAVA_BYTE));
        slice.write("OUT", bytes("ab"));
        expect(
            StatusCode.INVALID_ARGUMENT,
            "shared memory size specified with the request for output 'OUT' (4 bytes) should be at"
                + " least 5 bytes to hold the results",
            () -> slice.write("OUT", bytes("abcde")));
      }
      assertArrayEquals(new byte[] {0, 'a', 'b', 3, 4, 0}, segment.read(19, 6));
      String invalid = "Invalid offset + byte size for shared memory region: 'r'";
      expect(StatusCode.INVALID_ARGUMENT, invalid, () -> regions.slice("r", 0, 33));
      expect(StatusCode.INVALID_ARGUMENT, invalid, () -> regions.slice("r", 33, 0));
      expect(StatusCode.INVALID_ARGUMENT, invalid, () -> regions.slice("r", Long.MAX_VALUE, 9));
      expect(StatusCode.INVALID_ARGUMENT, invalid, () -> regions.slice("r", -1, 1));
      expect(
          StatusCode.NOT_FOUND,
          "Unable to find shared memory region: 'other'",
          () -> regions.slice("other", 0, 1));
    }
  }

  @Test
  void aRegionMustLieInItsSegment() throws IOException {
    try (Segment segment = new Segment(64);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      String invalid = "Invalid offset + byte size for shared memory region: 'r'";
      for (long[] range : new long[][] {{0, 65}, {65, 1}, {64, 1}, {1, Long.MAX_VALUE}}) {
        expect(
            StatusCode.INVALID_ARGUMENT,
            invalid,
            () -> regions.register("r", segment.key(), range[0], range[1]));
      }
      expect(
          StatusCode.INVALID_ARGUMENT,
          "byte size of 1 or more",
          () -> regions.register("r", segment.key(), 0, 0));
      expect(
          StatusCode.INVALID_ARGUMENT,
          "expected a name of 1 to 1024 characters",
          () -> regions.register("", segment.key(), 0, 1));
      assertEquals(0, segment.openCount());
      regions.register("r", segment.key(), 63, 1);
      expect(
          StatusCode.ALREADY_EXISTS,
          "shared memory region 'r' already in manager",
          () -> regions.register("r", segment.key(), 0, 1));
      assertEquals(1, segment.openCount());
    }
  }

  @Test
  void aKeyIsNoLongerThanNamesOfFiles() {
    try (SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      for (String key : List.of("/" + "x".repeat(256), "/" + "\u00e9".repeat(128))) {
        expect(
            StatusCode.INVALID_ARGUMENT,
            "of at most 255 bytes",
            () -> regions.register("r", key, 0, 1));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "/", ".", "/..", "/../etc/passwd", "/a/b", "//x", "a/../b", "/nul\0nul"})
  void aKeyIsOnePlainName(String key) {
    try (SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      expect(
          StatusCode.INVALID_ARGUMENT,
          "cannot register shared memory region 'r' - invalid shm key '"
              + key
              + "': expected '/NAME'",
          () -> regions.register("r", key, 0, 1));
    }
  }

  @Test
  void onlyPlainFilesAreOpened() throws Exception {
    Path directory = Segment.directory();
    Path link = directory.resolve(Segment.freshName());
    Path folder = directory.resolve(Segment.freshName());
    Path pipe = directory.resolve(Segment.freshName());
    try (Segment segment = new Segment(8);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      Files.createSymbolicLink(link, directory.resolve(segment.key().substring(1)));
      Files.createDirectory(folder);
      assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
      for (Path path : List.of(link, folder, pipe, directory.resolve("nereid-test-none"))) {
        String key = "/" + path.getFileName();
        expect(
            StatusCode.INVALID_ARGUMENT,
            "Unable to open shared memory region: '" + key + "'",
            () -> regions.register("r", key, 0, 1));
      }
    } finally {
      Files.deleteIfExists(link);
      Files.deleteIfExists(folder);
      Files.deleteIfExists(pipe);
    }
  }

  @Test
  void aSegmentThatBecameShorterIsAnErrorAndStaysAsItIs() throws IOException {
    try (Segment segment = new Segment(64);
        SharedMemoryRegions regions = new SharedMemoryRegions(true);
        Arena arena = Arena.ofConfined()) {
      regions.register("r", segment.key(), 0, 64);
      segment.resize(10);
      try (RegionSlice slice = regions.slice("r", 8, 4)) {
        String message = "has become too short: expected at least 12 bytes, got 10";
        expect(StatusCode.INVALID_ARGUMENT, message, () -> slice.read(arena.allocate(4)));
        expect(StatusCode.INVALID_ARGUMENT, message, () -> slice.write("O", bytes("abcd")));
        slice.write("O", bytes(""));
        assertEquals(10, segment.byteSize());
        segment.resize(12);
        slice.write("O", bytes("abcd"));
      }
      assertArrayEquals(new byte[] {'a', 'b', 'c', 'd'}, segment.read(8, 4));
    }
  }

  @Test
  void anInterruptedThreadDoesNotCloseTheRegionForOthers() throws IOException {
    try (Segment segment = new Segment(8);
        SharedMemoryRegions regions = new SharedMemoryRegions(true);
        Arena arena = Arena.ofConfined()) {
      regions.register("r", segment.key(), 0, 8);
      Thread.currentThread().interrupt();
      try (RegionSlice slice = regions.slice("r", 0, 2)) {
        slice.write("O", bytes("ok"));
        assertTrue(Thread.interrupted());
        slice.read(arena.allocate(2));
      }
      assertArrayEquals(new byte[] {'o', 'k'}, segment.read(0, 2));
    }
  }

  @Test
  void aRegionInUseLeavesWithItsLastUser() throws IOException {
    try (Segment segment = new Segment(8);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      regions.register("r", segment.key(), 0, 8);
      RegionSlice one = regions.slice("r", 0, 2);
      RegionSlice other = regions.slice("r", 2, 2);
      regions.unregister("r");
      regions.unregisterAll();
      assertEquals(1, regions.status("r").size());
      expect(StatusCode.NOT_FOUND, "Unable to find", () -> regions.slice("r", 0, 1));
      expect(
          StatusCode.ALREADY_EXISTS,
          "already in manager",
          () -> regions.register("r", segment.key(), 0, 8));
      one.close();
      one.close();
      other.write("O", bytes("ok"));
      assertEquals(1, segment.openCount());
      other.close();
      assertEquals(0, segment.openCount());
      assertEquals(List.of(), regions.status());
      assertThrows(IllegalStateException.class, () -> other.write("O", bytes("no")));
      regions.register("r", segment.key(), 0, 8);
    }
  }

  @Test
  void isOffUnlessTurnedOn() {
    try (SharedMemoryRegions regions = new SharedMemoryRegions(false)) {
      String message =
          "Client shared memory is disabled. Start the server with '--allow-client-shm";
      expect(StatusCode.UNIMPLEMENTED, message, () -> regions.register("r", "/x", 0, 1));
      expect(StatusCode.UNIMPLEMENTED, message, () -> regions.slice("r", 0, 1));
      expect(StatusCode.UNIMPLEMENTED, message, () -> regions.unregister("r"));
      expect(StatusCode.UNIMPLEMENTED, message, regions::unregisterAll);
      assertEquals(List.of(), regions.status());
      assertEquals(List.of(), regions.status("r"));
    }
  }

  @Test
  void thereAreNotTooManyRegions() throws IOException {
    try (Segment segment = new Segment(8);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      for (int i = 0; i < SharedMemoryRegions.MAX_REGIONS; i++) {
        regions.register("r" + i, segment.key(), 0, 8);
      }
      expect(
          StatusCode.RESOURCE_EXHAUSTED,
          "expected at most 1024 shared memory regions",
          () -> regions.register("more", segment.key(), 0, 8));
      assertEquals(SharedMemoryRegions.MAX_REGIONS, segment.openCount());
      regions.unregisterAll();
      assertEquals(0, segment.openCount());
    }
  }

  /** Threads that register, use and unregister the same names; each use sees its own bytes. */
  @Test
  void manyMayUseAndUnregisterAtOnce() throws Exception {
    try (Segment segment = new Segment(64);
        SharedMemoryRegions regions = new SharedMemoryRegions(true)) {
      List<Future<?>> runs = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < 8; i++) {
          long offset = i * 8L;
          runs.add(threads.submit(() -> churn(segment, regions, offset)));
        }
      }
      for (Future<?> run : runs) {
        finish(run);
      }
      regions.unregisterAll();
      assertEquals(List.of(), regions.status());
      assertEquals(0, segment.openCount());
    }
  }

  private static void finish(Future<?> run) throws Exception {
    try {
      run.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  private static void churn(Segment segment, SharedMemoryRegions regions, long offset) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment from = arena.allocate(8);
      MemorySegment to = arena.allocate(8);
      for (int i = 0; i < 500; i++) {
        String name = "r" + random.nextInt(3);
        try {
          switch (random.nextInt(4)) {
            case 0 -> regions.register(name, segment.key(), 0, 64);
            case 1 -> regions.unregister(name);
            default -> {
              try (RegionSlice slice = regions.slice(name, offset, 8)) {
                from.set(ValueLayout.JAVA_LONG, 0, random.nextLong());
                slice.write("O", from);
                slice.read(to);
                assertEquals(-1, from.mismatch(to));
              }
            }
          }
        } catch (NereidException e) {
          assertTrue(
              e.code() == StatusCode.NOT_FOUND || e.code() == StatusCode.ALREADY_EXISTS,
              e::toString);
        }
      }
    }
  }
}
