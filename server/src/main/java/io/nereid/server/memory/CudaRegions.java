package io.nereid.server.memory;

import io.nereid.internal.cuda.CudaDevice;
import io.nereid.internal.cuda.CudaDriver;
import io.nereid.internal.cuda.IpcMemory;
import io.nereid.server.memory.Region.CudaRegion;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * The regions of GPU memory that clients registered with one server. They are enabled together with
 * regions of system shared memory, share one space of names, and need a GPU. Any thread may call.
 *
 * <p>Outputs are copied by the GPU from the runtime's pool into a region, and inputs into the pool,
 * unless the model reads them where they lie.
 */
public final class CudaRegions {

  private static final String UNSUPPORTED = "CUDA shared memory is not supported: ";

  private final SharedMemoryRegions regions;
  private final IntConsumer beforeUse;

  /**
   * Manages those of {@code regions} that are on GPUs.
   *
   * @param beforeUse runs before a region is opened, with the number of its GPU
   */
  public CudaRegions(SharedMemoryRegions regions, IntConsumer beforeUse) {
    this.regions = regions;
    this.beforeUse = beforeUse;
  }

  /** True if clients may register regions, and there is a GPU for them to be on. */
  public boolean isEnabled() {
    return regions.isEnabled() && CudaDriver.isPresent();
  }

  /**
   * Registers memory that a client has allocated on a GPU. The memory stays mapped until the region
   * is unregistered, and the client must keep it as long.
   *
   * @param handle the 64 bytes that CUDA gave the client for the allocation
   * @param deviceId the number of the GPU in this process
   */
  public void register(String name, byte[] handle, long deviceId, long byteSize) {
    checkEnabled();
    SharedMemoryRegions.checkName(name);
    if (handle.length != IpcMemory.HANDLE_BYTES) {
      throw invalid(
          "expected a raw handle of %s bytes for CUDA shared memory region '%s', got %s"
              .formatted(IpcMemory.HANDLE_BYTES, name, handle.length));
    }
    if (byteSize <= 0) {
      throw invalid(
          "expected a byte size of 1 or more for CUDA shared memory region '%s', got %s"
              .formatted(name, byteSize));
    }
    CudaDevice device = CudaDriver.instance().device(deviceId);
    regions.checkFree(name); // opening takes long, and not every driver opens a handle twice
    beforeUse.accept(device.number());
    IpcRegion memory;
    try {
      memory = new IpcRegion(device.openIpc(handle));
    } catch (NereidException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "Unable to open CUDA shared memory region: '" + name + "'",
          e);
    }
    try {
      long available = memory.ipc().byteSize();
      if (byteSize > available) {
        throw SharedMemoryRegions.invalidRange(name, 0, byteSize, available);
      }
      regions.add(new CudaRegion(name, deviceId, byteSize), memory);
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
  }

  /** All regions, by name. */
  public List<CudaRegion> status() {
    return regions.status(CudaRegion.class);
  }

  /** One region; an empty list while this is not enabled. */
  public List<CudaRegion> status(String name) {
    return isEnabled() ? regions.status(name, CudaRegion.class) : List.of();
  }

  /**
   * Does the same as {@link SharedMemoryRegions#unregister} for a region on a GPU; a region of
   * another kind is left alone. Without a GPU nothing is registered, but unregistering works, since
   * some clients begin with it.
   */
  public void unregister(String name) {
    checkAllowed();
    regions.unregister(name, CudaRegion.class);
  }

  /** Does the same as {@link #unregister}, for all regions on GPUs. */
  public void unregisterAll() {
    checkAllowed();
    regions.unregisterAll(CudaRegion.class);
  }

  /** Throws {@link StatusCode#UNIMPLEMENTED} with the reason if clients can register nothing. */
  public void checkEnabled() {
    checkAllowed();
    if (!CudaDriver.isPresent()) {
      throw new NereidException(StatusCode.UNIMPLEMENTED, UNSUPPORTED + CudaDriver.absence());
    }
  }

  private void checkAllowed() {
    if (!regions.isEnabled()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          UNSUPPORTED
              + "Client shared memory is disabled. Start the server with '--allow-client-shm=true'"
              + " to enable it.");
    }
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  private record IpcRegion(IpcMemory ipc) implements RegionMemory {

    @Override
    public void read(long position, MemorySegment to) {
      ipc.read(position, to);
    }

    @Override
    public void write(long position, MemorySegment from) {
      ipc.write(position, from);
    }

    @Override
    public Optional<DeviceMemory> onDevice(long position, long byteSize) {
      return Optional.of(ipc.part(position, byteSize));
    }

    @Override
    public void close() {
      ipc.close();
    }
  }
}
