package io.nereid.internal.cuda;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.tensor.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Memory on a GPU that another process allocated, mapped until this is closed. */
public final class IpcMemory implements AutoCloseable {

  /** The size of a handle, which names such memory. */
  public static final int HANDLE_BYTES = CudaLibrary.IPC_HANDLE_BYTES;

  private final CudaDevice device;
  private final long pointer;
  private final long byteSize;

  @GuardedBy("this")
  private boolean closed;

  IpcMemory(CudaDevice device, long pointer, long byteSize) {
    this.device = device;
    this.pointer = pointer;
    this.byteSize = byteSize;
  }

  /** Returns the place of a part of this memory for the GPU; valid until this is closed. */
  public DeviceMemory part(long position, long partBytes) {
    Objects.checkFromIndexSize(position, partBytes, byteSize);
    return new DeviceMemory(device.number(), pointer + position, partBytes);
  }

  /** The number of bytes in the memory, as the driver tells it. */
  public long byteSize() {
    return byteSize;
  }

  /** Fills native memory from {@code position} on; returns when the copy is complete. */
  public void read(long position, MemorySegment to) {
    check(position, to);
    if (to.byteSize() > 0) {
      device.copyToHost(to, pointer + position);
    }
  }

  /** Copies native memory to {@code position}; returns when the copy is complete. */
  public void write(long position, MemorySegment from) {
    check(position, from);
    if (from.byteSize() > 0) {
      device.copyToDevice(pointer + position, from);
    }
  }

  private void check(long position, MemorySegment host) {
    Objects.checkFromIndexSize(position, host.byteSize(), byteSize);
    if (!host.isNative()) {
      throw new IllegalArgumentException("a GPU copies native memory only, got " + host);
    }
  }

  /** Unmaps the memory, which no thread may be reading or writing. Closing twice does nothing. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    device.closeIpc(pointer);
  }
}
