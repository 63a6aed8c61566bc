#include "triton/courier.h"

#include <pthread.h>

#include <thread>
#include <utility>

namespace nereid::triton {

Courier& Courier::Instance() {
  static Courier* const courier = new Courier;
  return *courier;
}

void Courier::Post(std::function<void()> job) {
  MutexLock lock(mutex_);
  if (!started_) {
    std::thread thread([this] { Run(); });
    pthread_setname_np(thread.native_handle(), "nrd-courier");
    thread.detach();
    started_ = true;
  }
  jobs_.push_back(std::move(job));
  arrived_.NotifyOne();
}

void Courier::Run() {
  MutexLock lock(mutex_);
  for (;;) {
    while (jobs_.empty()) {
      arrived_.Wait(mutex_);
    }
    // The job releases what it holds at its end, while this thread does not hold the lock.
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    MutexUnlock unlock(mutex_);
    job();
    job = nullptr;
  }
}

}  // namespace nereid::triton
