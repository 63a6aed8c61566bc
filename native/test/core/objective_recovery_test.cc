// Tests that the policy of objectives recovers from every state that a machine can cause.
#include <algorithm>

#include "doctest/doctest.h"
#include "test/objective/players.h"

namespace nereid::objective {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

// The results of requests in a part of a history.
struct Part {
  uint64_t kept = 0;
  uint64_t late = 0;
  uint64_t refused = 0;
  [[nodiscard]] double KeptShare() const { return Share(kept); }
  [[nodiscard]] double AnsweredShare() const { return Share(kept + late); }
  [[nodiscard]] double Share(uint64_t part) const {
    return static_cast<double>(part) /
           static_cast<double>(std::max<uint64_t>(kept + late + refused, 1));
  }
};

// A player, the objective's unless another is given, on a machine whose executions differ by
// `noise` until `calm_ns`. It counts what happens by then, and from a second later on.
class Watched final : public Player {
 public:
  Watched(Machine& machine, double noise, int64_t calm_ns)
      : Watched(machine, noise, calm_ns, NewObjective(machine)) {}
  Watched(Machine& machine, double noise, int64_t calm_ns, std::unique_ptr<Player> player)
      : machine_(machine), noise_(noise), calm_ns_(calm_ns), player_(std::move(player)) {}

  bool Enters(const Line& line, int64_t now_ns) override {
    now_ns_ = now_ns;
    machine_.noise = now_ns < calm_ns_ ? noise_ : 0.05;
    const bool enters = player_->Enters(line, now_ns);
    Now().refused += enters ? 0 : 1;
    return enters;
  }
  ObjectiveDecision Decide(uint32_t instance, const Line& line, int64_t now_ns) override {
    now_ns_ = now_ns;
    const ObjectiveDecision decision = player_->Decide(instance, line, now_ns);
    Now().refused += decision.refuse;
    return decision;
  }
  void Began(uint32_t instance, int64_t rows, int64_t now_ns) override {
    player_->Began(instance, rows, now_ns);
  }
  void Ended(uint32_t instance, int64_t rows, int64_t duration_ns, int64_t now_ns) override {
    now_ns_ = now_ns;
    player_->Ended(instance, rows, duration_ns, now_ns);
  }
  void Answered(uint64_t kept, uint64_t late) override {
    Now().kept += kept;
    Now().late += late;
    player_->Answered(kept, late);
  }

  [[nodiscard]] const Part& noisy() const { return noisy_; }
  [[nodiscard]] const Part& after() const { return after_; }

 private:
  Part& Now() {
    return now_ns_ < calm_ns_ ? noisy_ : now_ns_ < calm_ns_ + kSecond ? between_ : after_;
  }

  Machine& machine_;
  const double noise_;
  const int64_t calm_ns_;
  std::unique_ptr<Player> player_;
  int64_t now_ns_ = 0;
  Part noisy_;
  Part between_;
  Part after_;
};

Machine Nearly(double first_ms, double last_ms, int64_t max_rows, int64_t latency_ns) {
  return {.name = "flat",
          .costs = {{1, first_ms * kMs}, {max_rows, last_ms * kMs}},
          .instances = 1,
          .max_rows = max_rows,
          .latency_ns = latency_ns};
}

// A deviation that doubles the mean, with a mean deviation of nearly as much: 19 ms instead of 9.5,
// and high ones of 69.
constexpr double kWild = 1.16;

TEST_CASE("executions of which many take longer than the objective are no reason to refuse all") {
  struct Case {
    double cost_ms;
    double rate;
    double answered;
  };
  for (const Case& each : {Case{9.5, 50, 0.5}, Case{5, 480, 0.5}, Case{9.5, 480, 0.2}}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Machine machine = Nearly(each.cost_ms, each.cost_ms * 1.25, 32, 50 * kMs);
      const Load load = Poisson(each.rate, 1, static_cast<size_t>(each.rate * 15), seed);
      Watched player(machine, kWild, 10 * kSecond);
      Play(machine, load, player, seed);
      CAPTURE(each.rate);
      CAPTURE(each.cost_ms);
      CAPTURE(seed);
      CHECK(player.noisy().AnsweredShare() > each.answered);
      CHECK(player.after().KeptShare() > 0.95);
    }
  }
}

TEST_CASE("a model that never makes it refuses nearly all, however quiet it is between probes") {
  for (const double noise : {0.05, 0.3}) {
    Machine machine = Nearly(75, 90, 32, 50 * kMs);
    Watched player(machine, noise, 20 * kSecond);
    Play(machine, Poisson(480, 1, 480 * 20, 3), player, 3);
    CHECK(player.noisy().AnsweredShare() < 0.02);
    CHECK(player.noisy().late > 50);
  }
}

TEST_CASE("a backlog whose requests have little time left is drained by batches that keep up") {
  for (const double noise : {0.05, 0.1, 0.2}) {
    for (const double times : {2.0, 4.0, 8.0}) {
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        Machine machine = Nearly(5.2, 8.2, 16, 60 * kMs);
        machine.noise = noise;
        // 0.84 of what batches of 16 rows answer; 8 rows a batch answer 0.77 of that.
        Load load = Poisson(1600, 1, 1600 * 6, seed);
        load.slow_from_ns = kSecond;
        load.slow_to_ns = 2 * kSecond;
        load.slow_times = times;
        Watched player(machine, noise, load.slow_to_ns);
        Play(machine, load, player, seed);
        CAPTURE(noise);
        CAPTURE(times);
        CAPTURE(seed);
        CHECK(player.after().KeptShare() > 0.95);
      }
    }
  }
}

TEST_CASE("sizes that were dear at first, or cheap under a light load, are learned anew") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Machine machine = ServedMachine();
    const Load load = UpAndDown(1290, 4, 12, seed);
    Watched player(machine, machine.noise, 4 * kSecond);
    Play(machine, load, player, seed);
    const Setting setting{.preferred = machine.max_rows, .timeout_ns = machine.latency_ns / 2};
    Watched best(machine, machine.noise, 4 * kSecond, NewStatic(machine, setting));
    Play(machine, load, best, seed);
    CAPTURE(seed);
    CHECK(player.after().KeptShare() > 0.94 * best.after().KeptShare());
  }
}

}  // namespace
}  // namespace nereid::objective
