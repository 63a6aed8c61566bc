// The queue of a model with an objective: who has to be answered first is in front.
#ifndef NEREID_CORE_OBJECTIVE_OBJECTIVE_QUEUE_H_
#define NEREID_CORE_OBJECTIVE_OBJECTIVE_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/objective/objective_control.h"
#include "core/queue/shared_queue.h"

namespace nereid {

// Any instance executes what is in front, as in every shared queue. The policy of the objective
// decides what runs when, and what cannot be answered in time.
class ObjectiveQueue final : public SharedQueue {
 public:
  // `config` outlives this, and has an objective.
  explicit ObjectiveQueue(const ModelConfig& config);

  [[nodiscard]] bool PassesBy(Request& request, int64_t now_ns) override;
  Status Push(Request& request, int64_t now_ns) override;
  BatchDecision Decide(uint32_t instance, int64_t now_ns) override;
  void TakeExpired(int64_t now_ns, RemovedRequests* removed) override;
  WaitingInstance* ChooseForNew(WaitingInstances& waiting) override {
    return waiting.ChooseForNewRequest(rows_tell_ && !newest_is_first_, queue_.rows());
  }
  void BeginToWait(WaitingInstance& instance, int64_t wake_ns, WaitingInstances& waiting) override;

  // Requests that Decide found no time for, to be answered.
  void TakeRefused(RemovedRequests* removed);

  // A request that was let pass by is executed by the instance from now on.
  void BeganAtOnce(uint32_t instance, const Request& request, int64_t now_ns) {
    control_.Arrived(request.rows, request.submit_ns);
    control_.Began(instance, request.rows, request.row_elements, now_ns);
  }
  // The batch is executed by the instance from now on, and no more; it is answered next.
  void Began(uint32_t instance, const std::vector<Request*>& batch, int64_t now_ns);
  void Executed(uint32_t instance, const std::vector<Request*>& batch, int64_t now_ns);
  // A request that is answered before the others of its batch.
  void ExecutedEarly(const Request& request, int64_t now_ns) {
    const std::array<const Request*, 1> one{&request};
    Count(one, now_ns);
  }

  // The answer to a request has left, so long after the request came.
  void Sent(const Request& request, uint64_t took_ns);

  // When the batch that Decide found has to begin at the latest, so as not to be refused.
  [[nodiscard]] int64_t latest_ns() const { return latest_ns_; }

  void ReadObjective(int64_t now_ns, nrd_objective_stats* stats_out);
  uint32_t ReadCostCurve(nrd_cost_point* points_out, uint32_t capacity) const {
    return control_.ReadCurve(points_out, capacity);
  }

 private:
  void Count(std::span<const Request* const> requests, int64_t now_ns);
  void Prepare(Request& request) const;
  void Refuse(Request& request, int64_t now_ns);
  void CountRefused(const Request& request, uint64_t* reason);
  void See();
  [[nodiscard]] uint32_t EndOf(std::span<const DueRequest> waiting, size_t count) const;

  const ObjectiveConfig& objective_;
  const bool sized_;  // rows differ in size
  const size_t look_;
  ObjectiveControl control_;
  std::vector<DueRequest> seen_due_;  // reserved once
  RequestList refused_;
  bool newest_is_first_ = false;
  int64_t latest_ns_ = kNever;
  nrd_objective_stats counts_{};
};

// Tells a request why it was refused while it waited: what it was to make, and what is predicted.
void SetRefused(const ObjectiveConfig& objective, Request& request, int64_t now_ns);

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_OBJECTIVE_QUEUE_H_
