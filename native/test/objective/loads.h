// Parts of a simulation of objectives: models with costs, and arrivals of requests.
#ifndef NEREID_TEST_OBJECTIVE_LOADS_H_
#define NEREID_TEST_OBJECTIVE_LOADS_H_

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nereid::objective {

// A small generator of random numbers, the same on every machine.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 1) {}
  double Uniform();      // above 0, up to 1
  double Exponential();  // mean 1
  double Normal();

 private:
  uint64_t state_;
};

// A model on a machine: costs of its executions, and the objective that it must keep.
struct Machine {
  std::string name;
  std::vector<std::pair<int64_t, double>> costs;  // rows and ns, ascending; straight in between
  uint32_t instances = 1;
  int64_t max_rows = 1;
  int64_t latency_ns = 0;
  double noise = 0.05;      // deviation of an execution, as a share
  double outliers = 0.002;  // share of the executions that take many times as long
  double least_times = 4;   // an outlier takes at least this many times as long
  double most_times = 4;
  // Other processes take the processor away from an execution: this often, and for this long.
  double thefts_per_ns = 0;
  double theft_ns = 0;
  // A neighbour slows everything down by this factor for a third of each period.
  int64_t period_ns = 0;
  double neighbour_times = 1;
  // Each arriving request takes this much of the processor from a running execution.
  int64_t arrival_ns = 0;
  // The first two executions of each number of rows take this many times as long.
  double cold_times = 1;

  [[nodiscard]] double CostNs(int64_t rows) const;
  // The same for one execution.
  [[nodiscard]] double TakesNs(int64_t rows, int64_t now_ns, Chance& chance) const;
  // Requests a second that batches of the best size answer, each in time for a request that waited
  // for the batch before.
  [[nodiscard]] double Capacity() const;
  // The same for executions of average duration.
  [[nodiscard]] double UsualCapacity() const;

 private:
  [[nodiscard]] double NeighbourAt(int64_t time_ns) const;
};

// The bundled and the benchmark models, as measured, and one that is like a GPU.
std::vector<Machine> Machines();
// Models whose execution times vary wildly, each for another reason.
std::vector<Machine> WildMachines();
Machine ServedMachine();

struct Load {
  std::string name;
  bool changes = false;
  bool has_bars = true;  // false: the load is only reported
  double times = 0;      // multiple of the feasible load; 0: it varies
  std::vector<int64_t> arrivals_ns;
  // Everything takes `slow_times` as long between the two, as if another process used the machine.
  int64_t slow_from_ns = 0;
  int64_t slow_to_ns = 0;
  double slow_times = 1;

  [[nodiscard]] double SlownessAt(int64_t time_ns) const {
    return time_ns >= slow_from_ns && time_ns < slow_to_ns ? slow_times : 1;
  }
};

// `feasible`: requests a second. About `requests` of each load.
Load Constant(double feasible, double times, size_t requests);
Load Poisson(double feasible, double times, size_t requests, uint64_t seed);
// Alternates at random between quiet (about fifty latencies) and busy (about fifteen).
Load Bursts(double feasible, int64_t latency_ns, size_t requests, uint64_t seed);
// Ten minutes, or as long as `requests` last: from a tenth of the feasible load up to 1.8 times and
// back.
Load Day(double feasible, size_t requests, uint64_t seed);
// Alternates between a quarter and twice a rate, `seconds` each.
Load UpAndDown(double rate, double seconds, int turns, uint64_t seed);
// Half, twice, and half the feasible load.
Load Step(double feasible, size_t requests, uint64_t seed);
// Four fifths of the feasible load all the time, while the machine is half as fast for a third of
// it.
Load Neighbour(double feasible, size_t requests, uint64_t seed);

}  // namespace nereid::objective

#endif  // NEREID_TEST_OBJECTIVE_LOADS_H_
