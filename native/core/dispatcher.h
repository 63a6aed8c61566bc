// Decides, under one mutex, which thread executes which requests of a model.
#ifndef NEREID_CORE_DISPATCHER_H_
#define NEREID_CORE_DISPATCHER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "core/batch_picker.h"
#include "core/instance.h"
#include "core/request_queue.h"
#include "core/sequence_queue.h"
#include "core/timer.h"
#include "core/waiting_instances.h"

namespace nereid {

// The part of the scheduler that threads have in common: the queue, the instances that wait, and
// the number of requests that are not answered yet. All of it is guarded by the dispatcher's mutex,
// which is held inside its functions only: no backend and no callback is called with it.
//
// Lock order: the dispatcher's mutex, then the timer's or the rate limiter's. Nothing here
// allocates but the queue, when it grows, so running short of memory loses no request.
class Dispatcher {
 public:
  // What a thread of an instance has to do. Requests to execute are in the batch of the instance.
  struct Work {
    bool stop = false;           // nothing, for good
    Request* warm_up = nullptr;  // to be run by Instance::WarmUp; nothing else then
    RemovedRequests expired;     // to be answered
  };

  // What it has done since it asked before.
  struct Outcome {
    bool opened = false;  // its instance, just now
    bool warmed_up = false;
    bool executed = false;  // the backend ran
    uint64_t execution_ns = 0;
    size_t answered = 0;
  };

  // `target` is what the timer calls when requests in the queue expire, `now` what time it is.
  Dispatcher(const SchedulerContext& context, ExecutionLimits& limits, TimerTarget& target,
             int64_t (*now)() = MonotonicNowNs);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // All instances, in the order of their index, before anything else.
  void Attach(Instance& instance) { instances_.push_back(&instance); }

  // Returns when each instance has come to Next, and waits there, or could not be opened.
  void AwaitOpened() NRD_EXCLUDES(mutex_);
  void OpenFailed() NRD_EXCLUDES(mutex_);

  // Requests are refused before Open and after Close. CloseAndServe has those that wait executed
  // without waiting for fuller batches.
  void Open() NRD_EXCLUDES(mutex_);
  void Close() NRD_EXCLUDES(mutex_);
  void CloseAndServe() NRD_EXCLUDES(mutex_);
  [[nodiscard]] bool is_open() const { return accepting_.load(std::memory_order_relaxed); }

  // Lets a request in. Either the caller gets an instance, executes the request there and ends with
  // GiveBack; or the request is in the queue, and from then on belongs to the instances: it may
  // have been answered and released when this returns, and the model with it.
  Status Enter(Request& request, Instance** borrowed_out) NRD_EXCLUDES(mutex_);
  // For the answered request of a borrowed instance.
  void GiveBack(Instance& instance, uint64_t execution_ns) NRD_EXCLUDES(mutex_);

  // Between BeginWarmUp and EndWarmUp nothing is executed but what WarmUp has the thread of an
  // instance execute. That returns when it is done; false: the dispatcher was closed.
  Status BeginWarmUp(Request& request) NRD_EXCLUDES(mutex_);
  bool WarmUp(Instance& instance, Request& request) NRD_EXCLUDES(mutex_);
  void EndWarmUp() NRD_EXCLUDES(mutex_);

  // On the thread of the instance: takes note of what it has done, and waits until there is
  // something to do.
  Work Next(Instance& instance, const Outcome& outcome) NRD_EXCLUDES(mutex_);
  // The same without waiting: false when there is nothing to do before the instance is woken, which
  // WaitsUntilNs and IsWoken tell of. For who drives all instances with one thread.
  bool TryNext(Instance& instance, const Outcome& outcome, Work* work) NRD_EXCLUDES(mutex_);
  bool IsWoken(const Instance& instance) NRD_EXCLUDES(mutex_);
  int64_t WaitsUntilNs(const Instance& instance) NRD_EXCLUDES(mutex_);

  // A batch has been executed, and is answered next: what is left in it, without the requests that
  // are to run again.
  void Executed(std::vector<Request*>* batch) NRD_EXCLUDES(mutex_);

  // Takes requests out of the queue; the caller answers them, and says so with Answered.
  // Withdraw marks the request as cancelled and returns the state that it was in; only one that was
  // kQueued has been taken out, perhaps with others.
  RequestState Withdraw(Request& request, RemovedRequests* removed) NRD_EXCLUDES(mutex_);
  RemovedRequests TakeExpired(int64_t now_ns, int64_t* next_expiry_ns_out) NRD_EXCLUDES(mutex_);
  RequestList TakeAll() NRD_EXCLUDES(mutex_);
  void Answered(size_t count) NRD_EXCLUDES(mutex_);

  // Whether all requests that came in have been answered: now, or at `deadline_ns`.
  bool IsIdle() NRD_EXCLUDES(mutex_);
  bool AwaitAnswers(int64_t deadline_ns) NRD_EXCLUDES(mutex_);

  // From here on Next has `stop` for all; the caller notifies those that wait.
  void StopInstances() NRD_EXCLUDES(mutex_);
  // Waits for submitters that are just waking an instance.
  void AwaitWakers() const;

  void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) NRD_EXCLUDES(mutex_);

  // For models with sequences; others know none.
  void FinishSequences() NRD_EXCLUDES(mutex_);
  bool KnowsSequence(uint64_t number, std::string_view name) NRD_EXCLUDES(mutex_);
  void ReadSequenceStats(nrd_sequence_stats* stats_out) NRD_EXCLUDES(mutex_);

 private:
  inline Status MayEnter(const Request& request, int64_t now_ns) const;
  Status WhyRefused(const Request& request) const;
  void AwaitShortExecution(const Request& request) NRD_REQUIRES(mutex_);
  inline bool TakesInline(const Request& request) const NRD_REQUIRES(mutex_);
  bool MayRunInline(const Request& request, int64_t now_ns) const NRD_REQUIRES(mutex_);
  inline Instance* BorrowFor(Request& request) NRD_REQUIRES(mutex_);
  Status Enqueue(Request& request, int64_t now_ns, Instance** woken_out) NRD_REQUIRES(mutex_);
  Status EnterSequence(Request& request, Instance** borrowed_out, Instance** woken_out)
      NRD_REQUIRES(mutex_);
  bool BorrowForSequence(Instance& instance, const Request& request) NRD_REQUIRES(mutex_);
  void MarkWoken(Instance* instance) NRD_REQUIRES(mutex_);
  void ArmTimer() NRD_REQUIRES(mutex_);
  void CountOpened() NRD_REQUIRES(mutex_);
  void Settle(const Outcome& outcome) NRD_REQUIRES(mutex_);
  bool Look(Instance& instance, Work* work, Instance** woken_out) NRD_REQUIRES(mutex_);
  int64_t TakeBatch(Instance& instance, Work* work) NRD_REQUIRES(mutex_);
  int64_t TakeFromQueue(Instance& instance, Work* work) NRD_REQUIRES(mutex_);
  int64_t TakeFromSequences(Instance& instance, Work* work) NRD_REQUIRES(mutex_);
  void BeginToWait(Instance& instance, int64_t wake_ns) NRD_REQUIRES(mutex_);
  void FinishSequenceBatch(std::vector<Request*>* batch) NRD_REQUIRES(mutex_);
  void WakeRoused() NRD_REQUIRES(mutex_);
  [[nodiscard]] inline size_t pending() const NRD_REQUIRES(mutex_);
  [[nodiscard]] int64_t NextEventNs() const NRD_REQUIRES(mutex_);
  bool IdleMayExecute() NRD_REQUIRES(mutex_);
  bool AwaitLimits(Instance& instance) NRD_REQUIRES(mutex_);
  Instance* ChooseForRest() NRD_REQUIRES(mutex_);
  void WakeForChange() NRD_REQUIRES(mutex_);
  inline void CountAnswered(size_t count) NRD_REQUIRES(mutex_);
  inline void UpdateEstimate(uint64_t execution_ns) NRD_REQUIRES(mutex_);

  const SchedulerContext context_;
  const ModelConfig& config_;
  ExecutionLimits& limits_;
  TimerTarget& target_;
  int64_t (*const now_)();
  // Whether the number of rows in the queue says all about when a batch is full: not when shapes
  // differ, nor when a request can come in between, nor when a batcher is asked.
  const bool rows_tell_;

  // Requests that execute. Falls before they are answered: who has the answer sees it.
  std::atomic<uint64_t> executing_{0};
  // Submitters that wake an instance after they released the mutex.
  std::atomic<uint32_t> wakers_{0};
  std::atomic<bool> accepting_{false};  // written with the mutex held, also read without it

  std::vector<Instance*> instances_;

  Mutex mutex_;
  RequestQueue queue_ NRD_GUARDED_BY(mutex_);
  // Holds what waits in place of the queue; null: the model has no sequences.
  const std::unique_ptr<SequenceQueue> sequences_ NRD_PT_GUARDED_BY(mutex_);
  BatchPicker picker_ NRD_GUARDED_BY(mutex_);
  WaitingInstances waiting_ NRD_GUARDED_BY(mutex_);
  int64_t armed_expiry_ns_ NRD_GUARDED_BY(mutex_) = kNever;  // what the timer knows of
  int64_t estimate_ns_ NRD_GUARDED_BY(mutex_) = 0;           // moving average of an execution
  uint64_t unanswered_ NRD_GUARDED_BY(mutex_) = 0;           // admitted and not delivered yet
  uint64_t next_ticket_ NRD_GUARDED_BY(mutex_) = 0;          // with preserve_ordering
  bool warming_up_ NRD_GUARDED_BY(mutex_) = false;           // nothing else is executed
  // Which instance is to be warmed up, and with what; null: none just now.
  Instance* warming_instance_ NRD_GUARDED_BY(mutex_) = nullptr;
  Request* warming_request_ NRD_GUARDED_BY(mutex_) = nullptr;
  uint32_t opening_ NRD_GUARDED_BY(mutex_);  // instances that are still being opened
  Condition opened_;
  Condition warmed_up_;
  Condition drained_;
};

}  // namespace nereid

#endif  // NEREID_CORE_DISPATCHER_H_
