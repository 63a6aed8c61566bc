#include "core/queue/waiting_instances.h"

#include <algorithm>

namespace nereid {

WaitingInstances::WaitingInstances(size_t count) : seats_(count) {
  all_.reserve(count);
  idle_.reserve(count);
}

bool WaitingInstances::IsIdle(const WaitingInstance& instance) const {
  return std::find(idle_.begin(), idle_.end(), &instance) != idle_.end();
}

WaitingInstance* WaitingInstances::ChooseToWake() {
  WaitingInstance* instance = armed_;
  if (instance == nullptr && !idle_.empty()) {
    instance = &Borrow();
  }
  if (instance == nullptr || SeatOf(*instance).is_woken) {
    return nullptr;
  }
  SeatOf(*instance).is_woken = true;
  return instance;
}

// If an instance waits for a fuller batch, a request that does not fill it wakes none.
WaitingInstance* WaitingInstances::ChooseForNewRequest(bool rows_tell, int64_t rows) {
  return armed_ == nullptr || !rows_tell || rows >= rows_wanted_ ? ChooseToWake() : nullptr;
}

WaitingInstance* WaitingInstances::Choose(WaitingInstance& instance) {
  Seat& seat = SeatOf(instance);
  if (std::erase(idle_, &instance) == 0 && (!seat.is_armed || seat.is_woken)) {
    return nullptr;
  }
  seat.is_woken = true;
  return &instance;
}

void WaitingInstances::Wake(WaitingInstance& instance) {
  if (Choose(instance) != nullptr) {
    instance.wake.NotifyOne();
  }
}

void WaitingInstances::BecomeIdle(WaitingInstance& instance) { idle_.push_back(&instance); }

void WaitingInstances::BecomeArmed(WaitingInstance& instance, int64_t until_ns) {
  Seat& seat = SeatOf(instance);
  seat.is_armed = true;
  seat.until_ns = until_ns;
}

void WaitingInstances::BecomeArmedForQueue(WaitingInstance& instance, int64_t rows_wanted,
                                           int64_t until_ns) {
  BecomeArmed(instance, until_ns);
  armed_ = &instance;
  rows_wanted_ = rows_wanted;
}

void WaitingInstances::Await(WaitingInstance& instance, Mutex& mutex) {
  const Seat& seat = SeatOf(instance);
  bool in_time = true;
  while (in_time && !seat.is_woken && !stopping_) {
    in_time = instance.wake.WaitUntil(mutex, seat.until_ns);
  }
  Leave(instance);
}

void WaitingInstances::Leave(WaitingInstance& instance) {
  std::erase(idle_, &instance);
  if (armed_ == &instance) {
    armed_ = nullptr;
  }
  SeatOf(instance) = Seat();
}

bool WaitingInstances::IsWoken(const WaitingInstance& instance) const {
  return seats_[instance.index()].is_woken;
}

int64_t WaitingInstances::WaitsUntilNs(const WaitingInstance& instance) const {
  return seats_[instance.index()].until_ns;
}

}  // namespace nereid
