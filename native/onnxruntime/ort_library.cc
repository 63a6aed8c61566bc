#include "onnxruntime/ort_library.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "onnxruntime/arithmetic_guard.h"
#include "onnxruntime/ort_threads.h"

namespace nereid {
namespace {

constexpr uint32_t kMaxThreads = 1024;

std::string LoaderMessage() {
  const char* message = dlerror();
  return message == nullptr ? "unknown error of the dynamic loader" : message;
}

int32_t CanonicalCode(OrtErrorCode code) {
  switch (code) {
    case OrtErrorCode::kInvalidArgument:
    case OrtErrorCode::kNoModel:
    case OrtErrorCode::kInvalidProtobuf:
    case OrtErrorCode::kInvalidGraph:
      return NRD_INVALID_ARGUMENT;
    case OrtErrorCode::kNoSuchFile:
      return NRD_NOT_FOUND;
    case OrtErrorCode::kNotImplemented:
      return NRD_UNIMPLEMENTED;
    default:
      return NRD_INTERNAL;
  }
}

// From 1.29 on, ONNX Runtime sends data about models and runs to its maker, unless this variable is
// set when it starts. This sets it unless the operator has, because a server must not do that
// without its operator's consent. (The caller holds the lock of all loads.)
void TurnTelemetryOff() { setenv("ORT_DISABLE_TELEMETRY", "1", /*overwrite=*/0); }

// Gets the newer table if the library's version, whose middle number is the API version, has it:
// asking an older library prints a complaint on standard error.
OrtTable NewerTable(const OrtApiBase& base, std::string_view library_version) {
  const std::string_view middle = library_version.substr(library_version.find('.') + 1);
  uint32_t api_version = 0;
  std::from_chars(middle.data(), middle.data() + middle.size(), api_version);
  return api_version >= kOrtNewestApiVersion ? base.GetApi(kOrtNewestApiVersion) : nullptr;
}

// Returns the number of threads, counting the processors that this process may run on; the C
// library's own count is the machine's.
uint32_t SharedThreadCount(uint32_t wanted) {
  cpu_set_t usable;
  if (wanted == 0) {
    wanted = sched_getaffinity(0, sizeof(usable), &usable) == 0
                 ? static_cast<uint32_t>(CPU_COUNT(&usable))
                 : std::thread::hardware_concurrency();
  }
  return std::clamp(wanted, 1U, kMaxThreads);
}

}  // namespace

OrtLibrary::OrtLibrary(const OrtFunctions& api, std::string version, uint32_t shared_thread_count)
    : api_(api), version_(std::move(version)), shared_thread_count_(shared_thread_count) {}

Status OrtLibrary::Load(const std::string& path, uint32_t shared_thread_count,
                        const OrtLibrary** library_out) {
  static Mutex mutex;  // guards `libraries`, and is held while one is opened
  // Not destroyed at exit: worker threads may still be running then.
  static auto& libraries = *new std::map<std::string, std::unique_ptr<const OrtLibrary>>();
  const MutexLock lock(mutex);
  auto found = libraries.find(path);
  if (found == libraries.end()) {
    std::unique_ptr<const OrtLibrary> library;
    NRD_RETURN_IF_ERROR(Open(path, shared_thread_count, &library));
    found = libraries.emplace(path, std::move(library)).first;
  }
  *library_out = found->second.get();
  return Status();
}

Status OrtLibrary::Open(const std::string& path, uint32_t shared_thread_count,
                        std::unique_ptr<const OrtLibrary>* library_out) {
  TurnTelemetryOff();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Status(NRD_FAILED_PRECONDITION,
                  "cannot load the ONNX Runtime library '" + path + "': " + LoaderMessage());
  }
  using GetApiBaseFn = const OrtApiBase* (*)();
  auto get_api_base = reinterpret_cast<GetApiBaseFn>(dlsym(handle, "OrtGetApiBase"));
  if (get_api_base == nullptr) {
    dlclose(handle);
    return Status(NRD_FAILED_PRECONDITION,
                  "'" + path + "' is not an ONNX Runtime library: it has no OrtGetApiBase");
  }
  const OrtApiBase* base = get_api_base();
  std::string version = base->GetVersionString();
  OrtTable table = base->GetApi(kOrtApiVersion);
  if (table == nullptr) {
    dlclose(handle);
    return Status(NRD_FAILED_PRECONDITION, "ONNX Runtime " + version + " at '" + path +
                                               "' is too old, " + std::string(kOrtOldestVersion) +
                                               " or newer is needed");
  }
  GuardArithmetic(reinterpret_cast<const void*>(get_api_base));
  std::unique_ptr<OrtLibrary> library(
      new OrtLibrary(BindOrtFunctions(table, NewerTable(*base, version)), version,
                     SharedThreadCount(shared_thread_count)));
  NRD_RETURN_IF_ERROR(library->CreateEnvironment());
  *library_out = std::move(library);
  return Status();
}

Status OrtLibrary::CreateEnvironment() {
  OrtThreadingOptions* raw = nullptr;
  NRD_RETURN_IF_ERROR(Check(api_.CreateThreadingOptions(&raw), "threading options"));
  const OrtOwned<OrtThreadingOptions> options(raw, api_.ReleaseThreadingOptions);
  const auto count = static_cast<int>(shared_thread_count_);
  NRD_RETURN_IF_ERROR(Check(api_.SetGlobalIntraOpNumThreads(raw, count), "shared thread count"));
  // Models that run nodes in parallel have their own threads for that.
  NRD_RETURN_IF_ERROR(Check(api_.SetGlobalInterOpNumThreads(raw, 1), "shared thread count"));
  NRD_RETURN_IF_ERROR(Check(api_.SetGlobalSpinControl(raw, 0), "spin control"));
  NRD_RETURN_IF_ERROR(
      Check(api_.SetGlobalCustomCreateThreadFn(raw, CreateOrtThread), "thread names"));
  NRD_RETURN_IF_ERROR(Check(api_.SetGlobalCustomJoinThreadFn(raw, JoinOrtThread), "thread names"));
  // Only severe messages: logs of failed requests could fill a disk.
  NRD_RETURN_IF_ERROR(
      Check(api_.CreateEnvWithGlobalThreadPools(OrtLogLevel::kFatal, "nereid", raw, &env_),
            "cannot start ONNX Runtime"));
  NRD_RETURN_IF_ERROR(Check(
      api_.CreateCpuMemoryInfo(OrtAllocatorKind::kDevice, OrtMemoryKind::kDefault, &cpu_memory_),
      "memory info"));
  return Check(api_.GetAllocatorWithDefaultOptions(&allocator_), "default allocator");
}

Status OrtLibrary::Failure(OrtStatus* status, std::string_view what) const {
  const OrtOwned<OrtStatus> owned(status, api_.ReleaseStatus);
  std::string message(what);
  message += ": ";
  message += api_.GetErrorMessage(status);
  message.erase(message.find_last_not_of('\n') + 1);
  return Status(CanonicalCode(api_.GetErrorCode(status)), std::move(message));
}

}  // namespace nereid
