package io.nereid.internal.cuda;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.ffi.NativeCalls;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A GPU, and the thread that talks to it. CUDA binds its context to a thread of the system, which a
 * virtual thread may leave at any time, and blocks where a virtual thread would hold up others; so
 * all calls run on one platform thread, which has the context and a stream. Both are kept until the
 * process ends, as the CUDA runtime keeps them.
 */
public final class CudaDevice {

  private final CudaLibrary library;
  private final int number;
  private final int device;
  private final String name;
  private final int major;
  private final int minor;
  private final long memoryBytes;
  private final List<BooleanSupplier> keepers = new CopyOnWriteArrayList<>();

  /** Made with the thread when first needed: a context takes memory of the GPU. */
  @GuardedBy("this")
  private long context;

  @GuardedBy("this")
  private ThreadPoolExecutor thread;

  private long stream; // used on the thread only

  CudaDevice(CudaLibrary library, int number) {
    this.library = library;
    this.number = number;
    device = library.device(number);
    name = library.deviceName(device);
    major = library.attribute(device, CudaLibrary.COMPUTE_CAPABILITY_MAJOR);
    minor = library.attribute(device, CudaLibrary.COMPUTE_CAPABILITY_MINOR);
    memoryBytes = library.totalMemory(device);
  }

  /** The GPU's number, from 0. */
  public int number() {
    return number;
  }

  /** The name that the device's maker gave it. */
  public String name() {
    return name;
  }

  /** The first part of its compute capability, as 9 in 9.0. */
  public int major() {
    return major;
  }

  /** The second part of its compute capability. */
  public int minor() {
    return minor;
  }

  /** All of its memory. */
  public long memoryBytes() {
    return memoryBytes;
  }

  /** The context that the CUDA runtime uses, too. */
  synchronized long context() {
    if (context == 0) {
      context = library.retainPrimaryContext(device);
    }
    return context;
  }

  // ---- Memory of the processor -----------------------------------------------------------------

  /**
   * Page-locks memory, for all GPUs. Only native code, such as the pool, calls it, since a virtual
   * thread must not change its carrier between the calls inside.
   */
  public void lockPages(long memory, long byteSize) {
    library.pushCurrent(context());
    try {
      library.registerHost(memory, byteSize);
    } finally {
      library.popCurrent();
    }
  }

  /** Takes {@link #lockPages} back; to be called in the same way. */
  public void unlockPages(long memory) {
    library.pushCurrent(context());
    try {
      library.unregisterHost(memory);
    } finally {
      library.popCurrent();
    }
  }

  // ---- Memory of the GPU -----------------------------------------------------------------------

  /**
   * The address of memory on this GPU, until {@link #free}. {@link StatusCode#RESOURCE_EXHAUSTED}:
   * there is none, even after {@link #relieve}.
   */
  public long allocate(long byteSize) {
    return call(() -> {
      try {
        return library.allocate(byteSize);
      } catch (NereidException e) {
        if (e.code() != StatusCode.RESOURCE_EXHAUSTED || !relieve()) {
          throw e;
        }
        return library.allocate(byteSize);
      }
    });
  }

  /**
   * Adds a keeper of memory of this GPU, until the process ends. When called, by any thread, it
   * frees what it keeps for later, and returns false if that is nothing.
   */
  public void onShortage(BooleanSupplier keeper) {
    keepers.add(keeper);
  }

  /** Has all keepers free what they keep; false: they keep nothing. */
  public boolean relieve() {
    boolean any = false;
    for (BooleanSupplier keeper : keepers) {
      any |= keeper.getAsBoolean();
    }
    return any;
  }

  /** Gives memory back that {@link #allocate} gave. */
  public void free(long pointer) {
    call(() -> {
      library.free(pointer);
      return null;
    });
  }

  // ---- Memory of other processes ---------------------------------------------------------------

  /**
   * Maps what another process allocated on this GPU.
   *
   * @param handle the result of {@code cuIpcGetMemHandle} or {@code cudaIpcGetMemHandle} gave there
   */
  public IpcMemory openIpc(byte[] handle) {
    if (handle.length != IpcMemory.HANDLE_BYTES) {
      throw new IllegalArgumentException("a handle has 64 bytes, got " + handle.length);
    }
    return call(() -> {
      long pointer = library.openIpc(handle);
      try {
        return new IpcMemory(this, pointer, library.bytesFrom(pointer));
      } catch (RuntimeException e) {
        library.closeIpc(pointer);
        throw e;
      }
    });
  }

  void closeIpc(long pointer) {
    call(() -> {
      library.closeIpc(pointer);
      return null;
    });
  }

  /** Returns when the bytes are there. */
  void copyToHost(MemorySegment to, long from) {
    call(() -> {
      library.copyToHost(to.address(), from, to.byteSize(), stream);
      library.synchronize(stream);
      return null;
    });
  }

  /** Returns when the bytes are there. */
  void copyToDevice(long to, MemorySegment from) {
    call(() -> {
      library.copyToDevice(to, from.address(), from.byteSize(), stream);
      library.synchronize(stream);
      return null;
    });
  }

  // ---- The thread ------------------------------------------------------------------------------

  private <T> T call(Callable<T> work) {
    return await(thread().submit(work));
  }

  /** The queue is unbounded: a caller waits for its task, so there are as many tasks as callers. */
  private synchronized ThreadPoolExecutor thread() {
    if (thread == null) {
      long current = context();
      ThreadPoolExecutor started =
          new ThreadPoolExecutor(
              1,
              1,
              0,
              TimeUnit.SECONDS,
              new LinkedBlockingQueue<>(),
              task -> Thread.ofPlatform().daemon().name("nrd-cuda-" + number).unstarted(task));
      try {
        await(
            started.submit(() -> {
              library.setCurrent(current);
              stream = library.createStream();
              return null;
            }));
      } catch (RuntimeException | Error e) {
        started.shutdown();
        throw e;
      }
      thread = started;
    }
    return thread;
  }

  /** Waits for the end, even when interrupted: until then the GPU may use the caller's memory. */
  private static <T> T await(Future<T> result) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return result.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NereidException failure) {
        throw new NereidException(failure.code(), failure.getMessage()); // with this thread's trace
      }
      throw NativeCalls.unexpected(e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
