#include "core/queue/batch_decision.h"

#include <algorithm>

namespace nereid {
namespace {

// The reason for a batch; `now_ns` is kNever when the model is unloaded.
uint32_t EndOf(bool full, bool unlike, uint64_t max_queue_delay_ns, int64_t now_ns) {
  if (unlike) {
    return NRD_BATCH_UNLIKE;
  }
  if (full) {
    return NRD_BATCH_FULL;
  }
  if (now_ns == kNever) {
    return NRD_BATCH_DRAIN;
  }
  return max_queue_delay_ns == 0 ? NRD_BATCH_IDLE : NRD_BATCH_DELAY;
}

}  // namespace

BatchDecision DecideBatch(const BatchPolicy& policy, std::span<const WaitingRequest> waiting,
                          int64_t now_ns) {
  if (waiting.empty()) {
    return {};
  }
  if (!policy.dynamic || policy.max_batch_size <= 1) {
    return {.take = 1, .wake_ns = now_ns};
  }

  const int64_t largest_preferred =
      policy.preferred_sizes.empty() ? policy.max_batch_size : policy.preferred_sizes.back();
  uint32_t count = 0;            // requests that fit into one batch
  uint32_t preferred_count = 0;  // the ones of these that make up the best preferred size
  int64_t rows = 0;
  int64_t oldest_ns = kNever;
  bool full = false;    // the next request cannot join, so waiting will not make the batch larger
  bool unlike = false;  // because of its shapes, or by the caller's batcher
  for (const WaitingRequest& request : waiting) {
    if (count > 0 && (!request.joins || rows + request.rows > policy.max_batch_size)) {
      full = true;
      unlike = !request.joins;
      break;
    }
    // If no preferred size is met exactly, staying below the largest is better than exceeding it.
    if (count > 0 && preferred_count == 0 && rows + request.rows > largest_preferred) {
      preferred_count = count;
    }
    rows += request.rows;
    ++count;
    oldest_ns = std::min(oldest_ns, request.enqueue_ns);
    if (std::binary_search(policy.preferred_sizes.begin(), policy.preferred_sizes.end(), rows)) {
      preferred_count = count;
    }
  }

  // The delay is a promise to the oldest request: once it is over, everything that fits goes, also
  // when a preferred size would take fewer. Without a delay there is no promise, and a preferred
  // size is taken if enough requests are there.
  const int64_t wake_ns = AddDelay(oldest_ns, policy.max_queue_delay_ns);
  const bool delay_over = now_ns >= wake_ns;
  if (preferred_count > 0 && (!delay_over || policy.max_queue_delay_ns == 0)) {
    return {.take = preferred_count, .end = NRD_BATCH_FULL, .wake_ns = now_ns};
  }
  if (delay_over || full || rows >= largest_preferred) {
    const uint32_t end =
        EndOf(full || rows >= largest_preferred, unlike, policy.max_queue_delay_ns, now_ns);
    return {.take = count, .end = end, .wake_ns = now_ns};
  }
  return {.take = 0, .wake_ns = wake_ns};
}

BatchDecision DecideSlots(const SlotPolicy& policy, std::span<const WaitingRequest> waiting,
                          int64_t now_ns) {
  if (waiting.empty()) {
    return {};
  }
  const auto filled = static_cast<double>(waiting.size());
  const int64_t wake_ns = AddDelay(waiting.front().enqueue_ns, policy.max_queue_delay_ns);
  if (filled >= policy.minimum_utilization * policy.slots || now_ns >= wake_ns) {
    const uint64_t waited_ns = now_ns >= wake_ns ? policy.max_queue_delay_ns : 0;
    const uint32_t end = EndOf(waiting.size() >= policy.slots, false, waited_ns, now_ns);
    return {.take = static_cast<uint32_t>(waiting.size()), .end = end, .wake_ns = now_ns};
  }
  return {.take = 0, .wake_ns = wake_ns};
}

int64_t RowsWorthWaking(const BatchPolicy& policy, int64_t waiting_rows) {
  const auto next =
      std::upper_bound(policy.preferred_sizes.begin(), policy.preferred_sizes.end(), waiting_rows);
  return next == policy.preferred_sizes.end() ? std::max<int64_t>(policy.max_batch_size, 1) : *next;
}

}  // namespace nereid
