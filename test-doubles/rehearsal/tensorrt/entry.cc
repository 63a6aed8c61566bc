// libnvinfer.so: the functions that it exports by name.
#include <cstdint>
#include <string>

#include "builder.h"
#include "device.h"
#include "engine.h"
#include "plugins.h"
#include "version.h"

namespace rehearsal::trt {

namespace {

// Whether a first object may be made; TensorRT only logs why not.
bool BeginWith(void* logger, std::int32_t version, const char* call) {
  auto* calls = static_cast<LoggerCalls*>(logger);
  KeepLogger(calls);
  Log log(calls);
  if (!Begin(log, call)) {
    return false;
  }
  if (!LoggerCalls::IsKnown(*calls)) {
    log.Error(std::string(call) + ": Error Code 3: the logger has another version");
    return false;
  }
  Code broken = Broken(CurrentDevice());
  if (broken != Code::kSuccess) {
    log.Error(TextOfCode(call, static_cast<int>(broken)));
    return false;
  }
  if (version / 10000 != kMajor) {
    log.Error(std::string(call) + ": Error Code 4: the caller was compiled for version " +
              std::to_string(version) + " of TensorRT, expected " + std::to_string(kVersion));
    return false;
  }
  return true;
}

}  // namespace

}  // namespace rehearsal::trt

namespace trt = rehearsal::trt;

#define REHEARSAL_API extern "C" __attribute__((visibility("default")))

REHEARSAL_API void* createInferBuilder_INTERNAL(void* logger, std::int32_t version) {
  return trt::BeginWith(logger, version, "createInferBuilder_INTERNAL")
             ? static_cast<trt::Held*>(new trt::Builder(static_cast<trt::LoggerCalls*>(logger)))
             : nullptr;
}

REHEARSAL_API void* createInferRuntime_INTERNAL(void* logger, std::int32_t version) {
  return trt::BeginWith(logger, version, "createInferRuntime_INTERNAL")
             ? static_cast<trt::Held*>(new trt::Runtime(static_cast<trt::LoggerCalls*>(logger)))
             : nullptr;
}

REHEARSAL_API void* createInferRefitter_INTERNAL(void* engine, void* logger,
                                                 std::int32_t /*version*/) {
  return static_cast<trt::Engine*>(static_cast<trt::Held*>(engine))
      ->NewRefitter(static_cast<trt::LoggerCalls*>(logger));
}

REHEARSAL_API void* getPluginRegistry() {
  static auto* registry = new trt::PluginRegistry();
  return static_cast<trt::PluginRegistryCalls*>(registry);
}

REHEARSAL_API void* getBuilderPluginRegistry(std::int32_t /*capability*/) {
  return getPluginRegistry();
}

REHEARSAL_API void* getBuilderSafePluginRegistry(std::int32_t /*capability*/) { return nullptr; }

REHEARSAL_API void* getLogger() { return trt::KeptLogger(); }

REHEARSAL_API std::int32_t getInferLibVersion() { return trt::kVersion; }
REHEARSAL_API std::int32_t getInferLibMajorVersion() { return trt::kMajor; }
REHEARSAL_API std::int32_t getInferLibMinorVersion() { return trt::kMinor; }
REHEARSAL_API std::int32_t getInferLibPatchVersion() { return trt::kPatch; }
REHEARSAL_API std::int32_t getInferLibBuildVersion() { return trt::kBuild; }
