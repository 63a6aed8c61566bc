// libnvinfer_lean.so, which TensorRT opens by its bare name when it builds version-compatible
// plans: the rehearsal looks whether it is there and asks nothing of it.
#include <cstdint>

#include "version.h"

extern "C" __attribute__((visibility("default"))) std::int32_t getInferLibVersion() {
  return rehearsal::trt::kVersion;
}
