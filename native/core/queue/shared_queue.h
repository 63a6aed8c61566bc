// The queue of a model without sequences: any of its instances executes the front.
#ifndef NEREID_CORE_QUEUE_SHARED_QUEUE_H_
#define NEREID_CORE_QUEUE_SHARED_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/queue/batch_decision.h"
#include "core/queue/request_queue.h"
#include "core/queue/work_queue.h"

namespace nereid {

class SharedQueue : public WorkQueue {
 public:
  // `config` outlives this.
  explicit SharedQueue(const ModelConfig& config);

  [[nodiscard]] size_t size() const override { return queue_.size(); }

  [[nodiscard]] bool PassesBy(Request& request, int64_t now_ns) override {
    const WaitingRequest alone{.rows = request.rows, .enqueue_ns = now_ns, .joins = true};
    return queue_.empty() && DecideBatch(config_.batch_policy, {&alone, 1}, now_ns).take == 1;
  }
  Status Push(Request& request, int64_t now_ns) override { return queue_.Push(&request, now_ns); }
  [[nodiscard]] WaitingInstance* HomeOf(const Request& /*request*/,
                                        const WaitingInstances& /*waiting*/) const override {
    return nullptr;
  }

  BatchDecision Decide(uint32_t instance, int64_t now_ns) override;
  void Take(size_t count, std::vector<Request*>* batch) override;
  RequestList Finish(std::vector<Request*>* /*batch*/, int64_t /*now_ns*/) override { return {}; }

  void Remove(Request& request, RemovedRequests* removed, int64_t now_ns) override;
  void TakeExpired(int64_t now_ns, RemovedRequests* removed) override {
    queue_.TakeExpired(now_ns, &removed->culprits);
  }
  [[nodiscard]] int64_t NextEventNs() const override { return queue_.next_expiry_ns(); }
  RequestList TakeAll() override;

  WaitingInstance* ChooseForNew(WaitingInstances& waiting) override {
    return waiting.ChooseForNewRequest(rows_tell_, queue_.rows());
  }
  WaitingInstance* ChooseForRest(const WaitingInstance& /*instance*/,
                                 WaitingInstances& waiting) override {
    return queue_.empty() ? nullptr : waiting.ChooseToWake();
  }
  WaitingInstance* ChooseForChange(WaitingInstances& waiting) override;
  void BeginToWait(WaitingInstance& instance, int64_t wake_ns, WaitingInstances& waiting) override;

 protected:
  // True if the request can be in one batch with the first and those that were chosen since; call
  // it with the first itself to begin with.
  [[nodiscard]] bool Joins(const Request& first, const Request& request);

  const ModelConfig& config_;
  // True if the number of rows in the queue alone decides when a batch is full: not if shapes
  // differ, if requests can come in between, or if there is a batcher.
  const bool rows_tell_;
  RequestQueue queue_;

 private:
  std::vector<const nrd_request*> chosen_;  // shown to a batcher; empty without one
  std::vector<WaitingRequest> seen_;        // reserved once, so that looking allocates nothing
};

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_SHARED_QUEUE_H_
