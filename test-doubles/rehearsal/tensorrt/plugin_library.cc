// libnvinfer_plugin.so: registers NVIDIA's own plugins, of which the rehearsal has none.
#include "object.h"

extern "C" __attribute__((visibility("default"))) bool initLibNvInferPlugins(
    void* logger, const char* /*plugin_namespace*/) {
  using namespace rehearsal::trt;
  return Begin(Log(static_cast<LoggerCalls*>(logger)), "initLibNvInferPlugins");
}
