#include "core/schedule/timer.h"

#include <pthread.h>

#include <algorithm>

namespace nereid {

Timer::Timer() : thread_([this] { Run(); }) {}

Timer::~Timer() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

void Timer::Add(TimerTarget* target) {
  const MutexLock lock(mutex_);
  due_ns_.emplace(target, kNever);
}

void Timer::Remove(TimerTarget* target) {
  const MutexLock lock(mutex_);
  due_ns_.erase(target);
  while (running_ == target) {
    finished_.Wait(mutex_);
  }
}

void Timer::Arm(TimerTarget* target, int64_t time_ns) {
  const MutexLock lock(mutex_);
  const auto entry = due_ns_.find(target);
  if (entry == due_ns_.end() || entry->second <= time_ns) {
    return;
  }
  entry->second = time_ns;
  if (time_ns < sleeping_until_ns_) {
    wake_.NotifyOne();
  }
}

void Timer::Run() {
  pthread_setname_np(pthread_self(), "nrd-timer");
  const MutexLock lock(mutex_);
  while (!stopping_) {
    const auto first =
        std::min_element(due_ns_.begin(), due_ns_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const int64_t due_ns = first == due_ns_.end() ? kNever : first->second;
    const int64_t now_ns = MonotonicNowNs();
    if (due_ns > now_ns) {
      sleeping_until_ns_ = due_ns;
      wake_.WaitUntil(mutex_, due_ns);
      sleeping_until_ns_ = 0;
      continue;
    }
    TimerTarget* const target = first->first;
    first->second = kNever;
    running_ = target;
    int64_t next_ns = kNever;
    {
      const MutexUnlock unlock(mutex_);
      next_ns = target->OnTimer(now_ns);
    }
    running_ = nullptr;
    if (const auto entry = due_ns_.find(target); entry != due_ns_.end()) {
      entry->second = std::min(entry->second, next_ns);
    }
    finished_.NotifyAll();
  }
}

}  // namespace nereid
