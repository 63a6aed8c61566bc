// The libraries that TensorRT opens by their bare names when it builds: the rehearsal looks whether
// they are there and asks nothing of them.
#include <cstdint>

#include "version.h"

extern "C" __attribute__((visibility("default"))) std::int32_t getInferLibVersion() {
  return rehearsal::trt::kVersion;
}
