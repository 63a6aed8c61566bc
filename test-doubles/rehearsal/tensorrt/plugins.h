// The registry of plugins of the process.
#ifndef NEREID_REHEARSAL_TENSORRT_PLUGINS_H_
#define NEREID_REHEARSAL_TENSORRT_PLUGINS_H_

#include "interfaces/callbacks.h"
#include "interfaces/plugins.h"

namespace rehearsal::trt {

// Opens libraries that have plugins; the plugins themselves are never called.
class PluginRegistry final : public PluginRegistryCalls {
 public:
  void* loadLibrary(const char* path) override;
};

// The first logger that TensorRT was given is the one of the whole process.
void KeepLogger(LoggerCalls* logger);
LoggerCalls* KeptLogger();

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_PLUGINS_H_
