package io.nereid.server.grpc;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.proto.CudaSharedMemoryRegisterRequest;
import io.nereid.proto.CudaSharedMemoryRegisterResponse;
import io.nereid.proto.CudaSharedMemoryStatusRequest;
import io.nereid.proto.CudaSharedMemoryStatusResponse;
import io.nereid.proto.CudaSharedMemoryUnregisterRequest;
import io.nereid.proto.CudaSharedMemoryUnregisterResponse;

/** CUDA shared memory, which this server does not have. */
final class CudaMemoryMethods {

  CudaSharedMemoryStatusResponse status(CudaSharedMemoryStatusRequest request) {
    return CudaSharedMemoryStatusResponse.getDefaultInstance();
  }

  CudaSharedMemoryRegisterResponse register(CudaSharedMemoryRegisterRequest request) {
    throw unsupported();
  }

  CudaSharedMemoryUnregisterResponse unregister(CudaSharedMemoryUnregisterRequest request) {
    throw unsupported();
  }

  private static NereidException unsupported() {
    return new NereidException(
        StatusCode.UNIMPLEMENTED, "CUDA shared memory is not supported by this server");
  }
}
