// When to run which of the waiting requests together: a pure function of the queue and the time.
#ifndef NEREID_CORE_QUEUE_BATCH_DECISION_H_
#define NEREID_CORE_QUEUE_BATCH_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "core/config/batch_policy.h"
#include "nereid/nereid.h"

namespace nereid {

// One waiting request, as the policy sees it, in the order in which the queue would serve it.
struct WaitingRequest {
  int64_t rows;
  int64_t enqueue_ns;
  bool joins;  // can run in one batch with the first request
};

// `take` requests from the front run now, and `end`, an NRD_BATCH_*, is the reason for no more of
// them; if `take` is 0, nothing runs before `wake_ns` unless more requests come.
struct BatchDecision {
  uint32_t take = 0;
  uint32_t end = NRD_BATCH_SINGLE;
  int64_t wake_ns = kNever;
};

BatchDecision DecideBatch(const BatchPolicy& policy, std::span<const WaitingRequest> waiting,
                          int64_t now_ns);

// The policy for sequences that each keep a slot: all requests that fit run together, once enough
// slots have one or the oldest has waited long enough.
struct SlotPolicy {
  uint32_t slots = 1;
  double minimum_utilization = 0;  // share of filled slots that is enough
  uint64_t max_queue_delay_ns = 0;
};
BatchDecision DecideSlots(const SlotPolicy& policy, std::span<const WaitingRequest> waiting,
                          int64_t now_ns);

// The rows at which waiting longer cannot help; a submitter need not wake an instance before.
int64_t RowsWorthWaking(const BatchPolicy& policy, int64_t waiting_rows);

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_BATCH_DECISION_H_
