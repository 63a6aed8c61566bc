// An instance of a model, as a plug-in sees it, and its batches.
#ifndef NEREID_TRITON_INSTANCE_H_
#define NEREID_TRITON_INSTANCE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "triton/message.h"
#include "triton/model.h"

namespace nereid::triton {

class Execution;
class ExecutionPool;

class Instance : public Handle {
 public:
  static constexpr Kind kKind = Kind::kInstance;

  static Status Open(Model& model, uint32_t index, std::unique_ptr<Instance>* out);
  ~Instance();

  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] const InstanceInfo& info() const { return info_; }
  [[nodiscard]] Message& host_policy() { return host_policy_; }

  // Executes a batch, like nrd_backend::execute.
  int32_t Execute(nrd_batch* batch, nrd_error* error_out);
  Status Ready();
  [[nodiscard]] const std::shared_ptr<ExecutionPool>& executions() const { return executions_; }

  // The execution that runs now, on the instance's thread; null between executions.
  [[nodiscard]] Execution* current() const { return current_.load(std::memory_order_acquire); }

  std::atomic<void*> state{nullptr};  // the plug-in's
  std::atomic<uint64_t> reported_bytes{0};

 private:
  Instance(Model& model, const InstanceInfo& info);
  Status Initialize();
  void Finalize();
  // Opens the instance anew if the plug-in reports that it is broken: its process died, say. Asked
  // only after a failure, and while it has no requests.
  void Revive();

  Model& model_;
  const InstanceInfo info_;
  Message host_policy_;
  bool initialized_ = false;
  std::atomic<Execution*> current_{nullptr};
  const std::shared_ptr<ExecutionPool> executions_;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INSTANCE_H_
