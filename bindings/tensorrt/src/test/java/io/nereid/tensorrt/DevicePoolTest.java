package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The accounts of the device's memory, over a device that is a table of addresses. */
class DevicePoolTest {

  private static final long MIB = 1 << 20;

  /** Hands out addresses up to a limit. */
  private static final class Table implements DevicePool.Source {
    private final long limit;
    private final Map<Long, Long> taken = new HashMap<>();
    private long next = 4096;
    private DevicePool pool;

    Table(long limit) {
      this.limit = limit;
    }

    long bytes() {
      return taken.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public long allocate(long byteSize) {
      if (bytes() + byteSize > limit) {
        return 0;
      }
      taken.put(next, byteSize);
      next += byteSize;
      return next - byteSize;
    }

    @Override
    public void free(long address) {
      assertTrue(taken.remove(address) != null, "freed what was not allocated");
    }

    @Override
    public boolean relieve() {
      return pool.trim();
    }

    @Override
    public String state() {
      return "the table has " + (limit - bytes()) + " left";
    }
  }

  private final Table table = new Table(16 * MIB);
  private final DevicePool memory = over(table);

  private static DevicePool over(Table table) {
    table.pool = new DevicePool(table);
    return table.pool;
  }

  @ParameterizedTest
  @CsvSource({
    "0, 512",
    "1, 512",
    "512, 512",
    "513, 1024",
    "1048577, 2097152",
    "2097152, 2097152",
    "2097153, 4194304",
    "5000000, 6291456"
  })
  void sizesAreRoundedUp(long byteSize, long rounded) {
    assertEquals(rounded, DevicePool.rounded(byteSize));
  }

  @Test
  void returnedMemoryIsUsedAgain() {
    DevicePool.Block first = memory.allocate(1000, "test");
    long address = first.address();
    assertEquals(1024, memory.liveBytes());
    first.release();
    assertEquals(0, memory.liveBytes());
    assertEquals(1024, memory.idleBytes());
    DevicePool.Block again = memory.allocate(900, "test");
    assertEquals(address, again.address());
    assertNotEquals(address, memory.allocate(900, "test").address());
  }

  @Test
  void idleMemoryGoesBackToTheDeviceWhenThatIsFull() {
    memory.allocate(10 * MIB, "test").release();
    assertEquals(10 * MIB, table.bytes());
    memory.allocate(12 * MIB, "test");
    assertEquals(12 * MIB, table.bytes());
    assertEquals(0, memory.idleBytes());
  }

  @Test
  void sizesThatGrowLeaveNoMoreThanWasInUse() {
    Table large = new Table(Long.MAX_VALUE);
    DevicePool pool = over(large);
    DevicePool.Block block = pool.allocate(2 * MIB, "test");
    for (long size = 4; size <= 200; size += 2) {
      DevicePool.Block larger = pool.allocate(size * MIB, "test");
      block.release();
      block = larger;
      assertTrue(pool.idleBytes() <= Math.max(size * MIB, DevicePool.KEPT));
      assertEquals(pool.liveBytes() + pool.idleBytes(), large.bytes());
    }
    assertTrue(pool.idleBytes() > 0);
    block.release();
    assertEquals(0, pool.liveBytes());
    assertTrue(large.bytes() <= 398 * MIB); // the last two at once
    pool.trim();
    pool.allocate(200 * MIB, "test").release();
    assertEquals(200 * MIB, large.bytes());
  }

  @Test
  void sizesThatWereNotAskedForTheLongestGoFirst() {
    DevicePool pool = over(new Table(Long.MAX_VALUE));
    long often = 0;
    for (long size : new long[] {30, 32, 30, 20}) {
      DevicePool.Block block = pool.allocate(size * MIB, "test");
      often = size == 30 ? block.address() : often;
      block.release();
    }
    assertEquals(50 * MIB, pool.idleBytes());
    assertEquals(often, pool.allocate(30 * MIB, "test").address());
  }

  @Test
  void aFullDeviceIsAnErrorAfterWhichTheRestWorks() {
    DevicePool.Block most = memory.allocate(12 * MIB, "activations");
    NereidException e =
        assertThrows(NereidException.class, () -> memory.allocate(6 * MIB, "input 'x'"));
    assertEquals(StatusCode.RESOURCE_EXHAUSTED, e.code());
    assertEquals(
        "expected 6291456 bytes of memory for input 'x', the table has 4194304 left; Nereid's"
            + " inputs, outputs and activations take 12582912: use fewer instances,"
            + " batches_in_flight or a smaller profile",
        e.getMessage());
    most.release();
    assertEquals(6 * MIB, memory.allocate(6 * MIB, "input 'x'").byteSize());
  }

  @Test
  void trimmingLeavesWhatIsInUse() {
    DevicePool.Block kept = memory.allocate(300, "test");
    memory.allocate(2 * MIB, "test").release();
    memory.trim();
    assertEquals(512, table.bytes());
    kept.release();
    memory.trim();
    assertEquals(0, table.bytes());
  }
}
