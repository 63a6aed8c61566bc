package io.nereid.server.grpc;

import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryRegisterResponse;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryStatusResponse;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterResponse;
import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryRegisterResponse;
import io.nereid.proto.SystemSharedMemoryStatusRequest;
import io.nereid.proto.SystemSharedMemoryStatusResponse;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterResponse;
import io.nereid.server.memory.CudaRegions;
import io.nereid.server.memory.Region;
import io.nereid.server.memory.SharedMemoryRegions;
import java.util.List;

/**
 * The extensions for shared memory: clients register regions of the system's memory and of GPUs. An
 * empty name stands for all regions.
 */
final class SharedMemoryMethods {

  private final SharedMemoryRegions system;
  private final CudaRegions cuda;

  SharedMemoryMethods(SharedMemoryRegions system, CudaRegions cuda) {
    this.system = system;
    this.cuda = cuda;
  }

  // ---- The system's memory ---------------------------------------------------------------------

  SystemSharedMemoryStatusResponse systemStatus(SystemSharedMemoryStatusRequest request) {
    String name = request.getName();
    List<Region.SystemRegion> asked = name.isEmpty() ? system.status() : system.status(name);
    SystemSharedMemoryStatusResponse.Builder status = SystemSharedMemoryStatusResponse.newBuilder();
    for (Region.SystemRegion region : asked) {
      status.putRegions(
          region.name(),
          SystemSharedMemoryStatusResponse.RegionStatus.newBuilder()
              .setName(region.name())
              .setKey(region.key())
              .setOffset(region.offset())
              .setByteSize(region.byteSize())
              .build());
    }
    return status.build();
  }

  SystemSharedMemoryRegisterResponse registerSystem(SystemSharedMemoryRegisterRequest request) {
    // Numbers beyond the signed range arrive as negative ones, which are refused.
    system.register(
        request.getName(), request.getKey(), request.getOffset(), request.getByteSize());
    return SystemSharedMemoryRegisterResponse.getDefaultInstance();
  }

  SystemSharedMemoryUnregisterResponse unregisterSystem(
      SystemSharedMemoryUnregisterRequest request) {
    if (request.getName().isEmpty()) {
      system.unregisterAll();
    } else {
      system.unregister(request.getName());
    }
    return SystemSharedMemoryUnregisterResponse.getDefaultInstance();
  }

  // ---- Memory of GPUs --------------------------------------------------------------------------

  CudaSharedMemoryStatusResponse cudaStatus(CudaSharedMemoryStatusRequest request) {
    String name = request.getName();
    List<Region.CudaRegion> asked = name.isEmpty() ? cuda.status() : cuda.status(name);
    CudaSharedMemoryStatusResponse.Builder status = CudaSharedMemoryStatusResponse.newBuilder();
    for (Region.CudaRegion region : asked) {
      status.putRegions(
          region.name(),
          CudaSharedMemoryStatusResponse.RegionStatus.newBuilder()
              .setName(region.name())
              .setDeviceId(region.deviceId())
              .setByteSize(region.byteSize())
              .build());
    }
    return status.build();
  }

  CudaSharedMemoryRegisterResponse registerCuda(CudaSharedMemoryRegisterRequest request) {
    // A size beyond the signed range arrives as a negative one, which is refused.
    cuda.register(
        request.getName(),
        request.getRawHandle().toByteArray(),
        request.getDeviceId(),
        request.getByteSize());
    return CudaSharedMemoryRegisterResponse.getDefaultInstance();
  }

  CudaSharedMemoryUnregisterResponse unregisterCuda(CudaSharedMemoryUnregisterRequest request) {
    if (request.getName().isEmpty()) {
      cuda.unregisterAll();
    } else {
      cuda.unregister(request.getName());
    }
    return CudaSharedMemoryUnregisterResponse.getDefaultInstance();
  }
}
