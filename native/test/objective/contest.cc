#include "test/objective/contest.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace nereid::objective {
namespace {

constexpr double kFeasibleKept = 0.99;
constexpr double kLatencies = 400;

double Ratio(uint64_t ours, uint64_t theirs) {
  return static_cast<double>(ours) / static_cast<double>(std::max<uint64_t>(theirs, 1));
}

double LateShare(const Result& result) { return Ratio(result.late, result.kept + result.late); }

// The worst value that was found, and its place.
class Worst {
 public:
  explicit Worst(double sign) : sign_(sign) {}
  void Look(double value, const std::string& load) {
    if (load_.empty() || sign_ * value < sign_ * value_) {
      value_ = value;
      load_ = load;
    }
  }
  [[nodiscard]] Bar AsBar(const std::string& name, double limit) const {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.3f (%s)", value_, load_.c_str());
    return {.name = name, .found = text.data(), .met = sign_ * value_ >= sign_ * limit};
  }

 private:
  const double sign_;
  double value_ = 0;
  std::string load_;
};

double Goodput(const std::vector<Contest>& contests, double times) {
  const auto at = std::find_if(contests.begin(), contests.end(), [times](const Contest& contest) {
    return contest.times == times && contest.load.starts_with("poisson");
  });
  return at == contests.end() ? 0 : static_cast<double>(at->objective.result.kept) / at->seconds;
}

}  // namespace

const Entry& Contest::BestStatic(bool times_out) const {
  const auto worth = [times_out](const Entry& entry) {
    return entry.times_out == times_out ? entry.result.kept + 1 : 0;
  };
  return *std::max_element(statics.begin(), statics.end(),
                           [&](const Entry& a, const Entry& b) { return worth(a) < worth(b); });
}

double FeasibleLoad(const Machine& machine, size_t requests, uint64_t seed) {
  const std::vector<Setting> settings = Settings(machine);
  double share = 1;
  for (; share > 0.1; share -= 0.05) {
    const Load load = Poisson(machine.Capacity(), share, requests, seed);
    const bool kept = std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
      return setting.timeout_ns == 0 &&
             Ratio(Play(machine, load, *NewStatic(machine, setting), seed).kept,
                   load.arrivals_ns.size()) >= kFeasibleKept;
    });
    if (kept) {
      break;
    }
  }
  return share * machine.Capacity();
}

// Every load begins without measurements, and lasts long enough for learning to be a small part.
std::vector<Load> Loads(const Machine& machine, double feasible, size_t least, uint64_t seed) {
  const double latency = static_cast<double>(machine.latency_ns) / 1e9;
  const size_t requests = std::max(least, static_cast<size_t>(kLatencies * latency * feasible));
  return {Constant(feasible, 0.5, requests),
          Constant(feasible, 1, requests),
          Poisson(feasible, 0.5, requests, seed),
          Poisson(feasible, 1, requests, seed + 1),
          Poisson(feasible, 1.3, requests, seed + 2),
          Poisson(feasible, 2, requests, seed + 3),
          Bursts(feasible, machine.latency_ns, requests * 2, seed + 4),
          Day(feasible, requests * 3, seed + 5),
          Step(feasible, requests * 2, seed + 6),
          Neighbour(feasible, requests * 2, seed + 7)};
}

std::vector<Load> WildLoads(const Machine& machine, size_t requests, uint64_t seed) {
  const double capacity = machine.UsualCapacity();
  std::vector<Load> loads;
  for (const double times : {0.25, 0.5, 2.0}) {
    loads.push_back(Poisson(capacity, times, requests, seed++));
  }
  return loads;
}

Contest Hold(const Machine& machine, const Load& load, uint64_t seed) {
  Contest contest{.load = load.name,
                  .changes = load.changes,
                  .has_bars = load.has_bars,
                  .times = load.times,
                  .seconds = static_cast<double>(load.arrivals_ns.back()) / 1e9,
                  .offered = load.arrivals_ns.size(),
                  .most = MostKept(machine, load)};
  contest.objective = {.policy = "objective",
                       .result = Play(machine, load, *NewObjective(machine), seed)};
  for (const Setting& setting : Settings(machine)) {
    contest.statics.push_back({.policy = setting.Name(),
                               .times_out = setting.timeout_ns > 0,
                               .result = Play(machine, load, *NewStatic(machine, setting), seed)});
  }
  return contest;
}

std::vector<Bar> Bars(const std::vector<Contest>& contests) {
  Worst steady(1);
  Worst changing(1);
  Worst timeouts(1);
  Worst room(1);
  Worst oracle(1);
  Worst late(-1);
  for (const Contest& contest : contests) {
    if (!contest.has_bars) {
      continue;
    }
    const Result& ours = contest.objective.result;
    const uint64_t plain = contest.BestStatic(false).result.kept;
    const uint64_t timed = contest.BestStatic(true).result.kept;
    if (!contest.changes) {
      steady.Look(Ratio(ours.kept, std::max(plain, timed)), contest.load);
      if (contest.times <= 1) {
        late.Look(LateShare(ours), contest.load);
      }
      continue;
    }
    changing.Look(Ratio(ours.kept, plain), contest.load);
    timeouts.Look(Ratio(ours.kept, timed), contest.load);
    // A policy close to the bound passes if none can keep 10 % more.
    const double possible = Ratio(contest.most, timed);
    room.Look(Ratio(ours.kept, timed) / std::min(1.1, 0.95 * possible), contest.load);
    oracle.Look(Ratio(ours.kept, contest.most), contest.load);
  }
  Worst twice(1);
  twice.Look(Goodput(contests, 2) / std::max(Goodput(contests, 1), 1e-9), "poisson");
  std::vector<Bar> bars = {steady.AsBar("steady: 0.95 of the best static setting", 0.95),
                           changing.AsBar("changing: 1.3 of the best without timeouts", 1.3),
                           timeouts.AsBar("changing: 1.1 of the best with timeouts", 1.1),
                           room.AsBar("  or 0.95 of what anybody can, where that is less", 1),
                           oracle.AsBar("changing: 0.85 of the oracle", 0.85),
                           late.AsBar("feasible: at most 0.01 are late", 0.01),
                           twice.AsBar("twice the feasible load: 0.9 of its goodput", 0.9)};
  bars[2].counts = false;
  return bars;
}

std::vector<Bar> WildBars(const std::vector<Contest>& contests, double within, double beyond) {
  Worst least_within(1);
  Worst least_beyond(1);
  for (const Contest& contest : contests) {
    const uint64_t best =
        std::max(contest.BestStatic(false).result.kept, contest.BestStatic(true).result.kept);
    (contest.times < 1 ? least_within : least_beyond)
        .Look(Ratio(contest.objective.result.kept, best), contest.load);
  }
  return {least_within.AsBar("a quarter, half: 0.95 of the best static setting", within),
          least_beyond.AsBar("twice: 0.8 of the best static setting", beyond)};
}

}  // namespace nereid::objective
