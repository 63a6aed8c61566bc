// simulate [SEED] [SECONDS]: runs the scheduler with random events until the time is over or a rule
// is broken. One seed gives one history; the program prints the broken rule and its time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "test/simulation/simulated_ensemble.h"
#include "test/simulation/simulated_model.h"

namespace {

using nereid::SharedLimiter;
using nereid::simulation::Actor;
using nereid::simulation::Event;
using nereid::simulation::Require;
using nereid::simulation::SimulatedEnsemble;
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

// An instance on its way to look may already hold the resource, and not execute yet.
void CheckLimits(const std::vector<std::unique_ptr<SimulatedModel>>& models) {
  uint32_t held = 0;
  bool some_wait = false;
  bool some_look = false;
  for (const auto& model : models) {
    held += model->HeldCount();
    some_wait |= model->SomebodyWaitsForLimits();
    some_look |= model->SomebodyLooks();
  }
  Require(held <= SimulatedModel::kResourceTotal, "executions hold more than there is");
  Require(!some_wait || held > 0 || some_look, "somebody waits for what nobody holds");
}

// Unrest: requests and faults come. Calm: the remaining requests must be answered. End: all ends.
enum class Phase : uint8_t { kUnrest, kCalm, kEnd };

// False once everything has ended.
bool GoOn(const std::vector<Actor*>& actors, uint64_t events, Phase* phase) {
  if (events == kEventsOfAHistory) {
    *phase = Phase::kCalm;
    std::for_each(actors.begin(), actors.end(), std::mem_fn(&Actor::BeginCalm));
  }
  if (*phase == Phase::kCalm &&
      std::all_of(actors.begin(), actors.end(), std::mem_fn(&Actor::IsCalm))) {
    *phase = Phase::kEnd;
    std::for_each(actors.begin(), actors.end(), std::mem_fn(&Actor::BeginEnd));
  }
  Require(events < kEventsOfAHistory * 2, *phase == Phase::kCalm
                                              ? "a request has no answer, though nothing fails"
                                              : "a history comes to no end");
  return *phase != Phase::kEnd ||
         !std::all_of(actors.begin(), actors.end(), std::mem_fn(&Actor::HasEnded));
}

// Throws Violation.
void RunHistory(uint64_t seed, Totals* totals) {
  SimulatedWorld world(seed);
  SharedLimiter limiter;
  Require(limiter.Limit({{.name = "R", .count = SimulatedModel::kResourceTotal}}).ok(),
          "resources are limited before there are models");
  std::vector<std::unique_ptr<SimulatedModel>> models;
  do {
    models.push_back(std::make_unique<SimulatedModel>(world, limiter));
  } while (models.size() < 3 && world.chance.OneIn(2));
  std::unique_ptr<SimulatedEnsemble> ensemble;
  std::vector<Actor*> actors;
  for (const auto& model : models) {
    actors.push_back(model.get());
  }
  if (world.chance.OneIn(4)) {
    ensemble = std::make_unique<SimulatedEnsemble>(world);
    actors.push_back(ensemble.get());
  }
  Phase phase = Phase::kUnrest;
  for (uint64_t events = 0; GoOn(actors, events, &phase); ++events, ++totals->events) {
    const Event event = world.Take();
    event.actor->Handle(event);
    for (Actor* const actor : actors) {
      actor->SendToWork();
    }
    CheckLimits(models);
  }
  ++totals->histories;
  for (const auto& model : models) {
    totals->requests += model->answered();
    totals->executions += model->executed();
  }
  if (ensemble != nullptr) {
    totals->requests += ensemble->answered();
    totals->executions += ensemble->executed();
  }
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
