// Time, randomness and the queue of events of a simulation, all from one seed.
#ifndef NEREID_TEST_SIMULATION_SIMULATED_WORLD_H_
#define NEREID_TEST_SIMULATION_SIMULATED_WORLD_H_

#include <cstdint>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/schedule/timer.h"

namespace nereid::simulation {

// A rule that the scheduler broke. It ends the simulation; the same seed reproduces it.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void Require(bool holds, const char* rule) {
  if (!holds) [[unlikely]] {
    throw Violation(rule);
  }
}

// A small generator of random numbers, the same on every machine.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // 0 to `limit` - 1.
  uint64_t Below(uint64_t limit) { return Next() % limit; }
  bool OneIn(uint64_t odds) { return Below(odds) == 0; }
  // A value between the two, small ones as likely as large ones.
  int64_t Spread(int64_t least, int64_t most);

 private:
  uint64_t state_;
};

struct Event;

// A participant that receives events.
class Actor {
 public:
  virtual ~Actor() = default;
  virtual void Handle(const Event& event) = 0;
  // Called after every event, for any actor.
  virtual void SendToWork() = 0;
  // No new requests and no more failures: all requests must be answered.
  virtual void BeginCalm() = 0;
  [[nodiscard]] virtual bool IsCalm() const = 0;
  // The end: everything comes to rest, and nothing is left.
  virtual void BeginEnd() = 0;
  [[nodiscard]] virtual bool HasEnded() const = 0;
};

enum class Happening : uint8_t {
  kArrival,       // the next request comes
  kLook,          // an instance's thread asks for work
  kExecuted,      // the backend of an instance returns
  kFinished,      // the backend finishes a batch that it may have kept
  kInlineEnd,     // the return of a backend on the thread of a submitter
  kCancel,        // a client cancels a request
  kAlarm,         // the timer is due
  kUnload,        // the model is closed and drained
  kPatienceOver,  // requests that are unanswered now are failed
  kReload,        // the model is loaded again with another configuration
  kWarmUp,        // the loader warms up the next instance
  kStep,          // the backend of a step goes on with a request
  kDeath          // the process of an isolated model ends
};

struct Event {
  int64_t time_ns;
  uint64_t order;  // events of the same time keep the order of their creation
  Happening happening;
  Actor* actor;
  uint64_t subject;     // an instance, or a request
  uint64_t generation;  // of the subject or the model; an event with an earlier one is ignored
};

// Runs on one thread without a clock: the current event's time is the time. The current world's
// time is used by all code.
class SimulatedWorld {
 public:
  explicit SimulatedWorld(uint64_t seed) : chance(seed) { now_ns_ = 1'000'000'000; }

  static int64_t Now() { return now_ns_; }

  void In(int64_t delay_ns, Happening happening, Actor* actor, uint64_t subject,
          uint64_t generation) {
    At(now_ns_ + delay_ns, happening, actor, subject, generation);
  }
  void At(int64_t time_ns, Happening happening, Actor* actor, uint64_t subject,
          uint64_t generation) {
    events_.push({time_ns, next_order_++, happening, actor, subject, generation});
  }

  // Takes the next event and sets the time to its time.
  Event Take();

  Chance chance;

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.order > b.order;
    }
  };

  static int64_t now_ns_;
  uint64_t next_order_ = 0;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
};

}  // namespace nereid::simulation

#endif  // NEREID_TEST_SIMULATION_SIMULATED_WORLD_H_
