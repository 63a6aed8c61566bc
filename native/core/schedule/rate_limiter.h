// Decides whose turn it is to execute where executions share resources.
#ifndef NEREID_CORE_SCHEDULE_RATE_LIMITER_H_
#define NEREID_CORE_SCHEDULE_RATE_LIMITER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "core/config/resource_count.h"
#include "nereid/nereid.h"

namespace nereid {

// Neither synchronised nor aware of threads or clocks: see ExecutionLimits for that.
//
// A holder executes only while it holds all that it needs; it never has a part of it, so nobody
// waits for one who waits. Holders that wait are served by their turns: an execution of one with
// priority N puts its next turn off by N, so that of two that wait all the time, the one with
// priority 2 executes half as often as the one with priority 1. A holder that did not wait for a
// while gains nothing from that: its turn is never before that of the last execution. A holder that
// cannot be served yet keeps its claim: later turns get what is free beyond it, so nobody starves.
//
// Holders that have to begin by some time come before the others, the earliest first. Those with
// NRD_PRIORITY_LAST or _IDLE come after all others, and move no turn.
class RateLimiter {
 public:
  enum class State {
    kIdle,
    kWaits,
    kGranted,   // waited, and holds what it needs
    kExecutes,  // holds it and knows it
  };

  struct Resource {
    std::string name;
    int32_t device = ResourceCount::kNoDevice;
    uint32_t wanted = 0;   // by the holder that needs most; 0: nobody needs it now
    uint32_t total = 0;    // `wanted`, or what Limit said
    uint64_t held = 0;     // above `total` for a while, when that has fallen
    uint32_t waiting = 0;  // holders that wait and need it
    uint64_t claimed = 0;  // scratch: by those whose turn comes before

    [[nodiscard]] uint32_t free() const {
      return held < total ? static_cast<uint32_t>(total - held) : 0;
    }
  };

  class Holder {
   public:
    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] uint64_t waits() const { return waits_; }

   private:
    friend class RateLimiter;
    [[nodiscard]] bool is_last() const { return priority_ >= NRD_PRIORITY_LAST; }
    struct Need {
      Resource* resource;
      uint32_t count;
    };

    std::vector<Need> needs_;
    uint64_t priority_ = 1;
    uint64_t turn_ = 0;
    int64_t latest_ns_ = kNever;
    uint64_t waits_ = 0;  // how often it had to wait
    State state_ = State::kIdle;
  };

  // Is told when one that waited holds what it needs, or when it waits no more.
  class Observer {
   public:
    virtual void Changed(Holder& holder) = 0;

   protected:
    ~Observer() = default;
  };

  explicit RateLimiter(Observer& observer) : observer_(observer) {}
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Says how much there is of some resources, for holders that are added later. One without a
  // device is for each device, and for holders that need it without a device.
  Status Limit(std::vector<ResourceCount> limits);

  // There is so much of a resource from now on, whatever was said.
  void SetTotal(const std::string& name, uint32_t count);

  // Fails where the needs can never be met, and then changes nothing. A holder stays where it is
  // until it was removed, which may be at any time.
  Status Add(Holder& holder, const std::vector<ResourceCount>& needs, uint32_t priority);
  void Remove(Holder& holder);

  // Gives the holder what it needs, or nothing. After an execution this is another turn, for which
  // it competes with those that wait.
  bool TryAcquire(Holder& holder);
  // The same; without success the holder waits, and has to begin at `latest_ns`.
  bool AcquireOrWait(Holder& holder, int64_t latest_ns = kNever);
  // An execution has ended, or there is nothing to execute: the holder neither waits nor holds
  // anything. A turn that was not used does not count.
  void Leave(Holder& holder);

  // The resource that the holder waits for: the first of its needs that cannot be met now, or just
  // the first, when others have claims to what is free. Null: it does not wait.
  [[nodiscard]] const Resource* AwaitedBy(const Holder& holder) const;
  [[nodiscard]] uint32_t NeedOf(const Holder& holder, const Resource& resource) const;
  // All that were ever named; they stay where they are.
  [[nodiscard]] const std::deque<Resource>& resources() const { return resources_; }

 private:
  Resource& Find(const std::string& name, int32_t device);
  Status CheckTotals(const ResourceCount& need) const;
  [[nodiscard]] uint32_t LimitOf(const std::string& name, int32_t device, bool* limited_out) const;
  void UpdateTotals();
  [[nodiscard]] static bool Fits(const Holder& holder);
  bool Compete(Holder& holder);
  void Wait(Holder& holder);
  void StopWaiting(Holder& holder);
  void Take(Holder& holder);
  void GiveBack(Holder& holder);
  void ServeTurns();

  Observer& observer_;
  std::vector<ResourceCount> limits_;
  std::deque<Resource> resources_;
  std::vector<Holder*> holders_;
  std::vector<Holder*> waiting_;  // by turn, then by when they came
  uint64_t turn_ = 0;             // of the last execution
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_RATE_LIMITER_H_
