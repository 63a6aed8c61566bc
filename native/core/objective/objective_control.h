// Measurements of a model with an objective: costs, rate of requests, share of late answers.
#ifndef NEREID_CORE_OBJECTIVE_OBJECTIVE_CONTROL_H_
#define NEREID_CORE_OBJECTIVE_OBJECTIVE_CONTROL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/objective/cost_curves.h"
#include "core/objective/objective_policy.h"

namespace nereid {

// Records events, and calls the policy with the measurements. Not synchronised: the queue's mutex
// guards it. It reads no clock, and allocates only for new row sizes, which stay unknown if memory
// is lacking.
class ObjectiveControl {
 public:
  // `missing`: the share of the answers that may be late. `kinds`: one for each instance; instances
  // of equal kind take the same time; empty: all do. There may be more instances than execute at
  // the same time.
  ObjectiveControl(const ObjectiveTerms& terms, double missing, std::vector<uint32_t> kinds = {});

  // Adds a known cost.
  void Begin(const nrd_cost_point& cost) { curves_.Of(cost.kind, cost.row_elements).Begin(cost); }

  // Notes that a request came, admitted or not.
  void Arrived(int64_t rows, int64_t now_ns);
  // When a request would be answered; 0: it is to be executed to find out.
  int64_t PredictAnswer(int64_t rows, uint64_t row_elements, int64_t rows_ahead, int64_t now_ns);
  // The same if executed now and alone; and the least time that such an execution may take.
  int64_t PredictAlone(int64_t rows, uint64_t row_elements, int64_t now_ns);
  int64_t LeastNs(int64_t rows, uint64_t row_elements);
  // `row_elements`: the row size of the first waiting request.
  ObjectiveDecision Decide(uint32_t instance, uint64_t row_elements,
                           std::span<const DueRequest> waiting, int64_t now_ns);
  // True if a request that came to an idle instance is to run there at once.
  bool RunsAtOnce(int64_t rows, uint64_t row_elements, int64_t due_ns, int64_t now_ns);

  // The instance begins and ends an execution; `measures`: its duration is to be learned.
  void Began(uint32_t instance, int64_t rows, uint64_t row_elements, int64_t now_ns);
  void Ended(uint32_t instance, bool measures, int64_t now_ns);
  // Counts answers of the last execution, or of a request that is answered before the others.
  void Answered(uint64_t kept, uint64_t late);
  // Notes the time of a request before its arrival here and after its answer.
  void Sent(uint64_t outside_ns);

  // Reads the present decisions, with `waiting_rows` in the queue.
  void Read(int64_t waiting_rows, int64_t now_ns, nrd_objective_stats* stats_out);
  uint32_t ReadCurve(nrd_cost_point* points_out, uint32_t capacity) const {
    return curves_.Read(points_out, capacity);
  }
  [[nodiscard]] const BatchPlan& plan() const { return plan_; }

 private:
  struct Execution {
    int64_t rows = 0;  // 0: none
    uint64_t row_elements = 0;
    int64_t begun_ns = 0;
  };

  [[nodiscard]] double ArrivalsPerNs(int64_t now_ns) const;
  [[nodiscard]] int64_t margin_ns() const {
    return static_cast<int64_t>(margin_ns_ + std::max(plan_.caution, 0.0) * outside_ns_);
  }
  [[nodiscard]] uint32_t KindOf(uint32_t instance) const {
    return kinds_.empty() ? 0 : kinds_[instance];
  }
  [[nodiscard]] bool SomeExecute() const;
  [[nodiscard]] bool IsTimeToProbe(int64_t now_ns) const;
  void TryMoreRows(const CostCurve& curve, std::span<const DueRequest> waiting,
                   ObjectiveDecision* decision);
  void Replan(const CostCurve& curve, int64_t now_ns);
  void Lost(uint64_t lost, uint64_t others);

  const ObjectiveTerms terms_;
  const double missing_;
  const std::vector<uint32_t> kinds_;
  const double while_ns_;  // time over which arrivals are averaged
  CostCurves curves_;
  BatchPlan plan_;
  const CostCurve* planned_ = nullptr;  // the curve of the plan, and when it was made
  int64_t planned_ns_ = 0;
  double margin_ns_;
  double outside_ns_ = 0;  // quantile of the time outside that leaves the allowed share late
  double lost_ = 0;        // share of the requests that were late, or refused while they waited
  double arrivals_ = 0;    // recent rows, older ones weighted less
  int64_t arrived_ns_ = 0;
  int64_t ended_ns_ = 0;  // end and duration of the last execution
  int64_t took_ns_ = 0;
  bool overran_ = false;            // the last execution was too long for any margin
  int64_t since_try_ = 0;           // executions
  std::vector<Execution> running_;  // by instance
  std::vector<int64_t> free_ns_;    // by instance, expected; 0: free now
  std::vector<int64_t> ordered_;    // scratch: free_ns_ in another order
};

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_OBJECTIVE_CONTROL_H_
