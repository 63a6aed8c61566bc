// The standard library's mutex and condition variable, in a form that clang's thread-safety
// analysis understands. Everything is inline and costs what the standard's own costs.
#ifndef NEREID_BASE_MUTEX_H_
#define NEREID_BASE_MUTEX_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/clock.h"
#include "base/thread_annotations.h"

namespace nereid {

class NRD_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() NRD_ACQUIRE() { mutex_.lock(); }
  void Unlock() NRD_RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;

  std::mutex mutex_;
};

// Holds a mutex as long as it lives.
class NRD_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) NRD_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() NRD_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Unlocks a mutex that the caller holds, as long as this object lives: around code that must not
// run with the mutex held.
class NRD_SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) NRD_RELEASE(mutex) : mutex_(mutex) { mutex_.Unlock(); }
  // Locks again; to the analysis this is a release, since it ends what the constructor did.
  ~MutexUnlock() NRD_RELEASE() { mutex_.Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable. Waits may end without a notification: callers check in a loop.
class Condition {
 public:
  void Wait(Mutex& mutex) NRD_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // Waits until a time; kNever: without end. False: the time has come.
  bool WaitUntil(Mutex& mutex, int64_t time_ns) NRD_REQUIRES(mutex) {
    if (time_ns == kNever) {
      Wait(mutex);
      return true;
    }
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_until(lock, AsTimePoint(time_ns));
    lock.release();
    return status == std::cv_status::no_timeout;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace nereid

#endif  // NEREID_BASE_MUTEX_H_
