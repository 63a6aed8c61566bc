// Does small jobs on a thread of its own, in order: what must not be done on the thread of a
// plug-in, which may hold locks that its own callbacks want.
#ifndef NEREID_TRITON_COURIER_H_
#define NEREID_TRITON_COURIER_H_

#include <deque>
#include <functional>

#include "base/mutex.h"

namespace nereid::triton {

class Courier {
 public:
  // The one of the process. Its thread starts with the first job and is never ended, like the
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
