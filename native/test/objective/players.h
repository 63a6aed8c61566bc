// Players in a simulation of objectives: they decide when which requests run.
#ifndef NEREID_TEST_OBJECTIVE_PLAYERS_H_
#define NEREID_TEST_OBJECTIVE_PLAYERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/objective/objective_control.h"
#include "core/queue/batch_decision.h"
#include "test/objective/loads.h"

namespace nereid::objective {

// Arrival times of waiting requests, the oldest first.
class Line {
 public:
  void Push(int64_t arrival_ns) { times_.push_back(arrival_ns); }
  void Pop(size_t count);
  [[nodiscard]] size_t size() const { return times_.size() - first_; }
  [[nodiscard]] int64_t operator[](size_t index) const { return times_[first_ + index]; }

 private:
  std::vector<int64_t> times_;
  size_t first_ = 0;
};

class Player {
 public:
  virtual ~Player() = default;
  // True if a request that comes now waits; false if it is refused.
  virtual bool Enters(const Line& line, int64_t now_ns) = 0;
  virtual ObjectiveDecision Decide(uint32_t instance, const Line& line, int64_t now_ns) = 0;
  virtual void Began(uint32_t /*instance*/, int64_t /*rows*/, int64_t /*now_ns*/) {}
  virtual void Ended(uint32_t /*instance*/, int64_t /*rows*/, int64_t /*duration_ns*/,
                     int64_t /*now_ns*/) {}
  // The latest time at which the first waiting request must begin.
  virtual int64_t LatestNs(const Line& line) { return line[0]; }
  virtual void Answered(uint64_t /*kept*/, uint64_t /*late*/) {}
};

// A static setting as users configure it; timeout_ns 0: none.
struct Setting {
  int64_t preferred = 0;
  int64_t delay_ns = 0;
  int64_t timeout_ns = 0;
  [[nodiscard]] std::string Name() const;
};
// Delays and preferred sizes for a machine, without and with timeouts.
std::vector<Setting> Settings(const Machine& machine);

std::unique_ptr<Player> NewStatic(const Machine& machine, const Setting& setting);
std::unique_ptr<Player> NewObjective(const Machine& machine);

struct Result {
  uint64_t offered = 0;
  uint64_t kept = 0;
  uint64_t late = 0;
  uint64_t refused = 0;
  double p50_ms = 0;  // of those that were answered
  double p99_ms = 0;
  double batch = 0;  // rows of an execution on average
};

Result Play(const Machine& machine, const Load& load, Player& player, uint64_t seed);

// An upper bound for any policy that knows the future: see objective/oracle.cc.
uint64_t MostKept(const Machine& machine, const Load& load);

}  // namespace nereid::objective

#endif  // NEREID_TEST_OBJECTIVE_PLAYERS_H_
