package io.nereid.server.grpc;

import io.nereid.proto.SystemSharedMemoryRegisterRequest;
import io.nereid.proto.SystemSharedMemoryRegisterResponse;
import io.nereid.proto.SystemSharedMemoryStatusRequest;
import io.nereid.proto.SystemSharedMemoryStatusResponse;
import io.nereid.proto.SystemSharedMemoryStatusResponse.RegionStatus;
import io.nereid.proto.SystemSharedMemoryUnregisterRequest;
import io.nereid.proto.SystemSharedMemoryUnregisterResponse;
import io.nereid.server.memory.Region.SystemRegion;
import io.nereid.server.memory.SharedMemoryRegions;
import java.util.List;

/** The system shared memory extension. An empty name stands for all regions. */
final class SystemMemoryMethods {

  private final SharedMemoryRegions regions;

  SystemMemoryMethods(SharedMemoryRegions regions) {
    this.regions = regions;
  }

  SystemSharedMemoryStatusResponse status(SystemSharedMemoryStatusRequest request) {
    String name = request.getName();
    List<SystemRegion> asked = name.isEmpty() ? regions.status() : regions.status(name);
    SystemSharedMemoryStatusResponse.Builder status = SystemSharedMemoryStatusResponse.newBuilder();
    for (SystemRegion region : asked) {
      status.putRegions(
          region.name(),
          RegionStatus.newBuilder()
              .setName(region.name())
              .setKey(region.key())
              .setOffset(region.offset())
              .setByteSize(region.byteSize())
              .build());
    }
    return status.build();
  }

  SystemSharedMemoryRegisterResponse register(SystemSharedMemoryRegisterRequest request) {
    // Numbers beyond the signed range arrive as negative ones, which are refused.
    regions.register(
        request.getName(), request.getKey(), request.getOffset(), request.getByteSize());
    return SystemSharedMemoryRegisterResponse.getDefaultInstance();
  }

  SystemSharedMemoryUnregisterResponse unregister(SystemSharedMemoryUnregisterRequest request) {
    if (request.getName().isEmpty()) {
      regions.unregisterAll();
    } else {
      regions.unregister(request.getName());
    }
    return SystemSharedMemoryUnregisterResponse.getDefaultInstance();
  }
}
