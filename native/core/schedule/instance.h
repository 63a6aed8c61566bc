// One instance of a model: a handle of the backend, and what it takes to run batches on it.
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

// The parts that a scheduler and its instances work with; all of it outlives them.
struct SchedulerContext {
  const ModelConfig& config;
  const nrd_backend& backend;
  void* model_state;
  BufferPool& pool;
  PoolAccount* account;  // of the model
  AnswerCache* cache;    // NULL: the model is not cached
  ModelStats& stats;
  Completion& completion;
  const Responder& responder;
  Alarm& timer;
  SharedLimiter& limiter;
};

// Used by one thread at a time: its own, or one that submits a request and has borrowed the
// instance from the dispatcher, whose mutex is held while an instance passes from one to the other,
// and never while one of its functions is called.
class Instance final : public WaitingInstance {
 public:
  // `owner` is told of batches that the backend kept.
  Instance(uint32_t index, const SchedulerContext& context, DetachedBatch::Owner& owner);

  // Every WaitingInstance of a dispatcher is an Instance.
  static Instance& From(WaitingInstance& waiting) { return static_cast<Instance&>(waiting); }

  // On the thread of the instance, before and, if it could be opened, after everything else.
  bool Open();
  void Close();
  // Once Open has returned. Throws where memory was missing even for a status.
  [[nodiscard]] const Status& open_status() const {
    if (thrown_ != nullptr) {
      std::rethrow_exception(thrown_);
    }
    return open_status_;
  }

  // Runs `batch`, fills in the times of its requests, stores their answers in the cache and counts
  // them. Nothing is delivered. False: the backend keeps the batch, and nothing of it is here any
  // more; its owner ends it with EndDetached and GiveBack.
  bool Execute(int64_t start_ns, bool ran_inline);
  // On the thread of the backend, for what Execute does otherwise; and, when all is delivered, so
  // that the instance may be closed.
  void EndDetached(DetachedBatch& detached);
  // The same for one of its requests.
  void EndEarly(const DetachedBatch& detached, Request& request);
  void GiveBack(DetachedBatch& detached) { detachable_->GiveBack(detached); }
  // Returns when the backend keeps no batch.
  void AwaitDetached();

  // Runs one request and drops what comes out. Nothing of it is counted, and it tells nothing about
  // how long an execution takes later.
  void WarmUp(Request& request);

  // The thread's name: "nrd-<model>-<index>", cut to the 15 characters that Linux keeps.
  [[nodiscard]] std::string ThreadName() const;

  // True if the backend ran in the last Execute, and for how long.
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
  // In place of that, where the backend may keep a batch: with those that it has, several threads
  // count for this instance.
  std::unique_ptr<DetachedBatches> detachable_;
  // True if the instance executes one batch at a time all the same: it holds what it needs only
  // once, or has to find out how long an execution takes.
  const bool attends_;
  Mutex recording_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_INSTANCE_H_
