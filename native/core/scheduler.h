// Brings the requests of one model to its instances.
#ifndef NEREID_CORE_SCHEDULER_H_
#define NEREID_CORE_SCHEDULER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/batch_execution.h"
#include "core/batch_policy.h"
#include "core/completion.h"
#include "core/model_config.h"
#include "core/ordered_delivery.h"
#include "core/request_queue.h"
#include "core/request_runner.h"
#include "core/response_cache.h"
#include "core/stats.h"
#include "core/timer.h"

namespace nereid {

// What a scheduler works with; all of it outlives the scheduler.
struct SchedulerContext {
  const ModelConfig& config;
  const nrd_backend& backend;
  void* model_state;
  BufferPool& pool;
  PoolAccount* account;  // of the model
  ResponseCache* cache;  // NULL: the model is not cached
  ModelStats& stats;
  Completion& completion;
  const Responder& responder;
  Timer& timer;
};

// An idle model runs a request on the submitting thread. Otherwise requests queue up, and the
// thread of each instance takes from the queue what the batch policy gives it.
//
// Lock order: scheduler, then timer or ordered delivery. Nothing is called out with the lock held,
// and nothing from admission to the answer allocates, so running short of memory loses no request.
class Scheduler final : public RequestRunner, public TimerTarget {
 public:
  explicit Scheduler(const SchedulerContext& context);
  ~Scheduler() override;

  // Starts the threads and opens an instance on each.
  Status Start();

  int32_t Submit(Request& request) override;
  bool MayAnswerAtOnce() override;
  int32_t WarmUp(Request& request) override;
  int32_t Cancel(Request& request) override;
  bool Drain(int64_t deadline_ns) override;
  // Also closes the instances and ends the threads.
  void Stop() override;

  int64_t OnTimer(int64_t now_ns) override;

  void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) override;

 private:
  // One execution slot: a thread of its own and a handle of the backend. It is in `idle_`, or its
  // thread works, or a submitting thread has borrowed it.
  struct Instance {
    Instance(uint32_t instance_index, const SchedulerContext& context)
        : index(instance_index), execution(context.config, context.pool, context.account) {}

    const uint32_t index;
    void* handle = nullptr;
    BatchExecution execution;
    std::vector<Request*> batch;  // taken from the queue, to be executed
    RequestList expired;          // taken from the queue, to be answered
    uint64_t ticket = 0;          // with preserve_ordering
    int64_t wake_ns = kNever;     // when to look again, after there was no batch to take
    bool signalled = false;
    Request* warm_up = nullptr;        // to be executed before anything else
    Instance* next_to_wake = nullptr;  // has to look at what this one left in the queue
    std::condition_variable wake;
    std::thread thread;
  };

  // With the lock held.
  inline Status MayEnter(const Request& request, int64_t now_ns) const;
  Status WhyRefused(const Request& request) const;
  void AwaitShortExecution(const Request& request, std::unique_lock<std::mutex>& lock);
  bool TakesInline(const Request& request) const;
  bool MayRunInline(const Request& request, int64_t now_ns) const;
  bool TakeBatch(Instance& instance);
  void LookAtQueue();
  Instance* ChooseToWake();
  Instance* ChooseForNewRequest();
  void WakeForChange();
  void WaitForWork(Instance& instance, std::unique_lock<std::mutex>& lock);
  void WarmUpInstance(Instance& instance, Request& request, std::unique_lock<std::mutex>& lock);
  void Answered(size_t count);
  void UpdateEstimate(uint64_t execution_ns);

  // Without it.
  void RunThread(Instance& instance, std::string name);
  void ExecuteWarmUp(Instance& instance);
  Status OpenInstance(Instance& instance);
  void Execute(Instance& instance, int64_t start_ns, bool ran_inline);
  int32_t RunInline(Instance& instance, Request& request, std::unique_lock<std::mutex>& lock);
  size_t Deliver(Instance& instance);
  void AnswerExpired(RequestList requests);
  void AnswerUnexecuted(RequestList requests, FailReason reason);
  void FailWaiting();

  const SchedulerContext context_;
  const ModelConfig& config_;
  const std::string unloaded_message_;
  OrderedDelivery ordered_;
  std::vector<std::unique_ptr<Instance>> instances_;

  std::mutex mutex_;
  RequestQueue queue_;
  std::vector<Instance*> idle_;       // the last one is taken first: its caches are warm
  Instance* armed_ = nullptr;         // waits for more requests, or for the queue delay to pass
  int64_t wake_rows_ = 0;             // rows in the queue at which `armed_` wants to know
  int64_t armed_expiry_ns_ = kNever;  // what the timer knows of
  int64_t estimate_ns_ = 0;           // moving average of an execution
  // Requests that execute. Falls before they are answered: who has the answer sees it.
  std::atomic<uint64_t> executing_{0};
  uint64_t unanswered_ = 0;  // requests admitted and not delivered yet
  // Submitters that wake an instance after they released the lock; Stop waits for them.
  std::atomic<uint32_t> wakers_{0};
  std::atomic<bool> accepting_{false};  // written with the lock held
  bool stopping_ = false;
  bool warming_up_ = false;  // nothing else is executed
  std::condition_variable warmed_up_;
  uint32_t opening_ = 0;  // instances that are being opened
  Status open_status_;
  std::condition_variable opened_;
  std::condition_variable drained_;
  std::vector<WaitingRequest> waiting_;  // what LookAtQueue saw
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULER_H_
