package io.nereid.server.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.nereid.server.memory.Region.SystemRegion;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests that use regions while these come and go, in the orders of steps that Lincheck tries.
 * Lincheck refuses all that works on files: memory of the heap takes the place of a segment.
 */
@Tag("endure")
class RegionOrdersTest {

  private static final int ORDERS = 1_000;

  /** Memory that knows whether it is closed. */
  private static final class Heap implements RegionMemory {
    private final byte[] bytes = new byte[64];
    private volatile boolean closed;

    private MemorySegment at(long position, MemorySegment other) {
      assertFalse(closed, "it was closed while a request used it");
      return MemorySegment.ofArray(bytes).asSlice(position, other.byteSize());
    }

    @Override
    public void read(long position, MemorySegment to) {
      to.copyFrom(at(position, to));
    }

    @Override
    public void write(long position, MemorySegment from) {
      at(position, from).copyFrom(from);
    }

    @Override
    public void close() {
      assertFalse(closed, "it was closed twice");
      closed = true;
    }
  }

  private final SystemRegion region = new SystemRegion("r", "/r", 0, 64);

  /** A field: Lincheck takes what lambdas alone capture for a thread's own, and tries no orders. */
  private SharedMemoryRegions regions;

  /** Does it, unless the other thread was first. */
  private static boolean succeeds(StatusCode otherwise, Runnable action) {
    try {
      action.run();
      return true;
    } catch (NereidException e) {
      assertEquals(otherwise, e.code(), e.getMessage());
      return false;
    }
  }

  private void use() {
    try (RegionSlice slice = regions.slice("r", 4, 4)) {
      slice.write("OUT", MemorySegment.ofArray(new byte[4]));
      slice.read(MemorySegment.ofArray(new byte[4]));
    }
  }

  /** Runs both at the same time; none fails. */
  private static void together(Runnable one, Runnable other) {
    Throwable[] failure = new Throwable[1];
    Thread thread =
        new Thread(() -> {
          try {
            other.run();
          } catch (Throwable t) {
            failure[0] = t;
          }
        });
    thread.start();
    one.run();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (failure[0] != null) {
      throw new AssertionError(failure[0]);
    }
  }

  @Test
  void aRegionIsForgottenWhileARequestUsesIt() {
    Lincheck.runConcurrentTest(
        ORDERS,
        () -> {
          regions = new SharedMemoryRegions(true);
          Heap memory = new Heap();
          regions.add(region, memory);
          together(() -> succeeds(StatusCode.NOT_FOUND, this::use), () -> regions.unregister("r"));
          assertEquals(List.of(), regions.status());
          assertEquals(true, memory.closed);
        });
  }

  @Test
  void aNameIsGivenAnewWhileTheFirstRegionLeaves() {
    Lincheck.runConcurrentTest(
        ORDERS,
        () -> {
          regions = new SharedMemoryRegions(true);
          Heap first = new Heap();
          Heap next = new Heap();
          regions.add(region, first);
          boolean[] added = new boolean[1];
          together(
              () -> succeeds(StatusCode.NOT_FOUND, this::use),
              () -> {
                regions.unregister("r");
                added[0] = succeeds(StatusCode.ALREADY_EXISTS, () -> regions.add(region, next));
              });
          assertEquals(true, first.closed);
          assertEquals(added[0] ? 1 : 0, regions.status().size());
          regions.close();
          assertEquals(added[0], next.closed);
        });
  }
}
