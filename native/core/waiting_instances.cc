#include "core/waiting_instances.h"

namespace nereid {

WaitingInstances::WaitingInstances(size_t count) : is_woken_(count) { idle_.reserve(count); }

Instance* WaitingInstances::ChooseToWake() {
  Instance* instance = armed_;
  if (instance == nullptr && !idle_.empty()) {
    instance = &Borrow();
  }
  if (instance == nullptr || is_woken_[instance->index()]) {
    return nullptr;
  }
  is_woken_[instance->index()] = true;
  return instance;
}

// While an instance waits for a fuller batch, a request that does not fill it changes nothing.
Instance* WaitingInstances::ChooseForNewRequest(bool rows_tell, int64_t rows) {
  return armed_ == nullptr || !rows_tell || rows >= rows_wanted_ ? ChooseToWake() : nullptr;
}

void WaitingInstances::Wake(Instance& instance) {
  if (std::erase(idle_, &instance) > 0 || armed_ == &instance) {
    is_woken_[instance.index()] = true;
    instance.wake.NotifyOne();
  }
}

void WaitingInstances::WaitIdle(Instance& instance, Mutex& mutex) {
  idle_.push_back(&instance);
  while (!is_woken_[instance.index()] && !stopping_) {
    instance.wake.Wait(mutex);
  }
  is_woken_[instance.index()] = false;
}

void WaitingInstances::WaitArmed(Instance& instance, int64_t rows_wanted, int64_t until_ns,
                                 Mutex& mutex) {
  armed_ = &instance;
  rows_wanted_ = rows_wanted;
  bool in_time = true;
  while (in_time && !is_woken_[instance.index()] && !stopping_) {
    in_time = instance.wake.WaitUntil(mutex, until_ns);
  }
  armed_ = nullptr;
  is_woken_[instance.index()] = false;
}

}  // namespace nereid
