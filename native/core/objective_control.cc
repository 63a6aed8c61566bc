#include "core/objective_control.h"

#include <algorithm>
#include <cmath>

namespace nereid {
namespace {

// Arrivals of so many latencies are averaged.
constexpr double kWhile = 3;
constexpr double kLeastMargin = 0.005;  // of the latency
constexpr double kMostMargin = 0.3;
constexpr double kMarginStep = 0.01;

}  // namespace

ObjectiveControl::ObjectiveControl(const ObjectiveTerms& terms, double missing)
    : terms_(terms),
      missing_(missing),
      curve_(terms.max_rows),
      margin_ns_(kLeastMargin * 4 * static_cast<double>(terms.latency_ns)),
      while_ns_(kWhile * static_cast<double>(terms.latency_ns)),
      free_ns_(terms.instances),
      ascending_(terms.instances) {}

void ObjectiveControl::Arrived(int64_t rows, int64_t now_ns) {
  const auto passed = static_cast<double>(std::max<int64_t>(now_ns - arrived_ns_, 0));
  arrivals_ = arrivals_ * std::exp(-passed / while_ns_) + static_cast<double>(rows);
  arrived_ns_ = now_ns;
}

void ObjectiveControl::Replan(int64_t now_ns) {
  const auto passed = static_cast<double>(std::max<int64_t>(now_ns - arrived_ns_, 0));
  const double rate = arrivals_ * std::exp(-passed / while_ns_) / while_ns_;
  plan_ = PlanBatches(curve_, terms_, rate, margin_ns());
}

int64_t ObjectiveControl::PredictAnswer(int64_t rows, int64_t rows_ahead, int64_t now_ns) {
  if (!curve_.known()) {
    return 0;
  }
  if (now_ns - planned_ns_ > terms_.latency_ns / 16) {
    planned_ns_ = now_ns;
    Replan(now_ns);
  }
  std::copy(free_ns_.begin(), free_ns_.end(), ascending_.begin());
  std::sort(ascending_.begin(), ascending_.end());
  return nereid::PredictAnswer(plan_, curve_, arrivals_ / while_ns_, rows, rows_ahead, ascending_,
                               now_ns);
}

ObjectiveDecision ObjectiveControl::Decide(uint32_t instance, std::span<const DueRequest> waiting,
                                           int64_t now_ns) {
  if (waiting.empty()) {
    return {};
  }
  if (!curve_.known()) {
    return {.take = 1, .wake_ns = now_ns};
  }
  planned_ns_ = now_ns;
  Replan(now_ns);
  std::copy(free_ns_.begin(), free_ns_.end(), ascending_.begin());
  std::swap(ascending_[0], ascending_[instance]);
  return DecideWithin(plan_, curve_, waiting, ascending_, margin_ns(), now_ns);
}

void ObjectiveControl::Began(uint32_t instance, int64_t rows, int64_t now_ns) {
  free_ns_[instance] = now_ns + curve_.MeanNs(rows) + 1;
}

void ObjectiveControl::Ended(uint32_t instance, int64_t rows, int64_t duration_ns) {
  free_ns_[instance] = 0;
  curve_.Measured(rows, duration_ns);
}

// Late answers widen the margin and others narrow it, so that it rests where as many are late as
// may be; half of them, to be on the safe side.
void ObjectiveControl::Answered(uint64_t kept, uint64_t late) {
  if (kept + late == 0) {
    return;
  }
  const auto latency = static_cast<double>(terms_.latency_ns);
  const double share = static_cast<double>(late) / static_cast<double>(kept + late);
  margin_ns_ += kMarginStep * latency * (share - missing_ / 2);
  margin_ns_ = std::clamp(margin_ns_, kLeastMargin * latency, kMostMargin * latency);
}

}  // namespace nereid
