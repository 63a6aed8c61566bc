package io.nereid.server.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Values of files that cannot be read for a while. */
class ReloadedFilesTest {

  @TempDir private Path directory;

  private static void await(BooleanSupplier condition, String otherwise) {
    long deadlineNs = System.nanoTime() + 60_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadlineNs, otherwise);
      LockSupport.parkNanos(20_000_000);
    }
  }

  @Test
  void filesThatHangHoldUpNobodyAndAreToldOnce() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "one");
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    AtomicReference<Thread> reader = new AtomicReference<>();
    ReloadedFiles<String> value =
        new ReloadedFiles<>(
            "the value",
            List.of(file),
            () -> {
              String text = Files.readString(file);
              if (!text.equals("one")) {
                reader.set(Thread.currentThread());
                hanging.countDown();
                try {
                  ended.await();
                } catch (InterruptedException e) {
                  throw new IOException(e);
                }
              }
              return text;
            });
    try (ForwardedLog log = new ForwardedLog(ReloadedFiles.class)) {
      Files.writeString(file, "another");
      await(() -> value.current().equals("one") && hanging.getCount() == 0, "nobody looked");
      assertTrue(reader.get() != Thread.currentThread() && !reader.get().isVirtual());
      for (int i = 0; i < 1000; i++) {
        assertEquals("one", value.current());
      }
      assertEquals(1, log.lines().size(), log.lines().toString());
      ended.countDown();
      await(() -> value.current().equals("another"), "the value is still the old one");
    } finally {
      ended.countDown();
    }
  }

  @Test
  void aReadThatFailsOnceIsToldAndTriedAgain() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "one");
    AtomicLong nowNs = new AtomicLong();
    AtomicInteger failures = new AtomicInteger();
    ReloadedFiles<String> value =
        new ReloadedFiles<>(
            "the value",
            List.of(file),
            () -> {
              if (failures.getAndDecrement() > 0) {
                throw new IOException("Input/output error");
              }
              return Files.readString(file);
            },
            nowNs::get);
    try (ForwardedLog log = new ForwardedLog(ReloadedFiles.class)) {
      Files.writeString(file, "another");
      failures.set(2);
      await(
          () -> {
            nowNs.addAndGet(2_000_000_000);
            return value.current().equals("another");
          },
          "the value is still the old one");
      assertEquals(-1, failures.get()); // it was read three times
      await(() -> log.linesOfReads().size() == 2, "not both were told");
    }
  }

  @Test
  void onlyRegularFilesOfASensibleSizeAreRead() throws Exception {
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("target"));
    assertThrows(IOException.class, () -> SmallFile.read(link, StandardCharsets.UTF_8));
    Files.writeString(directory.resolve("target"), "text");
    assertEquals("text", SmallFile.read(link, StandardCharsets.UTF_8));
    for (Path none : List.of(Path.of("/dev/zero"), directory)) {
      IOException e =
          assertThrows(IOException.class, () -> SmallFile.read(none, StandardCharsets.UTF_8));
      assertEquals(none + ": expected a regular file, got something else", e.getMessage());
    }
    Path large = Files.write(directory.resolve("large"), new byte[SmallFile.MAX_BYTES + 1]);
    IOException e =
        assertThrows(IOException.class, () -> SmallFile.read(large, StandardCharsets.UTF_8));
    assertTrue(e.getMessage().contains("expected at most 16777216 bytes"), e.getMessage());
    assertTrue(
        SmallFile.read(Path.of("/proc/self/status"), StandardCharsets.UTF_8).contains("Pid"));
  }
}
