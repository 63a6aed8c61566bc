#include "test/objective/players.h"

#include <algorithm>

namespace nereid::objective {
namespace {

constexpr size_t kMostWaiting = 8192;

std::string Milliseconds(int64_t ns) {
  std::string text = std::to_string(static_cast<double>(ns) / 1e6);
  return text.substr(0, text.find('.') + 3) + "ms";
}

class Static : public Player {
 public:
  Static(const Machine& machine, const Setting& setting) : timeout_ns_(setting.timeout_ns) {
    policy_ = {.dynamic = true,
               .max_batch_size = setting.preferred,
               .max_queue_delay_ns = static_cast<uint64_t>(setting.delay_ns)};
    seen_.reserve(static_cast<size_t>(machine.max_rows) + 1);
  }

  bool Enters(const Line& line, int64_t /*now_ns*/) override { return line.size() < kMostWaiting; }

  ObjectiveDecision Decide(uint32_t /*instance*/, const Line& line, int64_t now_ns) override {
    ObjectiveDecision decision;
    while (timeout_ns_ > 0 && decision.refuse < line.size() &&
           line[decision.refuse] + timeout_ns_ <= now_ns) {
      ++decision.refuse;
    }
    seen_.clear();
    for (size_t i = decision.refuse;
         i < line.size() && seen_.size() <= static_cast<size_t>(policy_.max_batch_size); ++i) {
      seen_.push_back({.rows = 1, .enqueue_ns = line[i], .joins = true});
    }
    const BatchDecision chosen = DecideBatch(policy_, seen_, now_ns);
    decision.take = chosen.take;
    decision.wake_ns = chosen.wake_ns;
    return decision;
  }

 protected:
  BatchPolicy policy_;

 private:
  const int64_t timeout_ns_;
  std::vector<WaitingRequest> seen_;
};

class Objective final : public Player {
 public:
  explicit Objective(const Machine& machine)
      : machine_(machine),
        control_({.latency_ns = machine.latency_ns,
                  .max_rows = machine.max_rows,
                  .instances = machine.instances},
                 0.01),
        look_(static_cast<size_t>(machine.max_rows) * 4) {
    seen_.reserve(look_);
  }

  bool Enters(const Line& line, int64_t now_ns) override {
    control_.Arrived(1, now_ns);
    return control_.PredictAnswer(1, 0, static_cast<int64_t>(line.size()), now_ns) <=
           now_ns + machine_.latency_ns;
  }

  ObjectiveDecision Decide(uint32_t instance, const Line& line, int64_t now_ns) override {
    seen_.clear();
    for (size_t i = 0; i < line.size() && seen_.size() < look_; ++i) {
      seen_.push_back({.rows = 1, .due_ns = line[i] + machine_.latency_ns, .joins = true});
    }
    return control_.Decide(instance, 0, seen_, now_ns);
  }

  void Began(uint32_t instance, int64_t rows, int64_t now_ns) override {
    control_.Began(instance, rows, 0, now_ns);
  }
  void Ended(uint32_t instance, int64_t /*rows*/, int64_t /*duration_ns*/,
             int64_t now_ns) override {
    control_.Ended(instance, true, now_ns);
  }
  int64_t LatestNs(const Line& line) override {
    return line[0] + machine_.latency_ns - control_.PredictAlone(1, 0, 0);
  }
  void Answered(uint64_t kept, uint64_t late) override { control_.Answered(kept, late); }

 private:
  const Machine& machine_;
  ObjectiveControl control_;
  const size_t look_;
  std::vector<DueRequest> seen_;
};

}  // namespace

void Line::Pop(size_t count) {
  first_ += count;
  if (first_ > 4096 && first_ * 2 > times_.size()) {
    times_.erase(times_.begin(), times_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
}

std::string Setting::Name() const {
  return std::to_string(preferred) + " rows, delay " + Milliseconds(delay_ns) +
         (timeout_ns == 0 ? "" : ", timeout " + Milliseconds(timeout_ns));
}

std::vector<Setting> Settings(const Machine& machine) {
  std::vector<Setting> settings;
  for (const double timeout : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    for (int64_t rows = 1; rows <= machine.max_rows; rows *= 2) {
      for (const double delay : {0.0, 0.1, 0.25, 0.5}) {
        if (rows > 1 || delay == 0) {
          const auto latency = static_cast<double>(machine.latency_ns);
          settings.push_back({.preferred = rows,
                              .delay_ns = static_cast<int64_t>(delay * latency),
                              .timeout_ns = static_cast<int64_t>(timeout * latency)});
        }
      }
    }
  }
  return settings;
}

std::unique_ptr<Player> NewStatic(const Machine& machine, const Setting& setting) {
  return std::make_unique<Static>(machine, setting);
}
std::unique_ptr<Player> NewObjective(const Machine& machine) {
  return std::make_unique<Objective>(machine);
}

}  // namespace nereid::objective
