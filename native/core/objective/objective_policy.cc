#include "core/objective/objective_policy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nereid {
namespace {

// A batch size keeps up if it answers this many times the average rate of requests.
constexpr double kHeadroom = 1.05;
// The same for wild executions, of which fewer mean fewer late ones. Costs are judged with
// kWildCaution, and of batch sizes whose throughput is nearly the best the largest is taken, since
// the difference is uncertain.
constexpr double kWildHeadroom = 4;
constexpr double kWildCaution = -1;
constexpr double kNearly = 0.8;
// With wild executions, the least and the most part of the latency, and the most executions, that a
// request may wait.
constexpr double kPatience = 0.3;
constexpr double kMostPatience = 0.5;
constexpr double kMostWait = 4;
// About the number of choices of requests to leave out that are compared.
constexpr size_t kMostLooks = 64;

double MeanOf(const CostCurve& curve, int64_t rows) {
  return std::max(static_cast<double>(curve.MeanNs(rows)), 1.0);
}

// Calls `look` with sizes that are worth comparing, ascending, up to `most`.
template <typename Look>
void ForSizes(int64_t most, Look&& look) {
  for (int64_t rows = 1; rows < most; rows += std::max<int64_t>(1, rows / 8)) {
    look(rows);
  }
  look(most);
}

// The longest batch from the front of `waiting` whose requests are all answered in time.
struct Batch {
  size_t count = 0;
  int64_t rows = 0;
  int64_t due_ns = kNever;
};

Batch LongestWithin(const BatchPlan& plan, const CostCurve& curve,
                    std::span<const DueRequest> waiting, int64_t begin_ns) {
  Batch batch;
  for (const DueRequest& request : waiting) {
    const int64_t rows = batch.rows + request.rows;
    const int64_t due_ns = std::min(batch.due_ns, request.due_ns);
    if (batch.count > 0 && (!request.joins || rows > plan.most_rows ||
                            begin_ns + curve.BoundNs(rows, plan.caution) > due_ns)) {
      break;
    }
    batch = {.count = batch.count + 1, .rows = rows, .due_ns = due_ns};
  }
  return batch;
}

// True if all can be answered in time by the instances in turn, as they become free.
bool AllWithin(const BatchPlan& plan, const CostCurve& curve, std::span<const DueRequest> waiting,
               std::span<const int64_t> free_ns, int64_t margin_ns, int64_t now_ns) {
  std::array<int64_t, 16> free{};
  const size_t instances = std::min(free_ns.size(), free.size());
  std::copy_n(free_ns.begin(), instances, free.begin());
  while (!waiting.empty()) {
    int64_t& next_ns = *std::min_element(free.begin(), free.begin() + instances);
    next_ns = std::max(next_ns, now_ns);
    const Batch batch = LongestWithin(plan, curve, waiting, next_ns + margin_ns);
    if (next_ns + margin_ns + curve.BoundNs(batch.rows, plan.caution) > batch.due_ns) {
      return false;
    }
    next_ns += curve.MeanNs(batch.rows);
    waiting = waiting.subspan(batch.count);
  }
  return true;
}

// The share of the first `rows` of all `rows_left` that is likely to be in time in one batch: all
// of them, unless the request with the least time may be late.
double Likely(const BatchPlan& plan, const CostCurve& curve, std::span<const DueRequest> waiting,
              int64_t rows_left, int64_t rows, int64_t begin_ns) {
  if (plan.caution > 0) {
    return 1;
  }
  const auto count = static_cast<int64_t>(waiting.size());
  const auto last = static_cast<size_t>((rows * count - 1) / rows_left);
  return (curve.ShareWithin(rows, waiting.front().due_ns - begin_ns) +
          curve.ShareWithin(rows, waiting[last].due_ns - begin_ns)) /
         2;
}

// When some cannot be answered whatever is done, leaving out those with the least time lets a batch
// be larger, and more of it likely to be in time. The gain is the number of answers beyond those of
// the same time otherwise.
size_t WorthLeavingOut(const BatchPlan& plan, const CostCurve& curve,
                       std::span<const DueRequest> waiting, size_t instances, int64_t begin_ns) {
  const double price = plan.rows_per_ns / static_cast<double>(instances);
  const size_t step = std::max<size_t>(1, waiting.size() / kMostLooks);
  int64_t rows_left = 0;
  for (const DueRequest& request : waiting) {
    rows_left += request.rows;
  }
  size_t best = 0;
  double best_worth = 0;
  for (size_t i = 0; i < waiting.size(); rows_left -= waiting[i++].rows) {
    if (i % step != 0) {
      continue;
    }
    const int64_t left_ns = waiting[i].due_ns - begin_ns;
    const int64_t possible = curve.RowsWithin(left_ns, plan.most_rows, plan.caution);
    const int64_t rows = std::min(std::max(possible, waiting[i].rows), rows_left);
    const double likely = Likely(plan, curve, waiting.subspan(i), rows_left, rows, begin_ns);
    const double worth = static_cast<double>(rows) * likely - price * MeanOf(curve, rows);
    if (i == 0 || worth > best_worth) {
      best = i;
      best_worth = worth;
    }
    if (likely == 1 && (rows == rows_left || rows >= plan.most_rows)) {
      break;
    }
  }
  return best;
}

// Plans the sizes for a given caution.
BatchPlan PlanWith(double caution, const CostCurve& curve, const ObjectiveTerms& terms,
                   double arrivals_per_ns, double latency) {
  BatchPlan plan{.caution = caution};
  const double instances = terms.instances;
  const double nearly = curve.wild() ? kNearly : 1;
  double best = 0;
  ForSizes(std::min(terms.max_rows, curve.most_rows()), [&](int64_t rows) {
    const auto count = static_cast<double>(rows);
    const auto bound = static_cast<double>(curve.BoundNs(rows, caution));
    const double rate = instances * count / MeanOf(curve, rows);
    const double gathering = arrivals_per_ns > 0 ? count / arrivals_per_ns : latency;
    if (bound + std::min(bound / instances, gathering) > latency) {
      return;
    }
    if (rate > best * nearly) {
      plan.most_rows = rows;
    }
    best = std::max(best, rate);
    if (rows <= curve.proven_rows() && rate > plan.rows_per_ns * nearly) {
      plan.rows_per_ns = std::max(plan.rows_per_ns, rate);
      plan.proven_rows = rows;
    }
  });
  plan.keeps_up = plan.rows_per_ns >= arrivals_per_ns;
  return plan;
}

// Plans sizes that fit on average; which requests can be in time is decided elsewhere.
BatchPlan PlanWild(const CostCurve& curve, const ObjectiveTerms& terms, double arrivals_per_ns,
                   double left, bool loses) {
  BatchPlan plan = PlanWith(0, curve, terms, arrivals_per_ns, left);
  plan.caution = kWildCaution;
  if (!loses) {
    return plan;
  }
  const auto latency = static_cast<double>(terms.latency_ns);
  const double high = static_cast<double>(curve.HighNs(plan.most_rows));
  const double patience = std::clamp(1 - high / latency, kPatience, kMostPatience);
  const double wait = std::min(patience * latency, kMostWait * MeanOf(curve, plan.most_rows));
  plan.hurry_ns = static_cast<int64_t>(latency - wait);
  return plan;
}

}  // namespace

// A batch may take as long as its requests have left, when they have waited for the batches before
// it: for one of each instance in turn, or, when there are more requests than can be answered, just
// until there are enough of them.
//
// Caution is reduced in steps if not even a single request is sure to be in time, and dropped at
// once if executions are wild, because it would refuse requests that are most likely in time.
BatchPlan PlanBatches(const CostCurve& curve, const ObjectiveTerms& terms, double arrivals_per_ns,
                      int64_t margin_ns, int64_t outside_ns, bool loses) {
  BatchPlan plan;
  if (!curve.known()) {
    return plan;
  }
  const auto left = static_cast<double>(terms.latency_ns - margin_ns);
  if (curve.wild()) {
    plan = PlanWild(curve, terms, arrivals_per_ns, left, loses);
  } else {
    for (const double caution : {1.0, 0.5, 0.25, 0.0}) {
      const double latency = left - caution * static_cast<double>(outside_ns);
      plan = PlanWith(caution, curve, terms, arrivals_per_ns, latency);
      const bool alone = static_cast<double>(curve.BoundNs(1, caution)) <= latency;
      if (alone && (plan.keeps_up || caution == 1)) {
        break;
      }
    }
  }
  const double headroom = plan.hurry_ns > 0 ? kWildHeadroom : kHeadroom;
  plan.enough_rows = plan.most_rows;
  ForSizes(plan.most_rows, [&](int64_t rows) {
    const double rate = terms.instances * static_cast<double>(rows) / MeanOf(curve, rows);
    if (rate >= arrivals_per_ns * headroom) {
      plan.enough_rows = std::min(plan.enough_rows, rows);
    }
  });
  return plan;
}

ObjectiveDecision DecideWithin(const BatchPlan& plan, const CostCurve& curve,
                               std::span<const DueRequest> waiting,
                               std::span<const int64_t> free_ns, int64_t margin_ns,
                               int64_t now_ns) {
  ObjectiveDecision decision;
  const int64_t begin_ns = now_ns + margin_ns;
  while (decision.refuse < waiting.size() &&
         begin_ns + curve.BoundNs(waiting[decision.refuse].rows, plan.caution) >
             waiting[decision.refuse].due_ns) {
    ++decision.refuse;
  }
  waiting = waiting.subspan(decision.refuse);
  if (waiting.empty()) {
    return decision;
  }
  if (!AllWithin(plan, curve, waiting, free_ns, margin_ns, now_ns)) {
    const size_t left_out = WorthLeavingOut(plan, curve, waiting, free_ns.size(), begin_ns);
    decision.refuse += left_out;
    waiting = waiting.subspan(left_out);
  }
  const Batch batch = LongestWithin(plan, curve, waiting, begin_ns);
  const bool others_run = std::any_of(free_ns.begin() + 1, free_ns.end(),
                                      [now_ns](int64_t free) { return free > now_ns; });
  if ((others_run || plan.hurry_ns > 0) && batch.rows < plan.enough_rows &&
      batch.count == waiting.size()) {
    const int64_t latest_ns =
        batch.due_ns -
        (plan.hurry_ns > 0 ? plan.hurry_ns : margin_ns + curve.HighNs(plan.enough_rows));
    if (latest_ns > now_ns) {
      decision.wake_ns = latest_ns;
      return decision;
    }
  }
  decision.take = batch.count;
  decision.wake_ns = now_ns;
  return decision;
}

int64_t PredictAnswer(const BatchPlan& plan, const CostCurve& curve, double arrivals_per_ns,
                      int64_t rows, int64_t rows_ahead, std::span<const int64_t> free_ns,
                      int64_t now_ns) {
  const int64_t batches_ahead = rows_ahead / plan.proven_rows;
  const auto instances = static_cast<int64_t>(free_ns.size());
  const int64_t free = free_ns[static_cast<size_t>(batches_ahead % instances)];
  const int64_t begin_ns =
      std::max(free, now_ns) +
      batches_ahead / instances * curve.BoundNs(plan.proven_rows, std::min(plan.caution, 0.0));
  const int64_t with = rows_ahead % plan.proven_rows + rows;
  const auto to_come =
      static_cast<int64_t>(arrivals_per_ns * static_cast<double>(begin_ns - now_ns));
  const int64_t batch = std::clamp(with + to_come, rows, std::max(plan.proven_rows, rows));
  return begin_ns + curve.BoundNs(batch, plan.caution);
}

}  // namespace nereid
