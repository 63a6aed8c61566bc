// The dispatcher's view of the requests that wait, in whatever order they are executed.
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

// Holds what waits for a model, decides what an instance executes next, and says who has to look
// when something changed. Not synchronised: the dispatcher's mutex guards it, and the instances
// that wait with it. Requests are linked and not owned.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;

  [[nodiscard]] virtual size_t size() const = 0;

  // ---- What comes ----

  // True if an idle instance would execute the request at once, so that it need not come in here.
  [[nodiscard]] virtual bool PassesBy(Request& request, int64_t now_ns) = 0;
  // Fails, with nothing changed, where the request may not wait; throws when it is out of memory.
  virtual Status Push(Request& request, int64_t now_ns) = 0;
  // The instance that executes the request, just pushed, before anything else; null: that is open.
  [[nodiscard]] virtual WaitingInstance* HomeOf(const Request& request,
                                                const WaitingInstances& waiting) const = 0;

  // ---- What runs ----

  // Tells how many requests the instance executes now, or when to look again; Take follows at once.
  virtual BatchDecision Decide(uint32_t instance, int64_t now_ns) = 0;
  virtual void Take(size_t count, std::vector<Request*>* batch) = 0;
  // For what Take gave in a model with sequences, when it has been executed and before it is
  // answered. Requests that are to run again are here afterwards, and no more in the batch.
  virtual void Finish(std::vector<Request*>* batch, int64_t now_ns) = 0;

  // ---- What does not run ----

  // Takes out a request, and those that cannot run without it.
  virtual void Remove(Request& request, RemovedRequests* removed, int64_t now_ns) = 0;
  // The same for all whose time is up; when that has something to do, kNever: not before requests
  // come or end.
  virtual void TakeExpired(int64_t now_ns, RemovedRequests* removed) = 0;
  [[nodiscard]] virtual int64_t NextEventNs() const = 0;
  virtual RequestList TakeAll() = 0;

  // ---- Who looks ----

  // Each marks one and returns it for the caller to notify; null: none has to look. After a request
  // was pushed; after the instance took something, or was given back; and after something was
  // taken out, or will not be waited for any more.
  virtual WaitingInstance* ChooseForNew(WaitingInstances& waiting) = 0;
  virtual WaitingInstance* ChooseForRest(const WaitingInstance& instance,
                                         WaitingInstances& waiting) = 0;
  virtual WaitingInstance* ChooseForChange(WaitingInstances& waiting) = 0;
  // An instance that has found nothing to execute before `wake_ns` is idle from now on, or armed.
  virtual void BeginToWait(WaitingInstance& instance, int64_t wake_ns,
                           WaitingInstances& waiting) = 0;

  // ---- Sequences: others know none ----

  // From here on no sequence starts.
  virtual void FinishSequences() {}
  // Gives back what sequences have kept; nothing executes any more.
  virtual void DropStates() {}
  [[nodiscard]] virtual bool Knows(uint64_t /*number*/, std::string_view /*name*/) const {
    return false;
  }
  virtual void ReadStats(nrd_sequence_stats* /*stats_out*/) const {}
};

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_WORK_QUEUE_H_
