#include "plugins.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "object.h"

namespace rehearsal::trt {

namespace {

std::atomic<LoggerCalls*> kept{nullptr};

}  // namespace

void KeepLogger(LoggerCalls* logger) {
  LoggerCalls* none = nullptr;
  kept.compare_exchange_strong(none, logger);
}

LoggerCalls* KeptLogger() { return kept; }

void* PluginRegistry::loadLibrary(const char* path) {
  const char* call = "IPluginRegistry::loadLibrary";
  Log log(KeptLogger());
  if (!Begin(log, call)) {
    return nullptr;
  }
  void* library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) {
    log.Error(std::string(call) + ": Error Code 4: " + dlerror());
    return nullptr;
  }
  if (dlsym(library, "getPluginCreators") == nullptr && dlsym(library, "getCreators") == nullptr) {
    log.Error(std::string(call) + ": Error Code 4: " + path + " has no getPluginCreators");
    dlclose(library);
    return nullptr;
  }
  return library;
}

}  // namespace rehearsal::trt
