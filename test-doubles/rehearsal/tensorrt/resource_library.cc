// libnvinfer_builder_resource.so, which TensorRT opens by its bare name when it builds: the
// rehearsal looks whether it is there and asks nothing of it. NVIDIA's has the kernels.
#include <cstdint>

extern "C" __attribute__((visibility("default"))) std::int32_t getNbCaskKLibs_INTERNAL() {
  return 0;
}
