// Contests: all policies under one load, and the requirements for the one that has an objective.
#ifndef NEREID_TEST_OBJECTIVE_CONTEST_H_
#define NEREID_TEST_OBJECTIVE_CONTEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "test/objective/players.h"

namespace nereid::objective {

struct Entry {
  std::string policy;
  bool times_out = false;
  Result result;
};

struct Contest {
  std::string load;
  bool changes = false;
  bool has_bars = true;
  double times = 0;  // multiple of the feasible load; 0: it varies
  double seconds = 0;
  uint64_t offered = 0;
  uint64_t most = 0;  // an upper bound for any policy
  Entry objective;
  std::vector<Entry> statics;

  // The best static setting for this load, chosen in hindsight.
  [[nodiscard]] const Entry& BestStatic(bool times_out) const;
};

struct Bar {
  std::string name;
  std::string found;
  bool met = false;
  bool counts = true;  // false: the next bar is the one that must be met
};

// The most requests a second, with random arrivals, of which some static setting without timeouts
// keeps 99 of 100.
double FeasibleLoad(const Machine& machine, size_t requests, uint64_t seed);
std::vector<Load> Loads(const Machine& machine, double feasible, size_t requests, uint64_t seed);
// A quarter, half and twice what a wild machine answers on average.
std::vector<Load> WildLoads(const Machine& machine, size_t requests, uint64_t seed);
Contest Hold(const Machine& machine, const Load& load, uint64_t seed);
std::vector<Bar> Bars(const std::vector<Contest>& contests);
// Bars for WildLoads: a share of the requests that each load's best static setting keeps, chosen in
// hindsight.
std::vector<Bar> WildBars(const std::vector<Contest>& contests, double within = 0.95,
                          double beyond = 0.8);

}  // namespace nereid::objective

#endif  // NEREID_TEST_OBJECTIVE_CONTEST_H_
