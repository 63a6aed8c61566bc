// Decides how requests are answered within an objective: pure functions of measurements and time.
#ifndef NEREID_CORE_OBJECTIVE_OBJECTIVE_POLICY_H_
#define NEREID_CORE_OBJECTIVE_OBJECTIVE_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "core/objective/cost_curve.h"

namespace nereid {

// The demands of an objective, and the resources for it.
struct ObjectiveTerms {
  int64_t latency_ns = 0;
  int64_t max_rows = 1;    // the most rows of an execution
  uint32_t instances = 1;  // the instances that can execute at the same time
};

// One waiting request, as the policy sees it, in the order in which the queue would serve it.
struct DueRequest {
  int64_t rows;
  int64_t due_ns;  // when it has to be answered
  bool joins;      // can run in one batch with the first that is taken
};

// The batch sizes for the present rate of requests.
struct BatchPlan {
  int64_t most_rows = 1;    // the most rows of a batch that leaves time for requests that come
                            // meanwhile
  int64_t proven_rows = 1;  // the same among sizes that were tried
  int64_t enough_rows = 1;  // rows at which batches keep up, so that waiting is useless
  int64_t hurry_ns = 0;     // time left for the first request at which a batch waits no longer
  double rows_per_ns = 0;   // the most that can be answered; 0: unknown
  double caution = 1;       // with which costs are judged: see CostCurve::BoundNs
  bool keeps_up = true;     // the batches answer as many requests as come
};

// `margin_ns` is kept free beside the known costs, and `outside_ns` as far as the caution goes.
// `loses`: admitted requests were late or refused.
BatchPlan PlanBatches(const CostCurve& curve, const ObjectiveTerms& terms, double arrivals_per_ns,
                      int64_t margin_ns, int64_t outside_ns = 0, bool loses = false);

// The first `refuse` requests cannot be answered in time, or only by making more others late; the
// `take` behind them run now. If `take` is 0, nothing runs before `wake_ns` unless more come.
struct ObjectiveDecision {
  size_t refuse = 0;
  size_t take = 0;
  int64_t wake_ns = kNever;
};

// Decides for an instance that is free now; `free_ns`: when each instance is free, this one first.
ObjectiveDecision DecideWithin(const BatchPlan& plan, const CostCurve& curve,
                               std::span<const DueRequest> waiting,
                               std::span<const int64_t> free_ns, int64_t margin_ns, int64_t now_ns);

// Predicts when a request that came now would be answered: behind `rows_ahead`, with instances that
// are free at `free_ns`, ascending.
int64_t PredictAnswer(const BatchPlan& plan, const CostCurve& curve, double arrivals_per_ns,
                      int64_t rows, int64_t rows_ahead, std::span<const int64_t> free_ns,
                      int64_t now_ns);

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_OBJECTIVE_POLICY_H_
