// Tells whether a model is warming up, and the instance and request whose turn it is.
#ifndef NEREID_CORE_SCHEDULE_WARM_UP_TURN_H_
#define NEREID_CORE_SCHEDULE_WARM_UP_TURN_H_

#include "base/mutex.h"
#include "core/request/request.h"
#include "core/schedule/instance.h"

namespace nereid {

// The turn of an instance to warm up. Guarded by the dispatcher's mutex. Between Begin and End
// nothing but the warm-up is executed.
class WarmUpTurn {
 public:
  void Begin() { under_way_ = true; }
  void End() { under_way_ = false; }
  [[nodiscard]] bool is_under_way() const { return under_way_; }

  // Gives the turn to the instance, and waits until it is over.
  void Give(const Instance& instance, Request& request) {
    instance_ = &instance;
    request_ = &request;
  }
  [[nodiscard]] bool is_given() const { return instance_ != nullptr; }
  void Await(Mutex& mutex) NRD_REQUIRES(mutex) {
    while (is_given()) {
      done_.Wait(mutex);
    }
  }

  // The warm-up request for the instance's thread; null: it is not its turn. Done ends the turn.
  [[nodiscard]] Request* RequestFor(const Instance& instance) const {
    return instance_ == &instance ? request_ : nullptr;
  }
  void Done() {
    instance_ = nullptr;
    done_.NotifyOne();
  }

 private:
  bool under_way_ = false;
  const Instance* instance_ = nullptr;  // the instance whose turn it is; null: none
  Request* request_ = nullptr;
  Condition done_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_WARM_UP_TURN_H_
