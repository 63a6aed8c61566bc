// What a model with an objective knows: costs, how often requests come, and how well it does.
#ifndef NEREID_CORE_OBJECTIVE_CONTROL_H_
#define NEREID_CORE_OBJECTIVE_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cost_curve.h"
#include "core/objective_policy.h"

namespace nereid {

// Takes note of what happens, and asks the policy with what it knows by then. Not synchronised:
// whoever guards the queue guards this. It reads no clock. Nothing allocates but the constructor.
class ObjectiveControl {
 public:
  // `missing`: the share of the answers that may be late.
  ObjectiveControl(const ObjectiveTerms& terms, double missing);

  // A request came, whether it enters or not.
  void Arrived(int64_t rows, int64_t now_ns);
  // When it would be answered; 0: nobody knows.
  [[nodiscard]] int64_t PredictAnswer(int64_t rows, int64_t rows_ahead, int64_t now_ns);
  ObjectiveDecision Decide(uint32_t instance, std::span<const DueRequest> waiting, int64_t now_ns);

  // The instance executes from now on, and does no more; how many of the requests were late.
  void Began(uint32_t instance, int64_t rows, int64_t now_ns);
  void Ended(uint32_t instance, int64_t rows, int64_t duration_ns);
  void Answered(uint64_t kept, uint64_t late);

  [[nodiscard]] const BatchPlan& plan() const { return plan_; }
  [[nodiscard]] const CostCurve& curve() const { return curve_; }
  [[nodiscard]] int64_t margin_ns() const { return static_cast<int64_t>(margin_ns_); }
  CostCurve& curve() { return curve_; }

 private:
  void Replan(int64_t now_ns);

  const ObjectiveTerms terms_;
  const double missing_;
  CostCurve curve_;
  BatchPlan plan_;
  double margin_ns_ = 0;
  double arrivals_ = 0;  // rows of the last while, older ones counted less
  double while_ns_;
  int64_t arrived_ns_ = 0;
  int64_t planned_ns_ = 0;
  std::vector<int64_t> free_ns_;    // when each is expected to be free; 0: it is
  std::vector<int64_t> ascending_;  // scratch: the same, in another order
};

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_CONTROL_H_
