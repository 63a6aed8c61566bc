// Asks the batch policy about the requests of a queue.
#ifndef NEREID_CORE_BATCH_PICKER_H_
#define NEREID_CORE_BATCH_PICKER_H_

#include <cstdint>
#include <vector>

#include "core/batch_policy.h"
#include "core/model_config.h"
#include "core/request.h"
#include "core/request_queue.h"

namespace nereid {

// Stands between the queue, which knows requests, and the policy, which knows rows and times. Not
// synchronised: the dispatcher's mutex guards it, as it does the queue.
class BatchPicker {
 public:
  // `config` outlives this.
  explicit BatchPicker(const ModelConfig& config);

  // How many requests from the front of the queue run together now, or when to look again.
  BatchDecision Pick(const RequestQueue& queue, int64_t now_ns);

  // Whether the policy would run the request now if it were the only one.
  [[nodiscard]] bool RunsAlone(const Request& request, int64_t now_ns) const {
    const WaitingRequest alone{.rows = request.rows, .enqueue_ns = now_ns, .joins = true};
    return DecideBatch(config_.batch_policy, {&alone, 1}, now_ns).take == 1;
  }

 private:
  [[nodiscard]] bool Joins(const Request& first, const Request& request);

  const ModelConfig& config_;
  std::vector<const nrd_request*> chosen_;  // what a batcher is shown; empty without one
  std::vector<WaitingRequest> seen_;        // reserved once, so that looking allocates nothing
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_PICKER_H_
