// Brings the requests of one model to its instances.
#ifndef NEREID_CORE_SCHEDULE_SCHEDULER_H_
#define NEREID_CORE_SCHEDULE_SCHEDULER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/request/ordered_delivery.h"
#include "core/request/request_runner.h"
#include "core/schedule/dispatcher.h"
#include "core/schedule/instance.h"
#include "core/schedule/timer.h"

namespace nereid {

// An idle model runs a request on the thread that submits it. Otherwise requests queue up, and the
// thread of each instance takes batches by the batch policy. The dispatcher decides all that; the
// scheduler owns the threads, executes, and answers.
//
// Called by any thread of the caller, by the timer's, and by those of the instances. Requests
// belong to their callers; between Submit and the answer the core alone touches them.
class Scheduler final : public RequestRunner, public TimerTarget, public DetachedBatch::Owner {
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

  void ReadInstance(uint32_t instance, nrd_instance_stats* stats_out) override;
  void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) override;
  void ReadBatchEnds(uint64_t* counts_out) override { dispatcher_.ReadBatchEnds(counts_out); }

  void Sent(const Request& request, uint64_t took_ns) override;
  bool ReadObjective(nrd_objective_stats* stats_out) override;
  uint32_t ReadCostCurve(nrd_cost_point* points_out, uint32_t capacity) override;

  void FinishSequences() override;
  bool KnowsSequence(uint64_t number, std::string_view name) override;
  void ReadSequenceStats(nrd_sequence_stats* stats_out) override;

 private:
  inline int32_t RunInline(Instance& instance, Request& request);
  void RunThread(Instance& instance);
  void EndDetached(DetachedBatch& batch) override;
  void AnswerEarly(DetachedBatch& batch, Request& request) override;
  size_t Deliver(const std::vector<Request*>& batch, uint64_t ticket);
  Dispatcher::Outcome ExecuteAndDeliver(Instance& instance);
  void AnswerExpired(const RemovedRequests& removed);
  void AnswerAbandoned(RequestList requests);
  void AnswerUnexecuted(RequestList requests, FailReason reason);
  void Executed(Instance& instance, std::vector<Request*>* batch);
  void FailWaiting();

  const SchedulerContext context_;
  const ModelConfig& config_;
  const std::string unloaded_message_;
  ExecutionLimits limits_;
  OrderedDelivery ordered_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::atomic<bool> gave_up_{false};  // waiting requests are failed, and so are those that would
                                      // wait again
  Dispatcher dispatcher_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_SCHEDULER_H_
