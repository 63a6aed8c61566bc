package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.NativeCalls;
import io.nereid.internal.ffi.PoolAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/** Memory for a pool, from an arena; it counts the bytes and can stop giving any. */
final class CountingAllocator {

  private final Arena arena = Arena.ofAuto();
  private final AtomicLong allocated = new AtomicLong();
  private final AtomicLong deallocated = new AtomicLong();
  private volatile boolean refusing;

  PoolAllocator address() {
    return new PoolAllocator(
        0,
        stub("allocate", long.class, FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG), 2),
        stub(
            "deallocate",
            void.class,
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG),
            3));
  }

  private long stub(String name, Class<?> result, FunctionDescriptor type, int parameters) {
    Class<?>[] longs = new Class<?>[parameters];
    Arrays.fill(longs, long.class);
    try {
      MethodHandle target =
          MethodHandles.lookup()
              .findVirtual(CountingAllocator.class, name, MethodType.methodType(result, longs));
      return NativeCalls.upcall(target.bindTo(this), type);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  long allocate(long context, long byteSize) {
    if (refusing) {
      return 0;
    }
    allocated.addAndGet(byteSize);
    return arena.allocate(byteSize, 4096).address();
  }

  void deallocate(long context, long memory, long byteSize) {
    deallocated.addAndGet(byteSize);
  }

  void refuse() {
    refusing = true;
  }

  long allocated() {
    return allocated.get();
  }

  long deallocated() {
    return deallocated.get();
  }
}
