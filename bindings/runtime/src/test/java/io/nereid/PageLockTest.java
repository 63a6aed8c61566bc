package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.internal.cuda.PageKeeper;
import io.nereid.internal.ffi.PoolAllocator;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.PoolStatistics;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the pool's memory is page-locked, and what happens where that is not possible. */
class PageLockTest {

  /** Remembers what is locked; no device is told. */
  private static final class CountingKeeper implements PageKeeper {
    final Map<Long, Long> locked = new ConcurrentHashMap<>();
    volatile boolean refuses;

    @Override
    public void lock(int device, long memory, long byteSize) {
      assertEquals(0, device);
      if (refuses) {
        throw new NereidException(StatusCode.INTERNAL, "this keeper keeps nothing");
      }
      locked.put(memory, byteSize);
    }

    @Override
    public void unlock(int device, long memory, long byteSize) {
      assertEquals(0, device);
      assertEquals(byteSize, locked.remove(memory));
    }

    long bytes() {
      return locked.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /** Copies on the processor, and says that it can use a GPU. */
  private static final class SaysThatItUsesAGpu implements Backend {
    @Override
    public BackendInstance open(ModelContext context) {
      return batch -> batch.output("OUT", batch.input("IN"));
    }

    @Override
    public List<Integer> devices() {
      return List.of(0);
    }
  }

  private final List<String> warnings = new ArrayList<>();
  private final Logger logger = Logger.getLogger("io.nereid");
  private final Handler handler =
      new Handler() {
        @Override
        public synchronized void publish(LogRecord line) {
          if (line.getMessage().contains("page-locked")) {
            warnings.add(line.getMessage());
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private final CountingKeeper keeper = new CountingKeeper();

  @BeforeEach
  void listen() {
    logger.addHandler(handler);
  }

  @AfterEach
  void listenNoMore() {
    logger.removeHandler(handler);
  }

  private Nereid open(boolean pageLockPool, PageKeeper keeper) {
    return Nereid.create(
        NereidOptions.builder().pageLockPool(pageLockPool).build(), PoolAllocator.DEFAULT, keeper);
  }

  private static Model load(Nereid nereid, Backend backend) {
    return nereid.load(
        ModelSpec.builder("model")
            .backend(backend)
            .input("IN", DataType.UINT8, -1)
            .output("OUT", DataType.UINT8, -1)
            .build());
  }

  private static void infer(Model model) {
    try (var request = model.newRequest()) {
      request.allocateInput("IN", 1 << 20);
      request.infer().close();
    }
  }

  @Test
  void aModelThatRunsOnAGpuLocksThePoolUntilTheEnd() {
    try (Nereid nereid = open(true, keeper)) {
      Model model = load(nereid, new SaysThatItUsesAGpu());
      infer(model);
      PoolStatistics pool = nereid.poolStatistics();
      assertTrue(pool.lockedBytes() > 0);
      assertEquals(pool.reservedBytes(), pool.lockedBytes());
      assertEquals(pool.lockedBytes(), keeper.bytes());
      load(nereid, new SaysThatItUsesAGpu()); // again: the pool is locked once
      assertEquals(Optional.of("page-locked for GPUs"), nereid.pageLocking());
    }
    assertEquals(0, keeper.bytes());
    assertEquals(List.of(), warnings);
  }

  @Test
  void earlierMemoryIsLockedToo() {
    try (Nereid nereid = open(true, keeper)) {
      infer(load(nereid, context -> batch -> batch.output("OUT", batch.input("IN"))));
      assertTrue(nereid.poolStatistics().reservedBytes() > 0);
      assertEquals(0, nereid.poolStatistics().lockedBytes());
      assertEquals(Optional.empty(), nereid.pageLocking());
      nereid.pageLockPool(0);
      assertEquals(nereid.poolStatistics().reservedBytes(), keeper.bytes());
    }
    assertEquals(0, keeper.bytes());
  }

  @Test
  void instancesOnTheProcessorLockNothing() {
    try (Nereid nereid = open(true, keeper)) {
      infer(
          nereid.load(
              ModelSpec.builder("model")
                  .backend(new SaysThatItUsesAGpu())
                  .instances(new InstanceGroup("", InstanceGroup.Kind.CPU, 1, List.of(), List.of()))
                  .input("IN", DataType.UINT8, -1)
                  .output("OUT", DataType.UINT8, -1)
                  .build()));
      assertEquals(Optional.empty(), nereid.pageLocking());
    }
  }

  @Test
  void withTheOptionOffNothingIsLocked() {
    try (Nereid nereid = open(false, keeper)) {
      infer(load(nereid, new SaysThatItUsesAGpu()));
      nereid.pageLockPool(0);
      assertEquals(0, nereid.poolStatistics().lockedBytes());
      assertEquals(0, keeper.bytes());
      assertEquals(Optional.of("plain memory, as its page locking is off"), nereid.pageLocking());
    }
  }

  @Test
  void memoryThatCannotBeLockedIsUsedWithOneWarning() {
    keeper.refuses = true;
    try (Nereid nereid = open(true, keeper)) {
      Model model = load(nereid, new SaysThatItUsesAGpu());
      infer(model);
      try (var request = model.newRequest()) {
        request.allocateInput("IN", 20 << 20); // takes another piece
        assertEquals(0, nereid.poolStatistics().lockedBytes());
      }
      assertEquals(
          Optional.of("not all page-locked for GPUs: this keeper keeps nothing"),
          nereid.pageLocking());
    }
    assertEquals(1, warnings.size(), warnings.toString());
    assertTrue(warnings.getFirst().endsWith("this keeper keeps nothing"), warnings.toString());
  }

  @Test
  void withoutADriverItIsTheSame() {
    assumeFalse(CudaDriver.isPresent(), "there is a GPU here, so its absence cannot be tested");
    try (Nereid nereid = open(true, PageKeeper.CUDA)) {
      infer(load(nereid, new SaysThatItUsesAGpu()));
      assertEquals(0, nereid.poolStatistics().lockedBytes());
    }
    assertEquals(1, warnings.size(), warnings.toString());
    assertTrue(warnings.getFirst().endsWith(CudaDriver.absence()), warnings.toString());
  }

  @Test
  @Tag("gpu")
  void theDriverLocksThePool() {
    assumeTrue(CudaDriver.isPresent(), () -> "there is no GPU here: " + CudaDriver.absence());
    try (Nereid nereid = open(true, PageKeeper.CUDA)) {
      infer(load(nereid, new SaysThatItUsesAGpu()));
      PoolStatistics pool = nereid.poolStatistics();
      assertTrue(pool.lockedBytes() > 0);
      assertEquals(pool.reservedBytes(), pool.lockedBytes());
      assertEquals(Optional.of("page-locked for GPUs"), nereid.pageLocking());
    }
    assertEquals(List.of(), warnings); // such as that memory could not be unlocked
  }
}
