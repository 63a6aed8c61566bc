#include "test/objective/share.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <queue>
#include <utility>

namespace nereid::objective {
namespace {

constexpr double kMs = 1e6;

struct Batch {
  size_t tenant;
  uint32_t instance;
  int64_t begun_ns;
  std::vector<int64_t> arrivals_ns;
};

// One model's waiting and running requests.
struct Seat {
  std::unique_ptr<Player> player;
  Line line;
  std::vector<uint32_t> idle;
  size_t next = 0;  // arrival
  Result result;
};

// One simulated history of all models: discrete events without a clock.
class SharedHistory {
 public:
  SharedHistory(std::span<const Tenant> tenants, uint32_t width, Turns turns,
                const PlayerOf& player_of, uint64_t seed)
      : tenants_(tenants), free_(width), turns_(turns), chance_(seed), seats_(tenants.size()) {
    for (size_t i = 0; i < tenants.size(); ++i) {
      seats_[i].player = player_of(tenants[i].machine);
      seats_[i].result.offered = tenants[i].load.arrivals_ns.size();
      for (uint32_t instance = 0; instance < tenants[i].machine.instances; ++instance) {
        seats_[i].idle.push_back(instance);
      }
    }
  }

  std::vector<Result> Run() {
    for (int64_t now_ns = NextNs(); now_ns != kNever; now_ns = NextNs()) {
      if (!ends_.empty() && ends_.top().first == now_ns) {
        End(now_ns);
      }
      for (size_t i = 0; i < seats_.size(); ++i) {
        Arrive(seats_[i], tenants_[i].load, now_ns);
      }
      wake_ns_ = kNever;
      while (free_ > 0 && BeginOne(now_ns)) {
      }
    }
    std::vector<Result> results;
    for (const Seat& seat : seats_) {
      results.push_back(seat.result);
    }
    return results;
  }

 private:
  int64_t NextNs() const {
    int64_t next_ns = ends_.empty() ? wake_ns_ : std::min(wake_ns_, ends_.top().first);
    for (size_t i = 0; i < seats_.size(); ++i) {
      const std::vector<int64_t>& arrivals = tenants_[i].load.arrivals_ns;
      if (seats_[i].next < arrivals.size()) {
        next_ns = std::min(next_ns, arrivals[seats_[i].next]);
      }
    }
    return next_ns;
  }

  static void Arrive(Seat& seat, const Load& load, int64_t now_ns) {
    for (; seat.next < load.arrivals_ns.size() && load.arrivals_ns[seat.next] == now_ns;
         ++seat.next) {
      if (seat.player->Enters(seat.line, now_ns)) {
        seat.line.Push(now_ns);
      } else {
        ++seat.result.refused;
      }
    }
  }

  void End(int64_t now_ns) {
    const Batch& batch = running_[ends_.top().second];
    Seat& seat = seats_[batch.tenant];
    const int64_t latency_ns = tenants_[batch.tenant].machine.latency_ns;
    const auto late = static_cast<uint64_t>(
        std::count_if(batch.arrivals_ns.begin(), batch.arrivals_ns.end(),
                      [&](int64_t arrival_ns) { return now_ns - arrival_ns > latency_ns; }));
    const uint64_t kept = batch.arrivals_ns.size() - late;
    seat.result.late += late;
    seat.result.kept += kept;
    seat.player->Ended(batch.instance, static_cast<int64_t>(batch.arrivals_ns.size()),
                       now_ns - batch.begun_ns, now_ns);
    seat.player->Answered(kept, late);
    seat.idle.push_back(batch.instance);
    unused_.push_back(ends_.top().second);
    ends_.pop();
    ++free_;
  }

  // Executes a batch of the model whose turn it is, among those that want to execute.
  bool BeginOne(int64_t now_ns) {
    size_t first = seats_.size();
    size_t take = 0;
    int64_t turn_ns = kNever;
    for (size_t i = 0; i < seats_.size(); ++i) {
      Seat& seat = seats_[i];
      if (seat.idle.empty() || seat.line.size() == 0) {
        continue;
      }
      ObjectiveDecision decision;
      do {  // there may be more than it sees
        decision = seat.player->Decide(seat.idle.back(), seat.line, now_ns);
        seat.result.refused += decision.refuse;
        seat.line.Pop(decision.refuse);
      } while (decision.take == 0 && decision.refuse > 0 && seat.line.size() > 0);
      if (decision.take == 0) {
        wake_ns_ = std::min(wake_ns_, decision.wake_ns);
        continue;
      }
      const int64_t own_ns =
          turns_ == Turns::kFirstDue ? seat.player->LatestNs(seat.line) : seat.line[0];
      if (first == seats_.size() || own_ns < turn_ns) {
        first = i;
        take = decision.take;
        turn_ns = own_ns;
      }
    }
    if (first == seats_.size()) {
      return false;
    }
    Execute(first, take, now_ns);
    return true;
  }

  void Execute(size_t tenant, size_t take, int64_t now_ns) {
    Seat& seat = seats_[tenant];
    const Machine& machine = tenants_[tenant].machine;
    if (unused_.empty()) {
      unused_.push_back(running_.size());
      running_.emplace_back();
    }
    const size_t place = unused_.back();
    unused_.pop_back();
    Batch& batch = running_[place];
    batch = {.tenant = tenant, .instance = seat.idle.back(), .begun_ns = now_ns};
    seat.idle.pop_back();
    for (size_t i = 0; i < take; ++i) {
      batch.arrivals_ns.push_back(seat.line[i]);
    }
    seat.line.Pop(take);
    const auto rows = static_cast<int64_t>(take);
    const double cost = machine.TakesNs(rows, now_ns, chance_);
    seat.player->Began(batch.instance, rows, now_ns);
    ends_.emplace(now_ns + static_cast<int64_t>(cost) + 1, place);
    --free_;
  }

  using End_ = std::pair<int64_t, size_t>;
  const std::span<const Tenant> tenants_;
  uint32_t free_;
  const Turns turns_;
  Chance chance_;
  std::vector<Seat> seats_;
  std::vector<Batch> running_;
  std::vector<size_t> unused_;  // places of it
  std::priority_queue<End_, std::vector<End_>, std::greater<>> ends_;
  int64_t wake_ns_ = kNever;
};

double KeptShare(const Result& result) {
  return static_cast<double>(result.kept) /
         static_cast<double>(std::max<uint64_t>(result.offered, 1));
}

}  // namespace

std::vector<Result> PlayShared(std::span<const Tenant> tenants, uint32_t width, Turns turns,
                               const PlayerOf& player_of, uint64_t seed) {
  return SharedHistory(tenants, width, turns, player_of, seed).Run();
}

double LeastKept(std::span<const Result> results) {
  double least = 1;
  for (const Result& result : results) {
    least = std::min(least, KeptShare(result));
  }
  return least;
}

// All models have requests for as long as the rarest one.
std::vector<Tenant> Tenants(double times, size_t requests, uint64_t seed) {
  std::vector<Tenant> tenants;
  tenants.push_back({.machine = {.name = "quick",
                                 .costs = {{1, 1 * kMs}, {16, 2 * kMs}, {64, 6 * kMs}},
                                 .max_rows = 64,
                                 .latency_ns = 20'000'000}});
  for (const Machine& machine : Machines()) {
    if (machine.name == "minilm" || machine.name == "detector") {
      tenants.push_back({.machine = machine});
    }
  }
  tenants[1].machine.latency_ns = 50'000'000;
  tenants[2].machine.latency_ns = 200'000'000;
  const double share = times / static_cast<double>(tenants.size());
  double seconds = 0;
  for (Tenant& tenant : tenants) {
    tenant.machine.instances = kTenantsWidth;
    seconds =
        std::max(seconds, static_cast<double>(requests) / (share * tenant.machine.Capacity()));
  }
  for (Tenant& tenant : tenants) {
    const double rate = tenant.machine.Capacity();
    tenant.load = Poisson(rate, share, static_cast<size_t>(seconds * rate * share), seed++);
  }
  return tenants;
}

SharedContest HoldShared(double times, size_t requests, uint64_t seed) {
  const std::vector<Tenant> tenants = Tenants(times, requests, seed);
  const auto play = [&](Turns turns, const PlayerOf& player_of) {
    return PlayShared(tenants, kTenantsWidth, turns, player_of, seed);
  };
  SharedContest contest{.times = times,
                        .first_due = play(Turns::kFirstDue, NewObjective),
                        .first_come = play(Turns::kFirstCome, NewObjective)};
  for (const Tenant& tenant : tenants) {
    contest.names.push_back(tenant.machine.name);
  }
  for (const double timeout : {0.0, 0.25, 0.5, 0.75}) {
    for (const int64_t rows : {1, 4, 16, 64}) {
      const std::vector<Result> results = play(Turns::kFirstCome, [&](const Machine& machine) {
        const double timeout_ns = timeout * static_cast<double>(machine.latency_ns);
        return NewStatic(machine, {.preferred = std::min(rows, machine.max_rows),
                                   .timeout_ns = static_cast<int64_t>(timeout_ns)});
      });
      if (contest.settings.empty() || LeastKept(results) > LeastKept(contest.settings)) {
        contest.settings = results;
      }
    }
  }
  return contest;
}

std::vector<Bar> SharedBars(const SharedContest& feasible, const SharedContest& beyond) {
  const auto bar = [](std::string name, double found, double limit) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f", found);
    return Bar{.name = std::move(name), .found = text.data(), .met = found >= limit};
  };
  const double ours = LeastKept(beyond.first_due);
  return {bar("feasible: who keeps least keeps 0.99", LeastKept(feasible.first_due), 0.99),
          bar("beyond: who keeps least keeps 0.4", ours, 0.4),
          bar("beyond: 2.5 times that of who came first goes first",
              ours / std::max(LeastKept(beyond.first_come), 1e-9), 2.5),
          bar("beyond: 2.5 times that of the best static setting",
              ours / std::max(LeastKept(beyond.settings), 1e-9), 2.5)};
}

}  // namespace nereid::objective
