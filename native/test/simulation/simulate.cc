// simulate [SEED] [SECONDS]: runs the scheduler against chance until the time is over, or a rule is
// broken. One seed is one history: it says which rule, and when.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "test/simulation/simulated_model.h"

namespace {

using nereid::simulation::Event;
using nereid::simulation::SimulatedModel;
using nereid::simulation::SimulatedWorld;
using nereid::simulation::Violation;

constexpr uint64_t kEventsOfAHistory = 20'000;

struct Totals {
  uint64_t histories = 0;
  uint64_t events = 0;
  uint64_t requests = 0;
  uint64_t executions = 0;
};

// Throws Violation.
void RunHistory(uint64_t seed, Totals* totals) {
  SimulatedWorld world(seed);
  SimulatedModel model(world);
  for (uint64_t events = 0; !model.HasEnded(); ++events, ++totals->events) {
    if (events == kEventsOfAHistory) {
      model.BeginEnd();
    }
    nereid::simulation::Require(events < kEventsOfAHistory * 2, "a history comes to no end");
    const Event event = world.Take();
    event.model->Handle(event);
  }
  ++totals->histories;
  totals->requests += model.answered();
  totals->executions += model.executed();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const bool one = argument_count > 1 && argument_count < 3;
  uint64_t seed =
      argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : std::random_device()();
  const double seconds = argument_count > 2 ? std::strtod(arguments[2], nullptr) : 5;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Totals totals;
  do {
    try {
      RunHistory(seed, &totals);
    } catch (const Violation& violation) {
      std::printf("seed %llu, event %llu, after %.1f s: %s\n",
                  static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(totals.events), elapsed(), violation.what());
      return 1;
    }
    ++seed;
  } while (!one && elapsed() < seconds);
  std::printf(
      "%llu histories, %llu events, %llu requests, %llu executions: %.2f million events a "
      "second, no rule broken\n",
      static_cast<unsigned long long>(totals.histories),
      static_cast<unsigned long long>(totals.events),
      static_cast<unsigned long long>(totals.requests),
      static_cast<unsigned long long>(totals.executions),
      static_cast<double>(totals.events) / elapsed() / 1e6);
  return 0;
}
