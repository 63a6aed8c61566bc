#include "completion.h"

namespace nereid {

void Completion::Deliver(std::span<Request* const> requests, std::vector<uint64_t>& tags) {
  if (requests.empty()) {
    return;
  }
  tags.clear();
  if (callback_ == nullptr) {
    const std::lock_guard lock(mutex_);
    for (Request* request : requests) {
      request->state.store(RequestState::kDone, std::memory_order_release);
    }
    done_.notify_all();
    return;
  }
  for (Request* request : requests) {
    tags.push_back(request->record.tag);
    request->state.store(RequestState::kDone, std::memory_order_release);
  }
  callback_(context_, tags.data(), static_cast<uint32_t>(tags.size()));
}

bool Completion::Wait(const Request& request, int64_t deadline_ns) {
  const auto done = [&request] {
    return request.state.load(std::memory_order_acquire) == RequestState::kDone;
  };
  std::unique_lock lock(mutex_);
  if (deadline_ns == kNever) {
    done_.wait(lock, done);
    return true;
  }
  return done_.wait_until(lock, AsTimePoint(deadline_ns), done);
}

}  // namespace nereid
