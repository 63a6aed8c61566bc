#include "core/objective/objective_control.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nereid {
namespace {

constexpr double kWhile = 3;  // latencies
constexpr double kFirstMargin = 0.02;
constexpr double kLeastMargin = 0.005;
constexpr double kMostMargin = 0.3;
constexpr double kMarginStep = 0.01;
// The estimate of the time outside moves in steps of a tenth, or of the least relevant time.
constexpr double kOutsideStep = 0.1;
constexpr double kLeastOutside = 0.001;
constexpr double kMostOutside = 0.3;
// A plan is valid for this fraction of the latency.
constexpr int64_t kPlansOfLatency = 32;
// If more throughput is needed, one of so many executions tries an uncertain, larger size.
constexpr int kTryEvery = 8;
// The share of answers that may be late if the objective cannot be kept with full caution.
constexpr double kLateWithoutCaution = 0.5;
// Requests count as lost if more than this share of the admitted ones is late or refused.
constexpr double kLoses = 0.003;
constexpr double kLostGain = 1.0 / 64;
// The caution with which an idle instance judges which requests could be answered at best.
constexpr double kBestCase = -1;

}  // namespace

ObjectiveControl::ObjectiveControl(const ObjectiveTerms& terms, double missing,
                                   std::vector<uint32_t> kinds)
    : terms_(terms),
      missing_(missing),
      kinds_(std::move(kinds)),
      while_ns_(kWhile * static_cast<double>(terms.latency_ns)),
      curves_(terms.max_rows),
      margin_ns_(kFirstMargin * static_cast<double>(terms.latency_ns)),
      running_(std::max<size_t>(kinds_.size(), terms.instances)),
      free_ns_(running_.size()),
      ordered_(running_.size()) {}

void ObjectiveControl::Arrived(int64_t rows, int64_t now_ns) {
  arrivals_ = ArrivalsPerNs(now_ns) * while_ns_ + static_cast<double>(rows);
  arrived_ns_ = std::max(arrived_ns_, now_ns);
}

double ObjectiveControl::ArrivalsPerNs(int64_t now_ns) const {
  const auto passed = static_cast<double>(std::max<int64_t>(now_ns - arrived_ns_, 0));
  return arrivals_ * std::exp(-passed / while_ns_) / while_ns_;
}

void ObjectiveControl::Replan(const CostCurve& curve, int64_t now_ns) {
  if (planned_ == &curve && now_ns - planned_ns_ < terms_.latency_ns / kPlansOfLatency) {
    return;
  }
  planned_ = &curve;
  planned_ns_ = now_ns;
  plan_ = PlanBatches(curve, terms_, ArrivalsPerNs(now_ns), static_cast<int64_t>(margin_ns_),
                      static_cast<int64_t>(outside_ns_), lost_ > kLoses);
}

bool ObjectiveControl::SomeExecute() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Execution& execution) { return execution.rows > 0; });
}

// If nothing was executed for a latency, nor for the time of the last execution, a request that
// seems impossible is executed as a probe, which costs no other request.
bool ObjectiveControl::IsTimeToProbe(int64_t now_ns) const {
  return now_ns - ended_ns_ > std::max(terms_.latency_ns, took_ns_) && !SomeExecute();
}

// Few executions, slow by chance, may suggest that more rows do not pay. If fewer requests are
// answered than come, some batches therefore get twice the rows, even if they may be late.
void ObjectiveControl::TryMoreRows(const CostCurve& curve, std::span<const DueRequest> waiting,
                                   ObjectiveDecision* decision) {
  if ((plan_.keeps_up && plan_.caution == 1) || ++since_try_ < kTryEvery) {
    return;
  }
  const int64_t most = std::min(plan_.proven_rows * 2, terms_.max_rows);
  int64_t rows = 0;
  size_t take = 0;
  for (const DueRequest& request : waiting.subspan(decision->refuse)) {
    if ((take > 0 && !request.joins) || rows + request.rows > most) {
      break;
    }
    rows += request.rows;
    ++take;
  }
  if (take > decision->take && rows > plan_.proven_rows &&
      static_cast<double>(since_try_) * curve.DoubtOf(rows) >= kTryEvery) {
    decision->take = take;
    since_try_ = 0;
  }
}

int64_t ObjectiveControl::PredictAnswer(int64_t rows, uint64_t row_elements, int64_t rows_ahead,
                                        int64_t now_ns) {
  const CostCurve& curve = curves_.At(KindOf(0), row_elements);
  if (!curve.known() || (rows_ahead == 0 && IsTimeToProbe(now_ns))) {
    return 0;
  }
  Replan(curve, now_ns);
  std::copy(free_ns_.begin(), free_ns_.end(), ordered_.begin());
  std::sort(ordered_.begin(), ordered_.end());
  const int64_t answer_ns =
      nereid::PredictAnswer(plan_, curve, ArrivalsPerNs(now_ns), rows, rows_ahead,
                            std::span(ordered_).last(terms_.instances), now_ns);
  return rows_ahead == 0 && !SomeExecute()
             ? std::min(answer_ns, now_ns + curve.BoundNs(rows, kBestCase))
             : answer_ns;
}

int64_t ObjectiveControl::PredictAlone(int64_t rows, uint64_t row_elements, int64_t now_ns) {
  return now_ns + margin_ns() + curves_.At(KindOf(0), row_elements).BoundNs(rows, plan_.caution);
}

int64_t ObjectiveControl::LeastNs(int64_t rows, uint64_t row_elements) {
  return curves_.At(KindOf(0), row_elements).BoundNs(rows, std::min(plan_.caution, 0.0));
}

ObjectiveDecision ObjectiveControl::Decide(uint32_t instance, uint64_t row_elements,
                                           std::span<const DueRequest> waiting, int64_t now_ns) {
  if (waiting.empty()) {
    return {};
  }
  const CostCurve& curve = curves_.At(KindOf(instance), row_elements);
  if (!curve.known()) {
    return {.take = 1, .wake_ns = now_ns};
  }
  Replan(curve, now_ns);
  std::copy(free_ns_.begin(), free_ns_.end(), ordered_.begin());
  std::swap(ordered_[0], ordered_[instance]);
  ObjectiveDecision decision = DecideWithin(
      plan_, curve, waiting, std::span(ordered_).first(terms_.instances), margin_ns(), now_ns);
  if (decision.refuse > 0 && decision.take == 0 && IsTimeToProbe(now_ns)) {
    return {.take = 1, .wake_ns = now_ns};
  }
  if (decision.refuse == 1 && waiting.size() == 1 && !SomeExecute()) {
    BatchPlan best = plan_;
    best.caution = kBestCase;
    decision =
        DecideWithin(best, curve, waiting, std::span(ordered_).first(terms_.instances), 0, now_ns);
  }
  Lost(decision.refuse, decision.take);
  if (decision.take > 0) {
    TryMoreRows(curve, waiting, &decision);
  }
  return decision;
}

bool ObjectiveControl::RunsAtOnce(int64_t rows, uint64_t row_elements, int64_t due_ns,
                                  int64_t now_ns) {
  const CostCurve& curve = curves_.At(KindOf(0), row_elements);
  if (!curve.known()) {
    return false;
  }
  Replan(curve, now_ns);
  const bool waits = plan_.hurry_ns > 0 || SomeExecute();
  return now_ns + margin_ns() + curve.BoundNs(rows, plan_.caution) <= due_ns &&
         (rows >= plan_.enough_rows || !waits);
}

void ObjectiveControl::Began(uint32_t instance, int64_t rows, uint64_t row_elements,
                             int64_t now_ns) {
  running_[instance] = {.rows = rows, .row_elements = row_elements, .begun_ns = now_ns};
  free_ns_[instance] = now_ns + curves_.At(KindOf(instance), row_elements).MeanNs(rows) + 1;
}

void ObjectiveControl::Ended(uint32_t instance, bool measures, int64_t now_ns) {
  const Execution execution = std::exchange(running_[instance], {});
  const int64_t expected_ns = std::exchange(free_ns_[instance], 0);
  overran_ = execution.rows > 0 && static_cast<double>(now_ns - expected_ns) >
                                       kMostMargin * static_cast<double>(terms_.latency_ns);
  ended_ns_ = now_ns;
  took_ns_ = now_ns - execution.begun_ns;
  if (measures && execution.rows > 0) {
    if (CostCurve* const curve = curves_.Find(KindOf(instance), execution.row_elements)) {
      curve->Measured(execution.rows, now_ns - execution.begun_ns);
    }
  }
}

void ObjectiveControl::Lost(uint64_t lost, uint64_t others) {
  if (lost + others > 0) {
    const double share = static_cast<double>(lost) / static_cast<double>(lost + others);
    lost_ += kLostGain * (share - lost_);
  }
}

// Late answers widen the margin and others narrow it, so that it settles where half of the allowed
// share is late. With less caution, more late answers are expected. An execution longer than any
// margin does not widen it.
void ObjectiveControl::Answered(uint64_t kept, uint64_t late) {
  Lost(late, kept);
  if (std::exchange(overran_, false) || kept + late == 0) {
    return;
  }
  const auto latency = static_cast<double>(terms_.latency_ns);
  const double share = static_cast<double>(late) / static_cast<double>(kept + late);
  const double expected = plan_.caution < 1 ? kLateWithoutCaution : missing_ / 2;
  margin_ns_ += kMarginStep * latency * (share - expected);
  margin_ns_ = std::clamp(margin_ns_, kLeastMargin * latency, kMostMargin * latency);
}

// Raises the estimate for a request that spent longer outside, and lowers it for others, so that it
// settles at the objective's quantile.
void ObjectiveControl::Sent(uint64_t outside_ns) {
  const auto latency = static_cast<double>(terms_.latency_ns);
  const double above = static_cast<double>(outside_ns) > outside_ns_ ? 1 : 0;
  outside_ns_ += kOutsideStep * std::max(outside_ns_, kLeastOutside * latency) * (above - missing_);
  outside_ns_ = std::clamp(outside_ns_, 0.0, kMostOutside * latency);
}

// Makes no plan before a request came, if rows differ in size.
void ObjectiveControl::Read(int64_t waiting_rows, int64_t now_ns, nrd_objective_stats* stats_out) {
  const CostCurve* const curve = planned_ == nullptr ? curves_.Find(KindOf(0), 0) : planned_;
  if (curve != nullptr) {
    Replan(*curve, now_ns);
  }
  stats_out->outside_ns = static_cast<uint64_t>(outside_ns_);
  stats_out->max_rows = static_cast<uint64_t>(plan_.most_rows);
  if (curve != nullptr && terms_.instances > 1 && plan_.enough_rows > 1) {
    stats_out->wait_ns = static_cast<uint64_t>(std::max<int64_t>(
        terms_.latency_ns - margin_ns() - curve->BoundNs(plan_.enough_rows, plan_.caution), 0));
  }
  if (plan_.rows_per_ns > 0) {
    stats_out->rows_per_second = static_cast<uint64_t>(plan_.rows_per_ns * 1e9);
    int64_t busy_ns = 0;
    for (const int64_t free_ns : free_ns_) {
      busy_ns += std::max<int64_t>(free_ns - now_ns, 0);
    }
    stats_out->backlog_ns =
        static_cast<uint64_t>(static_cast<double>(waiting_rows) / plan_.rows_per_ns) +
        static_cast<uint64_t>(busy_ns) / terms_.instances;
  }
}

}  // namespace nereid
