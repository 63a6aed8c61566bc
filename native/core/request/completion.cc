#include "core/request/completion.h"

#include <utility>

namespace nereid {
namespace {

constexpr uint32_t kTagsPerCall = 256;  // 2 KiB of stack

thread_local bool in_callback = false;

}  // namespace

bool Completion::InCallback() { return in_callback; }

size_t Completion::Deliver(RequestList requests) {
  size_t count = 0;
  RequestList own;
  RequestList continued;
  while (Request* const request = requests.TakeFirst()) {
    ++count;
    (request->continuation == nullptr ? own : continued).Append(request);
  }
  if (!own.empty()) {
    CallBack(own);
  }
  const bool nested = std::exchange(in_callback, true);
  while (Request* const request = continued.TakeFirst()) {
    request->state.store(RequestState::kDone, std::memory_order_release);
    request->continuation(*request);
  }
  in_callback = nested;
  return count;
}

void Completion::CallBack(RequestList requests) {
  if (callback_ == nullptr) {
    const MutexLock lock(mutex_);
    while (Request* const request = requests.TakeFirst()) {
      request->state.store(RequestState::kDone, std::memory_order_release);
    }
    done_.NotifyAll();
    return;
  }
  uint64_t tags[kTagsPerCall];
  while (!requests.empty()) {
    uint32_t size = 0;
    while (size < kTagsPerCall && !requests.empty()) {
      Request* const request = requests.TakeFirst();
      tags[size++] = request->record.tag;
      request->state.store(RequestState::kDone, std::memory_order_release);
    }
    // Nested when a callback cancels another request.
    const bool nested = std::exchange(in_callback, true);
    callback_(context_, tags, size);
    in_callback = nested;
  }
}

bool Completion::Wait(const Request& request, int64_t deadline_ns) {
  const auto done = [&request] {
    return request.state.load(std::memory_order_acquire) == RequestState::kDone;
  };
  const MutexLock lock(mutex_);
  bool in_time = true;
  while (!done() && in_time) {
    in_time = done_.WaitUntil(mutex_, deadline_ns);
  }
  return done();
}

}  // namespace nereid
