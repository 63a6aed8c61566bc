// The registry of plugins, in the order of TensorRT 10.6 and 11.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_PLUGINS_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_PLUGINS_H_

#include "basics.h"

namespace rehearsal::trt {

class PluginRegistryCalls {
 public:
  static constexpr const char* kInterface = "IPluginRegistry";

  REHEARSAL_TEN_LACKS(registerCreatorV2)
  REHEARSAL_TEN_LACKS(getPluginCreatorList)
  REHEARSAL_TEN_LACKS(getPluginCreator)
  REHEARSAL_LACKS(Destruct)
  REHEARSAL_LACKS(Delete)
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  REHEARSAL_TEN_LACKS(deregisterCreatorV2)
  REHEARSAL_LACKS(isParentSearchEnabled)
  REHEARSAL_LACKS(setParentSearchEnabled)
  virtual void* loadLibrary(const char* path) = 0;
  REHEARSAL_LACKS(deregisterLibrary)
  REHEARSAL_LACKS(registerCreator)
  REHEARSAL_LACKS(getAllCreators)
  REHEARSAL_LACKS(getCreator)
  REHEARSAL_LACKS(deregisterCreator)
  REHEARSAL_LACKS(acquirePluginResource)
  REHEARSAL_LACKS(releasePluginResource)

 protected:
  ~PluginRegistryCalls() = default;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_PLUGINS_H_
