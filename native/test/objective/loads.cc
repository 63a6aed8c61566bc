#include "test/objective/loads.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nereid::objective {
namespace {

constexpr double kSecond = 1e9;

// Arrivals whose rate is `rate(t)` a second, at most `most`, until `seconds` are over.
template <typename Rate>
std::vector<int64_t> Arrivals(double seconds, double most, uint64_t seed, Rate&& rate) {
  Chance chance(seed);
  std::vector<int64_t> arrivals;
  for (double t = chance.Exponential() / most; t < seconds; t += chance.Exponential() / most) {
    if (chance.Uniform() * most <= rate(t)) {
      arrivals.push_back(static_cast<int64_t>(t * kSecond));
    }
  }
  return arrivals;
}

std::string Times(double times) {
  std::string text = std::to_string(times);
  text.resize(text.find('.') + 3);
  return text.back() == '0' ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

double Chance::Uniform() {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return (static_cast<double>((z ^ (z >> 31)) >> 11) + 1) / 9007199254740992.0;
}

double Chance::Exponential() { return -std::log(Uniform()); }

double Chance::Normal() {
  const double radius = std::sqrt(2 * Exponential());
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

double Machine::CostNs(int64_t rows) const {
  const auto above = std::lower_bound(
      costs.begin(), costs.end(), rows,
      [](const std::pair<int64_t, double>& point, int64_t value) { return point.first < value; });
  if (above == costs.end()) {
    return costs.back().second * static_cast<double>(rows) /
           static_cast<double>(costs.back().first);
  }
  if (above == costs.begin() || above->first == rows) {
    return above->second;
  }
  const auto below = above - 1;
  const double share =
      static_cast<double>(rows - below->first) / static_cast<double>(above->first - below->first);
  return below->second + share * (above->second - below->second);
}

// The neighbour's place in its period is random, and the same for every caller.
double Machine::NeighbourAt(int64_t time_ns) const {
  if (period_ns == 0) {
    return 1;
  }
  Chance chance(static_cast<uint64_t>(time_ns / period_ns));
  const double from = chance.Uniform() * 2 / 3;
  const double at = static_cast<double>(time_ns % period_ns) / static_cast<double>(period_ns);
  return at >= from && at < from + 1.0 / 3 ? neighbour_times : 1;
}

double Machine::TakesNs(int64_t rows, int64_t now_ns, Chance& chance) const {
  double cost = CostNs(rows) * std::exp(noise * chance.Normal()) * NeighbourAt(now_ns);
  if (chance.Uniform() <= outliers) {
    const double more = most_times > least_times ? chance.Uniform() : 0;
    cost *= least_times * std::pow(most_times / least_times, more);
  }
  double stolen = 0;
  if (thefts_per_ns > 0) {
    for (double at = chance.Exponential(); at < cost * thefts_per_ns; at += chance.Exponential()) {
      stolen += chance.Exponential() * theft_ns;
    }
  }
  return cost + stolen;
}

double Machine::UsualCapacity() const {
  constexpr int kDraws = 20'000;
  Machine usual = *this;
  for (auto& [rows, cost] : usual.costs) {
    Chance chance(1);
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      sum += TakesNs(rows, i * latency_ns, chance);
    }
    cost = sum / kDraws;
  }
  return usual.Capacity();
}

double Machine::Capacity() const {
  double best = 0;
  for (int64_t rows = 1; rows <= max_rows; ++rows) {
    const double cost = CostNs(rows);
    if (cost * (1 + 1.0 / instances) <= static_cast<double>(latency_ns)) {
      best = std::max(best, instances * static_cast<double>(rows) / cost * kSecond);
    }
  }
  return best;
}

Load Constant(double feasible, double times, size_t requests) {
  Load load{.name = "constant " + Times(times), .times = times};
  for (size_t i = 0; i < requests; ++i) {
    load.arrivals_ns.push_back(
        static_cast<int64_t>(static_cast<double>(i) * kSecond / (feasible * times)));
  }
  return load;
}

Load Poisson(double feasible, double times, size_t requests, uint64_t seed) {
  const double rate = feasible * times;
  return {.name = "poisson " + Times(times),
          .times = times,
          .arrivals_ns = Arrivals(static_cast<double>(requests) / rate, rate, seed,
                                  [rate](double) { return rate; })};
}

Load Bursts(double feasible, int64_t latency_ns, size_t requests, uint64_t seed) {
  const double latency = static_cast<double>(latency_ns) / kSecond;
  Chance chance(seed + 1);
  bool busy = true;
  double until = 0;
  const auto rate = [&](double t) {
    while (t >= until) {
      busy = !busy;
      until += chance.Exponential() * latency * (busy ? 15 : 50);
    }
    return feasible * (busy ? 3 : 0.5);
  };
  return {
      .name = "bursts",
      .changes = true,
      .arrivals_ns = Arrivals(static_cast<double>(requests) / feasible, feasible * 3, seed, rate)};
}

Load Day(double feasible, size_t requests, uint64_t seed) {
  const double seconds = std::min(600.0, static_cast<double>(requests) / feasible);
  return {.name = "day",
          .changes = true,
          .arrivals_ns = Arrivals(seconds, feasible * 1.8, seed, [&](double t) {
            return feasible * (0.95 - 0.85 * std::cos(2 * std::numbers::pi * t / seconds));
          })};
}

Load UpAndDown(double rate, double seconds, int turns, uint64_t seed) {
  return {.name = "up and down",
          .changes = true,
          .arrivals_ns = Arrivals(seconds * turns, rate * 2, seed, [&](double t) {
            return rate * (static_cast<int>(t / seconds) % 2 == 0 ? 0.25 : 2);
          })};
}

Load Step(double feasible, size_t requests, uint64_t seed) {
  const double seconds = static_cast<double>(requests) / feasible;
  return {.name = "step",
          .changes = true,
          .arrivals_ns = Arrivals(seconds, feasible * 2, seed, [&](double t) {
            return feasible * (t > seconds / 3 && t < seconds * 2 / 3 ? 2 : 0.5);
          })};
}

Load Neighbour(double feasible, size_t requests, uint64_t seed) {
  Load load = Poisson(feasible, 0.8, requests, seed);
  load.name = "neighbour";
  load.changes = true;
  load.has_bars = false;
  load.times = 0;
  load.slow_from_ns = load.arrivals_ns.back() / 3;
  load.slow_to_ns = load.slow_from_ns * 2;
  load.slow_times = 2;
  return load;
}

}  // namespace nereid::objective
