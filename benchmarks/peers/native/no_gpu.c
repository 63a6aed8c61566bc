// The CUDA runtime as Triton's core sees it where there is no GPU: every call answers
// cudaErrorNoDevice, as NVIDIA's own library does without a driver. The core cannot be loaded
// without a libcudart.so.12, and the only one that Maven has is inside 2 GB.

enum { kErrorNoDevice = 100 };

// The core passes arguments; with the C calling conventions of x86-64 nobody has to take them.
#define NO_DEVICE(name) \
  int name(void);       \
  int name(void) { return kErrorNoDevice; }

NO_DEVICE(cudaDeviceCanAccessPeer)
NO_DEVICE(cudaDeviceEnablePeerAccess)
NO_DEVICE(cudaDeviceGetPCIBusId)
NO_DEVICE(cudaDeviceGetStreamPriorityRange)
NO_DEVICE(cudaFree)
NO_DEVICE(cudaFreeHost)
NO_DEVICE(cudaGetDevice)
NO_DEVICE(cudaGetDeviceCount)
NO_DEVICE(cudaGetDeviceProperties_v2)
NO_DEVICE(cudaHostAlloc)
NO_DEVICE(cudaLaunchHostFunc)
NO_DEVICE(cudaMalloc)
NO_DEVICE(cudaMallocManaged)
NO_DEVICE(cudaMemGetInfo)
NO_DEVICE(cudaMemPrefetchAsync)
NO_DEVICE(cudaMemcpy)
NO_DEVICE(cudaMemcpyAsync)
NO_DEVICE(cudaMemset)
NO_DEVICE(cudaSetDevice)
NO_DEVICE(cudaStreamCreate)
NO_DEVICE(cudaStreamDestroy)
NO_DEVICE(cudaStreamGetFlags)
NO_DEVICE(cudaStreamSynchronize)

const char* cudaGetErrorString(int error);
const char* cudaGetErrorString(int error) {
  return error == kErrorNoDevice ? "no CUDA-capable device is detected" : "no CUDA library";
}
