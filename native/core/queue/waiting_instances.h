// The idle instances of a model, and the choice of the one to wake.
#ifndef NEREID_CORE_QUEUE_WAITING_INSTANCES_H_
#define NEREID_CORE_QUEUE_WAITING_INSTANCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mutex.h"

namespace nereid {

// An instance as the queues know it: its number, and the condition that its thread waits on.
class WaitingInstance {
 public:
  explicit WaitingInstance(uint32_t index) : index_(index) {}
  WaitingInstance(const WaitingInstance&) = delete;
  WaitingInstance& operator=(const WaitingInstance&) = delete;

  [[nodiscard]] uint32_t index() const { return index_; }

  Condition wake;  // on the dispatcher's mutex

 private:
  const uint32_t index_;
};

// An instance is either idle, so that a submitting thread may borrow it, or it is armed: it waits
// for more requests to join those that it has found, until a time. It is neither while it works, is
// borrowed, or was woken and has not run yet. If all instances share a queue, one at most is armed
// for it; if each has its own, any number are.
//
// Not synchronised: the dispatcher's mutex guards it. Instances that are chosen to be woken are
// marked, and the caller notifies them, better without the mutex: a thread that wakes up only to
// wait for it costs two switches.
class WaitingInstances {
 public:
  explicit WaitingInstances(size_t count);

  // Adds all instances, in the order of their index, before any other call.
  void Attach(WaitingInstance& instance) { all_.push_back(&instance); }
  [[nodiscard]] WaitingInstance& At(uint32_t index) const { return *all_[index]; }

  // True if an instance is idle; Borrow takes the last that became idle: its caches are warm.
  [[nodiscard]] bool has_idle() const { return !idle_.empty(); }
  WaitingInstance& Borrow() {
    WaitingInstance& instance = *idle_.back();
    idle_.pop_back();
    return instance;
  }
  [[nodiscard]] bool IsIdle(const WaitingInstance& instance) const;
  void Borrow(WaitingInstance& instance) { std::erase(idle_, &instance); }
  void GiveBack(WaitingInstance& instance) { idle_.push_back(&instance); }

  // Marks an instance that has to look at the queue; null: none waits unmarked.
  WaitingInstance* ChooseToWake();
  // The same after a request came into the queue, which has `rows` now. `rows_tell`: whether the
  // number of rows alone decides when a batch is full.
  WaitingInstance* ChooseForNewRequest(bool rows_tell, int64_t rows);
  // Marks this instance; null: it does not wait, or is marked already.
  WaitingInstance* Choose(WaitingInstance& instance);
  // Marks and notifies the instance if it waits.
  void Wake(WaitingInstance& instance);

  [[nodiscard]] bool has_armed() const { return armed_ != nullptr; }

  // An instance that has found nothing to do becomes idle or armed. One that is armed for the
  // shared queue is woken when that has `rows_wanted` rows.
  void BecomeIdle(WaitingInstance& instance);
  void BecomeArmed(WaitingInstance& instance, int64_t until_ns);
  void BecomeArmedForQueue(WaitingInstance& instance, int64_t rows_wanted, int64_t until_ns);

  // Called by the instance's thread with the dispatcher's mutex, which is released meanwhile.
  // Returns when the instance was woken, when its time has come, or when all stop.
  void Await(WaitingInstance& instance, Mutex& mutex) NRD_REQUIRES(mutex);
  // Ends the instance's wait, if it waits.
  void Leave(WaitingInstance& instance);

  // True if a waiting instance was marked; and the time until which it waits at most.
  [[nodiscard]] bool IsWoken(const WaitingInstance& instance) const;
  [[nodiscard]] int64_t WaitsUntilNs(const WaitingInstance& instance) const;

  // Ends all waits, present and future.
  void Stop() { stopping_ = true; }
  [[nodiscard]] bool stopping() const { return stopping_; }

 private:
  struct Seat {
    bool is_armed = false;
    bool is_woken = false;  // the instance was chosen, and is not available any more
    int64_t until_ns = kNever;
  };

  Seat& SeatOf(const WaitingInstance& instance) { return seats_[instance.index()]; }

  std::vector<WaitingInstance*> all_;  // by index
  std::vector<WaitingInstance*> idle_;
  WaitingInstance* armed_ = nullptr;  // the instance armed for the shared queue
  int64_t rows_wanted_ = 0;           // by `armed_`
  std::vector<Seat> seats_;           // by index
  bool stopping_ = false;
};

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_WAITING_INSTANCES_H_
