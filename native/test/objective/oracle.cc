#include <algorithm>

#include "test/objective/players.h"

namespace nereid::objective {
namespace {

// Most requests that come within `span_ns`.
size_t MostWithin(const std::vector<int64_t>& arrivals_ns, int64_t span_ns) {
  size_t most = 0;
  size_t first = 0;
  for (size_t i = 0; i < arrivals_ns.size(); ++i) {
    while (arrivals_ns[i] - arrivals_ns[first] > span_ns) {
      ++first;
    }
    most = std::max(most, i - first + 1);
  }
  return most;
}

}  // namespace

// A bound that no policy exceeds, with executions that take what they take on average. A request
// needs at least the time of an instance that its row has of the best batch, where that is one that
// can ever be answered in time: all of its rows have come before it begins, and wait as long as it
// takes. All instances together are taken as one that does so much in any order and in any pieces,
// on which who comes first and can still be answered in time is served: requests that are alike and
// due in the order in which they come are kept as often as possible by that.
uint64_t MostKept(const Machine& machine, const Load& load) {
  const auto latency = static_cast<double>(machine.latency_ns);
  double share_ns = latency;  // of an instance, that a row needs at least
  for (int64_t rows = 1; rows <= machine.max_rows; ++rows) {
    const double cost = machine.CostNs(rows);
    if (cost <= latency &&
        MostWithin(load.arrivals_ns, machine.latency_ns - static_cast<int64_t>(cost)) >=
            static_cast<size_t>(rows)) {
      share_ns = std::min(share_ns, cost / static_cast<double>(rows));
    }
  }
  share_ns /= machine.instances;
  double free_ns = 0;
  uint64_t kept = 0;
  for (const int64_t arrival_ns : load.arrivals_ns) {
    if (free_ns > static_cast<double>(arrival_ns)) {
      free_ns += static_cast<double>(machine.arrival_ns);
    }
    const double slowness =
        std::min(load.SlownessAt(arrival_ns), load.SlownessAt(arrival_ns + machine.latency_ns));
    const double end_ns = std::max(free_ns, static_cast<double>(arrival_ns)) + share_ns * slowness;
    if (end_ns <= static_cast<double>(arrival_ns) + latency) {
      free_ns = end_ns;
      ++kept;
    }
  }
  return kept;
}

}  // namespace nereid::objective
