// The instances of a model that have nothing to do, and which of them is woken.
#ifndef NEREID_CORE_WAITING_INSTANCES_H_
#define NEREID_CORE_WAITING_INSTANCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "core/instance.h"

namespace nereid {

// An instance is either idle, so that a submitting thread may borrow it, or it is the one that is
// armed: it waits for more requests to join those in the queue, until a time. It can be neither,
// because it works, is borrowed, or was woken and is on its way.
//
// Not synchronised: the dispatcher's mutex guards it. Those that are chosen to be woken are marked,
// and the caller notifies them, better without the mutex: a thread that wakes up only to wait for
// it costs two switches.
class WaitingInstances {
 public:
  explicit WaitingInstances(size_t count);

  // Whether there is an idle one, and taking it. The one that became idle last is taken first: its
  // caches are warm.
  [[nodiscard]] bool has_idle() const { return !idle_.empty(); }
  Instance& Borrow() {
    Instance& instance = *idle_.back();
    idle_.pop_back();
    return instance;
  }
  void GiveBack(Instance& instance) { idle_.push_back(&instance); }

  // Marks one that has to look at the queue; null: none waits, or the one that does was marked.
  Instance* ChooseToWake();
  // The same after a request came into the queue, which has `rows` now. `rows_tell`: whether the
  // number of rows says all about when a batch is full.
  Instance* ChooseForNewRequest(bool rows_tell, int64_t rows);
  // The same when what the armed one waits for was computed from requests of which some are gone,
  // or will not come.
  Instance* ChooseForChange() { return armed_ == nullptr ? nullptr : ChooseToWake(); }
  // Wakes this one if it waits.
  void Wake(Instance& instance);

  [[nodiscard]] bool has_armed() const { return armed_ != nullptr; }

  // By the thread of the instance, with the dispatcher's mutex, which is released meanwhile. They
  // return when the instance was woken, at `until_ns`, or when all stop. An armed one is woken when
  // the queue has `rows_wanted` rows.
  void WaitIdle(Instance& instance, Mutex& mutex) NRD_REQUIRES(mutex);
  void WaitArmed(Instance& instance, int64_t rows_wanted, int64_t until_ns, Mutex& mutex)
      NRD_REQUIRES(mutex);

  // From here on nobody waits any more.
  void Stop() { stopping_ = true; }
  [[nodiscard]] bool stopping() const { return stopping_; }

 private:
  std::vector<Instance*> idle_;
  Instance* armed_ = nullptr;
  int64_t rows_wanted_ = 0;     // by `armed_`
  std::vector<bool> is_woken_;  // by index: it was chosen, and does not wait any more
  bool stopping_ = false;
};

}  // namespace nereid

#endif  // NEREID_CORE_WAITING_INSTANCES_H_
