// Decides, under one mutex, which thread executes which requests of a model.
#ifndef NEREID_CORE_SCHEDULE_DISPATCHER_H_
#define NEREID_CORE_SCHEDULE_DISPATCHER_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "core/objective/objective_queue.h"
#include "core/queue/waiting_instances.h"
#include "core/queue/work_queue.h"
#include "core/schedule/admission.h"
#include "core/schedule/instance.h"
#include "core/schedule/timer.h"
#include "core/schedule/warm_up_turn.h"

namespace nereid {

// The shared state of the scheduler's threads: the queue, the waiting instances, and the number of
// unanswered requests. The dispatcher's mutex guards it and is held only inside its functions: no
// backend and no callback is called with it.
//
// Lock order: the dispatcher's mutex, then the timer's or the rate limiter's. Only the queue
// allocates, when it grows, so a lack of memory loses no request.
class Dispatcher {
 public:
  // The work for an instance's thread. Requests to execute are in the batch of the instance.
  struct Work {
    bool stop = false;           // no more work: the thread ends
    Request* warm_up = nullptr;  // to be run by Instance::WarmUp; then there is no other work
    RemovedRequests expired;     // requests to be answered
  };

  // The results of an instance's thread since its last call.
  struct Outcome {
    bool opened = false;  // the instance was opened just now
    bool warmed_up = false;
    bool executed = false;  // the backend ran
    uint64_t execution_ns = 0;
    size_t answered = 0;
  };

  // `target`: called by the timer when requests in the queue expire; `now`: the clock.
  Dispatcher(const SchedulerContext& context, ExecutionLimits& limits, TimerTarget& target,
             int64_t (*now)() = MonotonicNowNs);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Adds all instances, in the order of their index, before any other call.
  void Attach(Instance& instance) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    waiting_.Attach(instance);
  }

  // Returns when each instance waits in Next, or could not be opened.
  void AwaitOpened() NRD_EXCLUDES(mutex_);
  void OpenFailed() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    CountOpened();
  }

  // Requests are refused before Open and after Close. CloseAndServe lets waiting ones execute
  // without waiting for fuller batches.
  void Open() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    admission_.Open();
  }
  void Close() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    admission_.Close();
  }
  void CloseAndServe() NRD_EXCLUDES(mutex_);
  [[nodiscard]] bool is_open() const { return admission_.is_open(); }

  // Admits a request. Either the caller gets an instance, executes the request there and calls
  // GiveBack; or the request is queued and belongs to the instances: when this returns, it may have
  // been answered and released, and the model with it.
  Status Enter(Request& request, Instance** borrowed_out) NRD_EXCLUDES(mutex_);
  // Called after the request of a borrowed instance was answered. Returns as Executed does.
  RequestList GiveBack(Instance& instance, uint64_t execution_ns) NRD_EXCLUDES(mutex_);

  // Between BeginWarmUp and EndWarmUp, only WarmUp's requests are executed, on the threads of their
  // instances. WarmUp returns when that is done; false: the dispatcher was closed.
  Status BeginWarmUp(Request& request) NRD_EXCLUDES(mutex_);
  bool WarmUp(Instance& instance, Request& request) NRD_EXCLUDES(mutex_);
  // The same without waiting, for a single thread that drives all instances; true: done.
  bool TryWarmUp(Instance& instance, Request& request) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return GiveWarmUp(instance, request);
  }
  bool IsWarmedUp() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return !warm_up_.is_given();
  }
  void EndWarmUp() NRD_EXCLUDES(mutex_);

  // Called by the instance's thread: records its results, and waits until there is work.
  Work Next(Instance& instance, const Outcome& outcome) NRD_EXCLUDES(mutex_);
  // The same without waiting: false if there is no work before the instance is woken (see
  // WaitsUntilNs and IsWoken). For a single thread that drives all instances.
  bool TryNext(Instance& instance, const Outcome& outcome, Work* work) NRD_EXCLUDES(mutex_);
  bool IsWoken(const Instance& instance) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return waiting_.IsWoken(instance);
  }
  int64_t WaitsUntilNs(const Instance& instance) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return waiting_.WaitsUntilNs(instance);
  }

  // Called when the instance has executed a batch: takes out the requests that are to run again;
  // the rest is answered next. Returns what waited and cannot run without a request of the batch.
  RequestList Executed(Instance& instance, std::vector<Request*>* batch) NRD_EXCLUDES(mutex_);
  // Called for one request of an unfinished batch, without sequences.
  void ExecutedEarly(const Instance& instance, const Request& request) NRD_EXCLUDES(mutex_);

  // These take requests out of the queue; the caller answers them, then calls Answered. Withdraw
  // marks the request as cancelled and returns the state that it was in; only one that was kQueued
  // has been taken out, perhaps with others.
  RequestState Withdraw(Request& request, RemovedRequests* removed) NRD_EXCLUDES(mutex_);
  RemovedRequests TakeExpired(int64_t now_ns, int64_t* next_expiry_ns_out) NRD_EXCLUDES(mutex_);
  RequestList TakeAll() NRD_EXCLUDES(mutex_);
  void Answered(size_t count) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    CountAnswered(count);
  }

  // True if all requests that came in have been answered: now, or at `deadline_ns`.
  bool IsIdle() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return unanswered_ == 0;
  }
  bool AwaitAnswers(int64_t deadline_ns) NRD_EXCLUDES(mutex_);

  // Makes Next return `stop` for all; the caller notifies waiting instances.
  void StopInstances() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    waiting_.Stop();
  }
  // Waits for submitters that are waking an instance.
  void AwaitWakers() const;
  // Gives back the states of sequences, when all threads have ended.
  void DropStates() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    queue_->DropStates();
  }

  void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    *pending_out = queue_->size();
    *executing_out = executing_;
  }

  void ReadBatchEnds(uint64_t* counts_out) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::copy(batch_ends_.begin(), batch_ends_.end(), counts_out);
  }

  // For models with an objective: notes that an answer has left, `took_ns` after its request came.
  void Sent(const Request& request, uint64_t took_ns) NRD_EXCLUDES(mutex_);
  // False, and no points: the model has no objective.
  bool ReadObjective(nrd_objective_stats* stats_out) NRD_EXCLUDES(mutex_);
  uint32_t ReadCostCurve(nrd_cost_point* points_out, uint32_t capacity) NRD_EXCLUDES(mutex_);

  // For models with sequences; others do nothing.
  void FinishSequences() NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    queue_->FinishSequences();
  }
  bool KnowsSequence(uint64_t number, std::string_view name) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return queue_->Knows(number, name);
  }
  void ReadSequenceStats(nrd_sequence_stats* stats_out) NRD_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    queue_->ReadStats(stats_out);
  }

 private:
  void AwaitShortExecution(const Request& request) NRD_REQUIRES(mutex_);
  inline Instance* BorrowFor(Request& request) NRD_REQUIRES(mutex_);
  Status Enqueue(Request& request, int64_t now_ns) NRD_REQUIRES(mutex_);
  Instance* BorrowHome(const Request& request, int64_t now_ns) NRD_REQUIRES(mutex_);
  void TakeNow(Instance& instance, const BatchDecision& decision) NRD_REQUIRES(mutex_);
  void ArmTimer() NRD_REQUIRES(mutex_);
  void CountOpened() NRD_REQUIRES(mutex_);
  void Settle(const Outcome& outcome) NRD_REQUIRES(mutex_);
  bool Look(Instance& instance, Work* work, WaitingInstance** woken_out) NRD_REQUIRES(mutex_);
  int64_t TakeBatch(Instance& instance, Work* work) NRD_REQUIRES(mutex_);
  bool GiveWarmUp(Instance& instance, Request& request) NRD_REQUIRES(mutex_);
  bool IdleMayExecute() NRD_REQUIRES(mutex_);
  bool AwaitLimits(Instance& instance) NRD_REQUIRES(mutex_);
  void CountAnswered(size_t count) NRD_REQUIRES(mutex_) {
    unanswered_ -= count;
    if (unanswered_ == 0 && !admission_.is_open()) {
      drained_.NotifyAll();
    }
  }

  const SchedulerContext context_;
  const ModelConfig& config_;
  ExecutionLimits& limits_;
  TimerTarget& target_;
  int64_t (*const now_)();
  // The reasons for batches of one request, which an idle instance executes at once.
  const int64_t full_rows_;
  const uint32_t end_of_one_;

  // The number of executing requests. Decremented before the answers, for their receivers to see.
  std::atomic<uint64_t> executing_{0};
  // The number of submitters that are waking an instance after releasing the mutex.
  std::atomic<uint32_t> wakers_{0};

  Mutex mutex_;
  Admission admission_;  // guarded by the mutex, but for is_open
  const std::unique_ptr<WorkQueue> queue_ NRD_PT_GUARDED_BY(mutex_);
  ObjectiveQueue* const objective_ NRD_PT_GUARDED_BY(mutex_);  // the queue, if it is an
                                                               // ObjectiveQueue; else null
  WaitingInstances waiting_ NRD_GUARDED_BY(mutex_);
  int64_t armed_expiry_ns_ NRD_GUARDED_BY(mutex_) = kNever;  // the time for which the timer is
                                                             // armed
  uint64_t unanswered_ NRD_GUARDED_BY(mutex_) = 0;           // admitted and not delivered yet
  uint64_t next_ticket_ NRD_GUARDED_BY(mutex_) = 0;          // with preserve_ordering
  WarmUpTurn warm_up_ NRD_GUARDED_BY(mutex_);
  std::array<uint64_t, NRD_BATCH_ENDS> batch_ends_ NRD_GUARDED_BY(mutex_) = {};
  uint32_t opening_ NRD_GUARDED_BY(mutex_);  // instances that are still being opened
  Condition opened_;
  Condition drained_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_DISPATCHER_H_
