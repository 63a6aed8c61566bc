// Several models that share a machine, in a simulation of objectives.
#ifndef NEREID_TEST_OBJECTIVE_SHARE_H_
#define NEREID_TEST_OBJECTIVE_SHARE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "test/objective/contest.h"

namespace nereid::objective {

struct Tenant {
  Machine machine;
  Load load;
};

// The order of models that wait for the machine: earliest due time of a first request, or earliest
// arrival.
enum class Turns { kFirstDue, kFirstCome };

using PlayerOf = std::function<std::unique_ptr<Player>(const Machine&)>;

// Returns each model's result when `width` batches are executed at a time.
std::vector<Result> PlayShared(std::span<const Tenant> tenants, uint32_t width, Turns turns,
                               const PlayerOf& player_of, uint64_t seed);

// The kept share of requests of the model that keeps least.
double LeastKept(std::span<const Result> results);

// A quick model with a short latency, MiniLM, and text detection with a long one; their rates add
// up to `times` the machine's capacity.
std::vector<Tenant> Tenants(double times, size_t requests, uint64_t seed);
constexpr uint32_t kTenantsWidth = 2;

// All ways of sharing, under one load.
struct SharedContest {
  double times = 0;
  std::vector<std::string> names;
  std::vector<Result> first_due;   // all with objectives
  std::vector<Result> first_come;  // the same
  // The static setting with the best minimum of kept shares, once with timeouts and once without.
  std::vector<Result> settings;
};
SharedContest HoldShared(double times, size_t requests, uint64_t seed);
// `feasible` and `beyond` are contests under loads within and beyond capacity.
std::vector<Bar> SharedBars(const SharedContest& feasible, const SharedContest& beyond);

}  // namespace nereid::objective

#endif  // NEREID_TEST_OBJECTIVE_SHARE_H_
