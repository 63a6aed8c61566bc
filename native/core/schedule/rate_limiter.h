// Decides the order of executions that share resources.
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
// A holder executes only while it holds all its resources, and never has a part of them, so no
// holder waits for a waiting one. Waiting holders are served by turns: an execution with priority N
// delays the holder's next turn by N, so that of two that always wait, one with priority 2 executes
// half as often as one with priority 1. A holder gains nothing by not waiting: its turn is never
// before that of the last execution. A holder that cannot be served yet keeps its claim: later
// turns only get what is free beyond it, so none starves.
//
// Holders that have to begin by some time come before the others, the earliest first. Those with
// NRD_PRIORITY_LAST or _IDLE come after all others, and move no turn.
class RateLimiter {
 public:
  enum class State {
    kIdle,
    kWaits,
    kGranted,   // waited, and now holds its resources
    kExecutes,  // holds its resources and has been told
  };

  struct Resource {
    std::string name;
    int32_t device = ResourceCount::kNoDevice;
    uint32_t wanted = 0;   // the largest need of a holder; 0: no holder needs it now
    uint32_t total = 0;    // `wanted`, or the count set by Limit
    uint64_t held = 0;     // may exceed `total` for a while after that has fallen
    uint32_t waiting = 0;  // holders that wait and need it
    uint64_t claimed = 0;  // scratch: claims of earlier turns

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
    uint64_t waits_ = 0;  // how often the holder had to wait
    State state_ = State::kIdle;
  };

  // Called when a waiting holder gets its resources, or stops waiting.
  class Observer {
   public:
    virtual void Changed(Holder& holder) = 0;

   protected:
    ~Observer() = default;
  };

  explicit RateLimiter(Observer& observer) : observer_(observer) {}
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Sets the counts of some resources, for holders that are added later. A count without a device
  // applies to each device, and to needs without a device.
  Status Limit(std::vector<ResourceCount> limits);

  // Sets the count of a resource, whatever Limit said.
  void SetTotal(const std::string& name, uint32_t count);

  // Fails, with nothing changed, if the needs can never be met. A holder's address must stay valid
  // until it is removed, which may be at any time.
  Status Add(Holder& holder, const std::vector<ResourceCount>& needs, uint32_t priority);
  void Remove(Holder& holder);

  // Gives the holder all its resources, or none. After an execution this is another turn, for which
  // it competes with waiting holders.
  bool TryAcquire(Holder& holder);
  // The same; without success the holder waits, and must begin by `latest_ns`.
  bool AcquireOrWait(Holder& holder, int64_t latest_ns = kNever);
  // Ends the holder's execution or wait, after which it holds nothing. An unused turn does not
  // count.
  void Leave(Holder& holder);

  // The resource that the holder waits for: the first of its needs that cannot be met now, or the
  // first, if others have claims to the free rest. Null: the holder does not wait.
  [[nodiscard]] const Resource* AwaitedBy(const Holder& holder) const;
  [[nodiscard]] uint32_t NeedOf(const Holder& holder, const Resource& resource) const;
  // All resources ever named; their addresses stay valid.
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
  std::vector<Holder*> waiting_;  // by turn, then by arrival
  uint64_t turn_ = 0;             // the turn of the last execution
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_RATE_LIMITER_H_
