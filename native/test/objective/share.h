// Several models that execute on the same machine, in a simulation of objectives.
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

// Who goes first of those that wait for the machine: the model whose first request has to begin
// first, or the one whose first request came first.
enum class Turns { kFirstDue, kFirstCome };

using PlayerOf = std::function<std::unique_ptr<Player>(const Machine&)>;

// What becomes of each one's requests, where `width` batches are executed at a time.
std::vector<Result> PlayShared(std::span<const Tenant> tenants, uint32_t width, Turns turns,
                               const PlayerOf& player_of, uint64_t seed);

// The share of the requests that is kept of who keeps least.
double LeastKept(std::span<const Result> results);

// A quick model with little time, MiniLM, and the detection of text with much; together they come
// as often as `times` the most that the machine answers, were it one's alone in turn.
std::vector<Tenant> Tenants(double times, size_t requests, uint64_t seed);
constexpr uint32_t kTenantsWidth = 2;

// All ways to share under one load.
struct SharedContest {
  double times = 0;
  std::vector<std::string> names;
  std::vector<Result> first_due;   // all with objectives
  std::vector<Result> first_come;  // the same
  // With the static setting that has most kept by who keeps least, of those with timeouts and of
  // those without.
  std::vector<Result> settings;
};
SharedContest HoldShared(double times, size_t requests, uint64_t seed);
// `feasible` and `beyond` are contests under loads that can be answered, and cannot.
std::vector<Bar> SharedBars(const SharedContest& feasible, const SharedContest& beyond);

}  // namespace nereid::objective

#endif  // NEREID_TEST_OBJECTIVE_SHARE_H_
