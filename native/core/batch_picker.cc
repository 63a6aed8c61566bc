#include "core/batch_picker.h"

#include "core/request_check.h"

namespace nereid {

BatchPicker::BatchPicker(const ModelConfig& config) : config_(config) {
  seen_.reserve(config.max_batch_requests());
}

// Looks only as far as one batch can reach, and one further to see that it ends there.
BatchDecision BatchPicker::Pick(const RequestQueue& queue, int64_t now_ns) {
  seen_.clear();
  const Request* const first = queue.First();
  int64_t rows = 0;
  for (const Request* request = first;
       request != nullptr && seen_.size() < config_.max_batch_requests();
       request = queue.After(request)) {
    const bool joins = config_.uniform || request == first || SameShapes(config_, *first, *request);
    seen_.push_back({.rows = request->rows, .enqueue_ns = request->enqueue_ns, .joins = joins});
    rows += request->rows;
    if (!joins || rows > config_.max_batch_size) {
      break;
    }
  }
  return DecideBatch(config_.batch_policy, seen_, now_ns);
}

}  // namespace nereid
