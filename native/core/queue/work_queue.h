// The dispatcher's interface to the waiting requests, whatever their order of execution.
#ifndef NEREID_CORE_QUEUE_WORK_QUEUE_H_
#define NEREID_CORE_QUEUE_WORK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/queue/batch_decision.h"
#include "core/queue/waiting_instances.h"
#include "core/request/request.h"

namespace nereid {

// Holds a model's waiting requests, decides which ones an instance executes next, and which
// instance has to look after a change. Not synchronised: the dispatcher's mutex guards it and the
// waiting instances. Requests are linked and not owned.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;

  [[nodiscard]] virtual size_t size() const = 0;

  // ---- Arrival ----

  // True if an idle instance would execute the request at once, so that it need not be queued.
  [[nodiscard]] virtual bool PassesBy(Request& request, int64_t now_ns) = 0;
  // Queues a request. Fails, with nothing changed, if it may not wait; throws without memory.
  virtual Status Push(Request& request, int64_t now_ns) = 0;
  // The instance that will execute the request, just pushed, next; null: undecided.
  [[nodiscard]] virtual WaitingInstance* HomeOf(const Request& request,
                                                const WaitingInstances& waiting) const = 0;

  // ---- Execution ----

  // Tells how many requests the instance executes now, or when to look again; Take follows at once.
  virtual BatchDecision Decide(uint32_t instance, int64_t now_ns) = 0;
  virtual void Take(size_t count, std::vector<Request*>* batch) = 0;
  // Called for a batch from Take in a model with sequences, after execution and before the answers.
  // Requests that are to run again move from the batch back to the queue. Returns those that were
  // taken out of the queue, because they cannot run without one of the batch that never ran.
  virtual RequestList Finish(std::vector<Request*>* batch, int64_t now_ns) = 0;

  // ---- Removal ----

  // Takes out a request, and those that cannot run without it.
  virtual void Remove(Request& request, RemovedRequests* removed, int64_t now_ns) = 0;
  // The same for all requests whose time is up; and when the next call is due, kNever: not before
  // requests come or end.
  virtual void TakeExpired(int64_t now_ns, RemovedRequests* removed) = 0;
  [[nodiscard]] virtual int64_t NextEventNs() const = 0;
  virtual RequestList TakeAll() = 0;

  // ---- Waking ----

  // Each marks an instance and returns it for the caller to notify; null: none has to look. Called
  // after a push; after the instance took a batch or was given back; and after requests were
  // removed, or will not be waited for any more.
  virtual WaitingInstance* ChooseForNew(WaitingInstances& waiting) = 0;
  virtual WaitingInstance* ChooseForRest(const WaitingInstance& instance,
                                         WaitingInstances& waiting) = 0;
  virtual WaitingInstance* ChooseForChange(WaitingInstances& waiting) = 0;
  // Makes an instance that found nothing to execute before `wake_ns` idle or armed.
  virtual void BeginToWait(WaitingInstance& instance, int64_t wake_ns,
                           WaitingInstances& waiting) = 0;

  // ---- For sequences; other queues do nothing ----

  // Lets no new sequence start.
  virtual void FinishSequences() {}
  // Gives back the states of sequences, when nothing executes any more.
  virtual void DropStates() {}
  [[nodiscard]] virtual bool Knows(uint64_t /*number*/, std::string_view /*name*/) const {
    return false;
  }
  virtual void ReadStats(nrd_sequence_stats* /*stats_out*/) const {}
};

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_WORK_QUEUE_H_
