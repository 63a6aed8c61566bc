// The thread that answers requests whose time in a queue is up, whatever the instances are doing.
#ifndef NEREID_CORE_SCHEDULE_TIMER_H_
#define NEREID_CORE_SCHEDULE_TIMER_H_

#include <cstdint>
#include <map>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class TimerTarget {
 public:
  virtual ~TimerTarget() = default;
  // The timer's thread calls it. Returns the time of the next call; kNever: not until armed again.
  virtual int64_t OnTimer(int64_t now_ns) = 0;
};

// Calls targets at given times. Any thread may call its functions.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual void Add(TimerTarget* target) = 0;
  // Returns when no call of the target is running and none will come.
  virtual void Remove(TimerTarget* target) = 0;
  // Calls the target at `time_ns` or before. May be called under a lock that OnTimer takes.
  virtual void Arm(TimerTarget* target, int64_t time_ns) = 0;
};

// The timer of a runtime. It owns the thread "nrd-timer", which calls the targets one after another
// and without a lock; the functions here may be called by any thread.
class Timer final : public Alarm {
 public:
  Timer();
  ~Timer() override;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Add(TimerTarget* target) override;
  void Remove(TimerTarget* target) override;
  void Arm(TimerTarget* target, int64_t time_ns) override;

 private:
  void Run();

  Mutex mutex_;
  Condition wake_;      // the thread waits here
  Condition finished_;  // Remove waits here
  std::map<TimerTarget*, int64_t> due_ns_ NRD_GUARDED_BY(mutex_);
  int64_t sleeping_until_ns_ NRD_GUARDED_BY(mutex_) = 0;  // 0: awake
  TimerTarget* running_ NRD_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ NRD_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_TIMER_H_
