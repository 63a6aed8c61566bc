// The queue of a model with an objective: the request that is due first is in front.
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

// Any instance executes the front, as in every shared queue. The objective's policy decides which
// requests run when, and which are refused because they cannot be answered in time.
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

  // Takes out the requests that Decide refused, so that they are answered.
  void TakeRefused(RemovedRequests* removed);

  // Notes that the instance begins to execute a request that passed the queue by.
  void BeganAtOnce(uint32_t instance, const Request& request, int64_t now_ns) {
    control_.Arrived(request.rows, request.submit_ns);
    control_.Began(instance, request.rows, request.row_elements, now_ns);
  }
  // Note the begin and the end of the batch's execution by the instance; the answers come next.
  void Began(uint32_t instance, const std::vector<Request*>& batch, int64_t now_ns);
  void Executed(uint32_t instance, const std::vector<Request*>& batch, int64_t now_ns);
  // Notes that a request is answered before the others of its batch.
  void ExecutedEarly(uint32_t instance, const Request& request, int64_t now_ns) {
    const std::array<const Request*, 1> one{&request};
    Count(one, now_ns);
    succeeded_early_[instance] = succeeded_early_[instance] || request.record.status == NRD_OK;
  }

  // Notes that a request's answer has left, `took_ns` after the request came.
  void Sent(const Request& request, uint64_t took_ns);

  // The latest begin of the batch that Decide chose; after it the batch would be refused.
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
  std::vector<bool> succeeded_early_;  // for each instance, since a batch of it ended
};

// Tells a request why it was refused while it waited: its due time and the prediction.
void SetRefused(const ObjectiveConfig& objective, Request& request, int64_t now_ns);

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_OBJECTIVE_QUEUE_H_
