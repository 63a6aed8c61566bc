package io.nereid.server.grpc;

import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryRegisterResponse;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryStatusResponse;
import io.nereid.proto.CudaSharedMemoryStatusResponse.RegionStatus;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterResponse;
import io.nereid.server.memory.CudaRegions;
import io.nereid.server.memory.Region.CudaRegion;
import java.util.List;

/** The CUDA shared memory extension. An empty name stands for all regions. */
final class CudaMemoryMethods {

  private final CudaRegions regions;

  CudaMemoryMethods(CudaRegions regions) {
    this.regions = regions;
  }

  CudaSharedMemoryStatusResponse status(CudaSharedMemoryStatusRequest request) {
    String name = request.getName();
    List<CudaRegion> asked = name.isEmpty() ? regions.status() : regions.status(name);
    CudaSharedMemoryStatusResponse.Builder status = CudaSharedMemoryStatusResponse.newBuilder();
    for (CudaRegion region : asked) {
      status.putRegions(
          region.name(),
          RegionStatus.newBuilder()
              .setName(region.name())
              .setDeviceId(region.deviceId())
              .setByteSize(region.byteSize())
              .build());
    }
    return status.build();
  }

  CudaSharedMemoryRegisterResponse register(CudaSharedMemoryRegisterRequest request) {
    // A size beyond the signed range arrives as a negative one, which is refused.
    regions.register(
        request.getName(),
        request.getRawHandle().toByteArray(),
        request.getDeviceId(),
        request.getByteSize());
    return CudaSharedMemoryRegisterResponse.getDefaultInstance();
  }

  CudaSharedMemoryUnregisterResponse unregister(CudaSharedMemoryUnregisterRequest request) {
    if (request.getName().isEmpty()) {
      regions.unregisterAll();
    } else {
      regions.unregister(request.getName());
    }
    return CudaSharedMemoryUnregisterResponse.getDefaultInstance();
  }
}
