// A backend made for Triton: its library, its functions and its state.
#ifndef NEREID_TRITON_BACKEND_H_
#define NEREID_TRITON_BACKEND_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "triton/core/tritonbackend.h"
#include "triton/errors.h"
#include "triton/memory_manager.h"
#include "triton/message.h"
#include "triton/nereid_triton.h"
#include "triton/plugin_library.h"

namespace nereid::triton {

// The functions of a backend; null if it lacks one.
struct BackendFunctions {
  explicit BackendFunctions(const PluginLibrary& library);

  decltype(&TRITONBACKEND_Initialize) initialize;
  decltype(&TRITONBACKEND_Finalize) finalize;
  decltype(&TRITONBACKEND_GetBackendAttribute) attribute;
  decltype(&TRITONBACKEND_ModelInitialize) model_initialize;
  decltype(&TRITONBACKEND_ModelFinalize) model_finalize;
  decltype(&TRITONBACKEND_ModelInstanceInitialize) instance_initialize;
  decltype(&TRITONBACKEND_ModelInstanceFinalize) instance_finalize;
  decltype(&TRITONBACKEND_ModelInstanceExecute) execute;
  decltype(&TRITONBACKEND_ModelInstanceReady) ready;
  decltype(&TRITONBACKEND_ModelBatcherInitialize) batcher_initialize;
  decltype(&TRITONBACKEND_ModelBatcherFinalize) batcher_finalize;
  decltype(&TRITONBACKEND_ModelBatchIncludeRequest) batch_include;
  decltype(&TRITONBACKEND_ModelBatchInitialize) batch_initialize;
  decltype(&TRITONBACKEND_ModelBatchFinalize) batch_finalize;

  [[nodiscard]] bool batches() const {
    return batcher_initialize != nullptr && batcher_finalize != nullptr &&
           batch_include != nullptr && batch_initialize != nullptr && batch_finalize != nullptr;
  }
};

// Receives the answer when a backend is asked for its attributes.
class BackendAttribute : public Handle {
 public:
  static constexpr Kind kKind = Kind::kBackendAttribute;

  BackendAttribute() { Open(kKind, nullptr); }

  nrt_backend_info info{};
};

class Backend : public Handle {
 public:
  static constexpr Kind kKind = Kind::kBackend;

  // Loads and initialises it.
  static Status Open(std::string_view name, std::string_view directory, const std::string& library,
                     std::span<const nrd_parameter> config, std::unique_ptr<Backend>* out);
  ~Backend();

  [[nodiscard]] Owner& owner() const { return owner_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const BackendFunctions& functions() const { return functions_; }
  [[nodiscard]] const nrt_backend_info& info() const { return info_; }
  [[nodiscard]] Message& config() { return config_; }
  [[nodiscard]] MemoryManager& memory() { return memory_; }

  // Closing waits this long for inferences that the backend began.
  void set_patience(std::chrono::nanoseconds patience) { patience_ = patience; }

  // Calls a function of the plug-in with the plug-in as the thread's owner.
  template <typename Body>
  Status Call(std::string_view what, Body&& body) const {
    return CallPlugin(owner_, what, std::forward<Body>(body));
  }

  // Instances are opened and closed one at a time, unless the backend says otherwise.
  [[nodiscard]] std::unique_lock<std::mutex> InstanceTurn() {
    return info_.parallel_instance_loading != 0 ? std::unique_lock<std::mutex>()
                                                : std::unique_lock(instances_mutex_);
  }

  std::atomic<void*> state{nullptr};  // the plug-in's
  std::atomic<TRITONBACKEND_ExecutionPolicy> policy{TRITONBACKEND_EXECUTION_BLOCKING};

 private:
  Backend(Owner& owner, std::string_view name, std::string_view directory,
          std::unique_ptr<PluginLibrary> library, std::string config);
  Status Initialize();

  Owner& owner_;
  const std::string name_;
  const std::string directory_;
  const std::unique_ptr<PluginLibrary> library_;
  const BackendFunctions functions_;
  Message config_;
  MemoryManager memory_;
  nrt_backend_info info_{};
  bool initialized_ = false;
  std::chrono::nanoseconds patience_{0};
  std::mutex instances_mutex_;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_BACKEND_H_
