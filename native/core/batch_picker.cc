#include "core/batch_picker.h"

#include "core/request_check.h"

namespace nereid {

BatchPicker::BatchPicker(const ModelConfig& config) : config_(config) {
  seen_.reserve(config.max_batch_requests());
  if (config.batcher) {
    chosen_.reserve(config.max_batch_requests());
  }
}

// Whether the request can be in one batch with the first and those that were chosen since.
bool BatchPicker::Joins(const Request& first, const Request& request) {
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
    chosen_.push_back(&request.record);
  }
  return true;
}

// Looks only as far as one batch can reach, and one further to see that it ends there.
BatchDecision BatchPicker::Pick(const RequestQueue& queue, int64_t now_ns) {
  seen_.clear();
  chosen_.clear();
  const Request* const first = queue.First();
  int64_t rows = 0;
  for (const Request* request = first;
       request != nullptr && seen_.size() < config_.max_batch_requests();
       request = queue.After(request)) {
    const bool joins = Joins(*first, *request);
    seen_.push_back({.rows = request->rows, .enqueue_ns = request->enqueue_ns, .joins = joins});
    rows += request->rows;
    if (!joins || rows > config_.max_batch_size) {
      break;
    }
  }
  return DecideBatch(config_.batch_policy, seen_, now_ns);
}

}  // namespace nereid
