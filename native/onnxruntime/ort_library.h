#ifndef NEREID_ONNXRUNTIME_ORT_LIBRARY_H_
#define NEREID_ONNXRUNTIME_ORT_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "onnxruntime/ort_api.h"

namespace nereid {

// An object of the library, released when it goes out of scope.
template <typename T>
using OrtOwned = std::unique_ptr<T, void (*)(T*)>;

// ONNX Runtime's shared library, loaded while the program runs. One per path and process. Library
// and environment, with its worker threads, are never unloaded: ONNX Runtime does not promise to
// survive that, and idle workers cost nothing.
//
// Models share one pool of worker threads, so that the number of threads does not grow with the
// models. Idle workers sleep instead of spinning: that costs a single caller some latency, and
// leaves the processors to other requests.
class OrtLibrary {
 public:
  // `shared_thread_count` is the size of the shared pool, callers included; 0: one per processor.
  // The first of several loads of a path decides. The result lives as long as the process.
  static Status Load(const std::string& path, uint32_t shared_thread_count,
                     const OrtLibrary** library_out);

  OrtLibrary(const OrtLibrary&) = delete;
  OrtLibrary& operator=(const OrtLibrary&) = delete;

  [[nodiscard]] const OrtFunctions& api() const { return api_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const OrtEnv* env() const { return env_; }
  [[nodiscard]] const OrtMemoryInfo* cpu_memory() const { return cpu_memory_; }
  [[nodiscard]] OrtAllocator* allocator() const { return allocator_; }
  [[nodiscard]] uint32_t shared_thread_count() const { return shared_thread_count_; }

  // Turns a function's result into a status, with "what: the library's message" on failure.
  [[nodiscard]] Status Check(OrtStatus* status, std::string_view what) const {
    return status == nullptr ? Status() : Failure(status, what);
  }

 private:
  OrtLibrary(const OrtFunctions& api, std::string version, uint32_t shared_thread_count);

  static Status Open(const std::string& path, uint32_t shared_thread_count,
                     std::unique_ptr<const OrtLibrary>* library_out);
  Status CreateEnvironment();
  Status Failure(OrtStatus* status, std::string_view what) const;

  const OrtFunctions api_;
  const std::string version_;
  const uint32_t shared_thread_count_;
  OrtEnv* env_ = nullptr;
  OrtMemoryInfo* cpu_memory_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_LIBRARY_H_
