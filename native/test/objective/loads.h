// What a simulation of objectives is made of: models that cost time, and clients that come.
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

// A model on a machine: what executions cost there, and what is asked of it.
struct Machine {
  std::string name;
  std::vector<std::pair<int64_t, double>> costs;  // rows and ns, ascending; straight in between
  uint32_t instances = 1;
  int64_t max_rows = 1;
  int64_t latency_ns = 0;
  double noise = 0.05;      // deviation of an execution, as a share
  double outliers = 0.002;  // share of the executions that take many times as long
  double least_times = 4;   // that they do
  double most_times = 4;
  // Others take the processor away so often while an execution has it, and for so long.
  double thefts_per_ns = 0;
  double theft_ns = 0;
  // Once in a period a neighbour has everything take so many times as long, for a third of it.
  int64_t period_ns = 0;
  double neighbour_times = 1;
  // Each request that comes while an execution has the processor takes so much of it.
  int64_t arrival_ns = 0;
  // The first two executions of each number of rows take so many times as long.
  double cold_times = 1;

  [[nodiscard]] double CostNs(int64_t rows) const;
  // The same for one execution.
  [[nodiscard]] double TakesNs(int64_t rows, int64_t now_ns, Chance& chance) const;
  // What batches of the best size answer a second, each in time for a request that has waited for
  // the one before.
  [[nodiscard]] double Capacity() const;
  // The same of what executions take on average.
  [[nodiscard]] double UsualCapacity() const;

 private:
  [[nodiscard]] double NeighbourAt(int64_t time_ns) const;
};

// The bundled and the benchmark models, as measured, and one that is like a GPU.
std::vector<Machine> Machines();
// A model that differs wildly from execution to execution, for a reason each.
std::vector<Machine> WildMachines();
Machine ServedMachine();

struct Load {
  std::string name;
  bool changes = false;
  bool has_bars = true;  // otherwise it is only reported
  double times = 0;      // of the feasible load; 0: it differs
  std::vector<int64_t> arrivals_ns;
  // Between the two everything takes so many times as long: somebody else is on the machine.
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
// Two states that change by chance: quiet for some fifty latencies, then busy for fifteen.
Load Bursts(double feasible, int64_t latency_ns, size_t requests, uint64_t seed);
// Ten minutes, or as long as `requests` last: from a tenth of the feasible load up to 1.8 times and
// back.
Load Day(double feasible, size_t requests, uint64_t seed);
// By turns a quarter of a rate and twice as much as it, `seconds` each.
Load UpAndDown(double rate, double seconds, int turns, uint64_t seed);
// Half, twice, and half the feasible load.
Load Step(double feasible, size_t requests, uint64_t seed);
// Four fifths of the feasible load all the time, while the machine is half as fast for a third of
// it.
Load Neighbour(double feasible, size_t requests, uint64_t seed);

}  // namespace nereid::objective

#endif  // NEREID_TEST_OBJECTIVE_LOADS_H_
