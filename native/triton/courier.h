// Does small jobs on its own thread, in order. Such jobs must not run on a plug-in's thread, which
// may hold locks that its callbacks need.
#ifndef NEREID_TRITON_COURIER_H_
#define NEREID_TRITON_COURIER_H_

#include <deque>
#include <functional>

#include "base/mutex.h"

namespace nereid::triton {

class Courier {
 public:
  // The process's only courier. Its thread starts with the first job and never ends, like the
  // library itself.
  static Courier& Instance();

  void Post(std::function<void()> job);

 private:
  Courier() = default;

  void Run();

  Mutex mutex_;
  Condition arrived_;
  bool started_ NRD_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> jobs_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_COURIER_H_
