// One instance of a model: the backend's handle, with the means to run batches on it.
#ifndef NEREID_CORE_SCHEDULE_INSTANCE_H_
#define NEREID_CORE_SCHEDULE_INSTANCE_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "core/batch/batch_execution.h"
#include "core/batch/detached_batch.h"
#include "core/config/model_config.h"
#include "core/queue/waiting_instances.h"
#include "core/request/answer_cache.h"
#include "core/request/completion.h"
#include "core/request/request.h"
#include "core/request/stats.h"
#include "core/schedule/execution_limits.h"
#include "core/schedule/timer.h"

namespace nereid {

// The objects that a scheduler and its instances use and that outlive them.
struct SchedulerContext {
  const ModelConfig& config;
  const nrd_backend& backend;
  void* model_state;
  BufferPool& pool;
  PoolAccount* account;  // the model's account
  AnswerCache* cache;    // NULL: the model is not cached
  ModelStats& stats;
  Completion& completion;
  const Responder& responder;
  Alarm& timer;
  SharedLimiter& limiter;
};

// An instance of a model. Used by one thread at a time: its own, or a submitting one that has
// borrowed it from the dispatcher. The dispatcher's mutex is held while an instance changes
// threads, and never during a call of its functions.
class Instance final : public WaitingInstance {
 public:
  // `owner` is called for batches that the backend kept.
  Instance(uint32_t index, const SchedulerContext& context, DetachedBatch::Owner& owner);

  // Every WaitingInstance of a dispatcher is an Instance.
  static Instance& From(WaitingInstance& waiting) { return static_cast<Instance&>(waiting); }

  // Called on the instance's thread: Open first, and Close last if it could be opened.
  bool Open();
  void Close();
  // Valid once Open has returned. Throws if memory was lacking even for a status.
  [[nodiscard]] const Status& open_status() const {
    if (thrown_ != nullptr) {
      std::rethrow_exception(thrown_);
    }
    return open_status_;
  }

  // Runs `batch`, fills in the times of its requests, stores their answers in the cache and counts
  // them. Delivers nothing. False: the backend keeps the batch, and `batch` is empty; the owner
  // ends it with EndDetached and GiveBack.
  bool Execute(int64_t start_ns, bool ran_inline);
  // Called on the backend's thread: EndDetached does the rest of Execute; GiveBack, after delivery,
  // allows the instance to be closed.
  void EndDetached(DetachedBatch& detached);
  // The same as EndDetached for one request of the batch.
  void EndEarly(const DetachedBatch& detached, Request& request);
  void GiveBack(DetachedBatch& detached) { detachable_->GiveBack(detached); }
  // Returns when the backend keeps no batch.
  void AwaitDetached();

  // Runs one request and drops its outputs. The execution is not counted, nor its duration
  // measured.
  void WarmUp(Request& request);

  // The thread's name: "nrd-<model>-<index>", cut to the 15 characters that Linux keeps.
  [[nodiscard]] std::string ThreadName() const;

  // True if the backend ran in the last Execute; and the duration.
  [[nodiscard]] bool executed() const { return execution_.executed(); }
  [[nodiscard]] uint64_t execution_ns() const { return execution_.compute_infer_ns(); }

  std::vector<Request*> batch;  // has room for the largest one
  uint64_t ticket = 0;          // the batch's place in the order of answers, with preserve_ordering
  std::thread thread;

 private:
  Status OpenHandle();
  inline void Count(const Request& request, bool executed, int64_t end_ns);
  void Record(const BatchExecution& execution, const std::vector<Request*>& requests,
              int64_t start_ns, int64_t end_ns, bool ran_inline, uint64_t rows_answered = 0);
  template <typename Action>
  inline void Recording(Action&& action);

  const SchedulerContext context_;
  void* handle_ = nullptr;
  Status open_status_;
  std::exception_ptr thrown_;  // by Open
  BatchExecution execution_;
  // In place of execution_ if the backend may keep batches, whose threads then also count for this
  // instance.
  std::unique_ptr<DetachedBatches> detachable_;
  // True if the instance nevertheless executes one batch at a time, because it holds resources, or
  // must measure executions.
  const bool attends_;
  Mutex recording_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_INSTANCE_H_
