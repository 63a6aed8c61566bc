#include <algorithm>
#include <queue>

#include "test/objective/players.h"

namespace nereid::objective {
namespace {

// The first executions of a number of rows are cold.
constexpr uint64_t kCold = 2;

// One simulated history: discrete events without a clock.
class History {
 public:
  History(const Machine& machine, const Load& load, Player& player, uint64_t seed)
      : machine_(machine),
        load_(load),
        player_(player),
        chance_(seed),
        batches_(machine.instances) {
    for (uint32_t i = machine.instances; i-- > 0;) {
      idle_.push_back(i);
    }
  }

  Result Run() {
    result_.offered = load_.arrivals_ns.size();
    while (next_ < load_.arrivals_ns.size() || !ends_.empty() || line_.size() > 0) {
      const int64_t arrival_ns =
          next_ < load_.arrivals_ns.size() ? load_.arrivals_ns[next_] : kNever;
      const int64_t end_ns = ends_.empty() ? kNever : ends_.top().first;
      const int64_t now_ns = std::min({arrival_ns, end_ns, wake_ns_});
      if (end_ns == now_ns) {
        End(now_ns);
      } else if (arrival_ns == now_ns) {
        Arrive(now_ns);
        ++next_;
      }
      Begin(now_ns);
    }
    SetQuantiles();
    return result_;
  }

 private:
  void Arrive(int64_t now_ns) {
    if (player_.Enters(line_, now_ns)) {
      line_.Push(now_ns);
    } else {
      ++result_.refused;
    }
  }

  void End(int64_t now_ns) {
    const uint32_t instance = ends_.top().second;
    ends_.pop();
    std::vector<int64_t>& batch = batches_[instance];
    uint64_t late = 0;
    for (const int64_t arrival_ns : batch) {
      const int64_t took_ns = now_ns - arrival_ns;
      took_.push_back(took_ns);
      late += took_ns > machine_.latency_ns ? 1 : 0;
    }
    result_.late += late;
    result_.kept += batch.size() - late;
    player_.Ended(instance, static_cast<int64_t>(batch.size()), now_ns - begun_[instance], now_ns);
    player_.Answered(batch.size() - late, late);
    idle_.push_back(instance);
  }

  void Begin(int64_t now_ns) {
    wake_ns_ = kNever;
    while (!idle_.empty() && line_.size() > 0) {
      const uint32_t instance = idle_.back();
      const ObjectiveDecision decision = player_.Decide(instance, line_, now_ns);
      result_.refused += decision.refuse;
      line_.Pop(decision.refuse);
      if (decision.take == 0) {
        if (decision.refuse > 0) {
          continue;  // there may be more than it saw
        }
        wake_ns_ = decision.wake_ns;
        return;
      }
      idle_.pop_back();
      std::vector<int64_t>& batch = batches_[instance];
      batch.clear();
      for (size_t i = 0; i < decision.take; ++i) {
        batch.push_back(line_[i]);
      }
      line_.Pop(decision.take);
      const auto rows = static_cast<int64_t>(batch.size());
      const bool cold = executed_[static_cast<size_t>(rows)]++ < kCold;
      const double cost = machine_.TakesNs(rows, now_ns, chance_) * load_.SlownessAt(now_ns) *
                          (cold ? machine_.cold_times : 1);
      begun_[instance] = now_ns;
      player_.Began(instance, rows, now_ns);
      ends_.emplace(EndOf(now_ns, cost), instance);
      ++executions_;
    }
  }

  // Requests that arrive meanwhile use the processors, too.
  [[nodiscard]] int64_t EndOf(int64_t begin_ns, double cost_ns) const {
    int64_t end_ns = begin_ns + static_cast<int64_t>(cost_ns) + 1;
    for (size_t i = next_; i < load_.arrivals_ns.size() && load_.arrivals_ns[i] < end_ns; ++i) {
      end_ns += machine_.arrival_ns;
    }
    return end_ns;
  }

  void SetQuantiles() {
    if (took_.empty()) {
      return;
    }
    const auto quantile = [this](double share) {
      const auto at = static_cast<size_t>(share * static_cast<double>(took_.size() - 1));
      std::nth_element(took_.begin(), took_.begin() + static_cast<ptrdiff_t>(at), took_.end());
      return static_cast<double>(took_[at]) / 1e6;
    };
    result_.p50_ms = quantile(0.5);
    result_.p99_ms = quantile(0.99);
    result_.batch = static_cast<double>(took_.size()) / static_cast<double>(executions_);
  }

  using End_ = std::pair<int64_t, uint32_t>;
  const Machine& machine_;
  const Load& load_;
  Player& player_;
  Chance chance_;
  Line line_;
  size_t next_ = 0;  // arrival
  std::vector<uint32_t> idle_;
  std::vector<std::vector<int64_t>> batches_;
  std::vector<int64_t> begun_ = std::vector<int64_t>(batches_.size());
  std::priority_queue<End_, std::vector<End_>, std::greater<>> ends_;
  std::vector<uint64_t> executed_ = std::vector<uint64_t>(  // by rows
      static_cast<size_t>(machine_.max_rows) + 1);
  int64_t wake_ns_ = kNever;
  std::vector<int64_t> took_;
  uint64_t executions_ = 0;
  Result result_;
};

}  // namespace

Result Play(const Machine& machine, const Load& load, Player& player, uint64_t seed) {
  return History(machine, load, player, seed).Run();
}

}  // namespace nereid::objective
