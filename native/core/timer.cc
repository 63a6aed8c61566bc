#include "core/timer.h"

#include <pthread.h>

#include <algorithm>

namespace nereid {

Timer::Timer() : thread_([this] { Run(); }) {}

Timer::~Timer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Timer::Add(TimerTarget* target) {
  const std::lock_guard lock(mutex_);
  due_ns_.emplace(target, kNever);
}

void Timer::Remove(TimerTarget* target) {
  std::unique_lock lock(mutex_);
  due_ns_.erase(target);
  finished_.wait(lock, [&] { return running_ != target; });
}

void Timer::Arm(TimerTarget* target, int64_t time_ns) {
  const std::lock_guard lock(mutex_);
  const auto entry = due_ns_.find(target);
  if (entry == due_ns_.end() || entry->second <= time_ns) {
    return;
  }
  entry->second = time_ns;
  if (time_ns < sleeping_until_ns_) {
    wake_.notify_one();
  }
}

void Timer::Run() {
  pthread_setname_np(pthread_self(), "nrd-timer");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto first =
        std::min_element(due_ns_.begin(), due_ns_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const int64_t due_ns = first == due_ns_.end() ? kNever : first->second;
    const int64_t now_ns = MonotonicNowNs();
    if (due_ns > now_ns) {
      sleeping_until_ns_ = due_ns;
      if (due_ns == kNever) {
        wake_.wait(lock);
      } else {
        wake_.wait_until(lock, AsTimePoint(due_ns));
      }
      sleeping_until_ns_ = 0;
      continue;
    }
    TimerTarget* const target = first->first;
    first->second = kNever;
    running_ = target;
    lock.unlock();
    const int64_t next_ns = target->OnTimer(now_ns);
    lock.lock();
    running_ = nullptr;
    if (const auto entry = due_ns_.find(target); entry != due_ns_.end()) {
      entry->second = std::min(entry->second, next_ns);
    }
    finished_.notify_all();
  }
}

}  // namespace nereid
