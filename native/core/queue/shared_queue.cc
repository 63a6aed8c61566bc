#include "core/queue/shared_queue.h"

#include "core/request/request_check.h"

namespace nereid {

SharedQueue::SharedQueue(const ModelConfig& config)
    : config_(config),
      rows_tell_(config.uniform && config.queue_policies.size() == 1 && !config.batcher),
      queue_(config.queue_policies, config.default_level, config.objective.has_value()) {
  seen_.reserve(config.max_batch_requests());
  if (config.batcher) {
    chosen_.reserve(config.max_batch_requests());
  }
}

bool SharedQueue::Joins(const Request& first, const Request& request) {
  if (&request != &first) {
    if (!config_.uniform && !SameShapes(config_, first, request)) {
      return false;
    }
    if (config_.batcher &&
        config_.batcher->includes(config_.batcher->context, chosen_.data(),
                                  static_cast<uint32_t>(chosen_.size()), &request.record) == 0) {
      return false;
    }
  }
  if (config_.batcher) {
    if (&request == &first) {
      chosen_.clear();
    }
    chosen_.push_back(&request.record);
  }
  return true;
}

// Looks only at the requests of one batch, and at one more to see that it ends there.
BatchDecision SharedQueue::Decide(uint32_t /*instance*/, int64_t now_ns) {
  seen_.clear();
  const Request* const first = queue_.First();
  int64_t rows = 0;
  for (const Request* request = first;
       request != nullptr && seen_.size() < config_.max_batch_requests();
       request = queue_.After(request)) {
    const bool joins = Joins(*first, *request);
    seen_.push_back({.rows = request->rows, .enqueue_ns = request->enqueue_ns, .joins = joins});
    rows += request->rows;
    if (!joins || rows > config_.max_batch_size) {
      break;
    }
  }
  return DecideBatch(config_.batch_policy, seen_, now_ns);
}

void SharedQueue::Take(size_t count, std::vector<Request*>* batch) {
  for (size_t i = 0; i < count; ++i) {
    Request* const request = queue_.First();
    queue_.Remove(request);
    batch->push_back(request);
  }
}

void SharedQueue::Remove(Request& request, RemovedRequests* removed, int64_t /*now_ns*/) {
  queue_.Remove(&request);
  removed->culprits.Append(&request);
}

RequestList SharedQueue::TakeAll() {
  RequestList all;
  while (Request* const request = queue_.First()) {
    queue_.Remove(request);
    all.Append(request);
  }
  return all;
}

// The armed instance must wait anew: requests behind its wait are gone, or will not come.
WaitingInstance* SharedQueue::ChooseForChange(WaitingInstances& waiting) {
  return waiting.has_armed() || !queue_.empty() ? waiting.ChooseToWake() : nullptr;
}

// One of the instances that share a queue waits for a fuller batch, and the others stay idle.
void SharedQueue::BeginToWait(WaitingInstance& instance, int64_t wake_ns,
                              WaitingInstances& waiting) {
  if (queue_.empty() || waiting.has_armed()) {
    waiting.BecomeIdle(instance);
  } else {
    waiting.BecomeArmedForQueue(instance, RowsWorthWaking(config_.batch_policy, queue_.rows()),
                                wake_ns);
  }
}

}  // namespace nereid
