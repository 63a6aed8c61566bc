// Decides how requests are answered within an objective, from what is known and the time.
#ifndef NEREID_CORE_OBJECTIVE_OBJECTIVE_POLICY_H_
#define NEREID_CORE_OBJECTIVE_OBJECTIVE_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "core/objective/cost_curve.h"

namespace nereid {

// The demands of an objective, and the means that there are for it.
struct ObjectiveTerms {
  int64_t latency_ns = 0;
  int64_t max_rows = 1;    // of an execution
  uint32_t instances = 1;  // that can execute at the same time
};

// One waiting request, as the policy sees it, in the order in which the queue would serve it.
struct DueRequest {
  int64_t rows;
  int64_t due_ns;  // when it has to be answered
  bool joins;      // can run in one batch with the first that is taken
};

// The size of batches while requests come as often as they do.
struct BatchPlan {
  int64_t most_rows = 1;    // of one that leaves time for those that come meanwhile
  int64_t proven_rows = 1;  // the same of those that were tried
  int64_t enough_rows = 1;  // at which there is nothing to wait for: such batches keep up
  int64_t hurry_ns = 0;     // that the first has left, when no company is waited for any more
  double rows_per_ns = 0;   // that are answered at most; 0: nothing is known
  double caution = 1;       // with which costs are judged: see CostCurve::BoundNs
  bool keeps_up = true;     // with the requests that come
};

// `margin_ns` is kept free beside all that is known of costs, and of `outside_ns` as much as there
// is caution. `loses`: requests that were let in were late or refused.
BatchPlan PlanBatches(const CostCurve& curve, const ObjectiveTerms& terms, double arrivals_per_ns,
                      int64_t margin_ns, int64_t outside_ns = 0, bool loses = false);

// The first `refuse` requests cannot be answered in time, or only at the cost of more others; the
// `take` behind them run now. When it is 0, nothing runs before `wake_ns` unless more come.
struct ObjectiveDecision {
  size_t refuse = 0;
  size_t take = 0;
  int64_t wake_ns = kNever;
};

// For an instance that is free now; `free_ns`: when each of all instances is, this one first.
ObjectiveDecision DecideWithin(const BatchPlan& plan, const CostCurve& curve,
                               std::span<const DueRequest> waiting,
                               std::span<const int64_t> free_ns, int64_t margin_ns, int64_t now_ns);

// When a request would be answered that came now, as far as can be told: behind `rows_ahead`, with
// instances that are free at `free_ns`, ascending.
int64_t PredictAnswer(const BatchPlan& plan, const CostCurve& curve, double arrivals_per_ns,
                      int64_t rows, int64_t rows_ahead, std::span<const int64_t> free_ns,
                      int64_t now_ns);

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_OBJECTIVE_POLICY_H_
