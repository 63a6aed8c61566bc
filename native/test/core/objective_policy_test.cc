// Tests the decisions of the policy of objectives, and their measurements.
#include "core/objective/objective_policy.h"

#include <algorithm>
#include <cmath>

#include "core/objective/cost_curves.h"
#include "doctest/doctest.h"
#include "test/objective/loads.h"

namespace nereid {
namespace {

constexpr int64_t kMs = 1'000'000;

// 5 ms up to 16 rows, and a quarter more for each row beyond 20.
CostCurve Flat() {
  CostCurve curve(64);
  for (int i = 0; i < 30; ++i) {
    for (const int64_t rows : {1, 2, 4, 8, 16}) {
      curve.Measured(rows, 5 * kMs);
    }
    curve.Measured(32, 10 * kMs);
    curve.Measured(64, 20 * kMs);
  }
  return curve;
}

std::vector<DueRequest> Due(std::initializer_list<int64_t> due_ms) {
  std::vector<DueRequest> waiting;
  for (const int64_t due : due_ms) {
    waiting.push_back({.rows = 1, .due_ns = due * kMs, .joins = true});
  }
  return waiting;
}

ObjectiveDecision Decide(const CostCurve& curve, const std::vector<DueRequest>& waiting,
                         int64_t most_rows = 16, std::vector<int64_t> free_ns = {0}) {
  const BatchPlan plan{.most_rows = most_rows,
                       .proven_rows = most_rows,
                       .enough_rows = most_rows,
                       .rows_per_ns = 16.0 / (5 * kMs)};
  return DecideWithin(plan, curve, waiting, free_ns, 0, 0);
}

TEST_CASE("a curve knows nothing before anything ran, and tries twice what it has seen") {
  CostCurve curve(64);
  CHECK(!curve.known());
  CHECK(curve.MeanNs(8) == 0);
  CHECK(curve.most_rows() == 1);
  curve.Measured(4, 8 * kMs);
  CHECK(curve.MeanNs(4) == 8 * kMs);
  CHECK(curve.MeanNs(2) == 8 * kMs);
  CHECK(curve.MeanNs(8) == 12 * kMs);
  CHECK(curve.most_rows() == 8);
}

TEST_CASE("a curve lies between what it has seen, and goes on like the end of it") {
  const CostCurve curve = Flat();
  CHECK(curve.MeanNs(12) == doctest::Approx(5 * kMs).epsilon(0.02));
  CHECK(curve.MeanNs(24) == doctest::Approx(7.5 * kMs).epsilon(0.02));
  CHECK(curve.HighNs(16) > curve.MeanNs(16));
  CHECK(curve.RowsWithin(12 * kMs, 64) >= 32);
  CHECK(curve.RowsWithin(12 * kMs, 64) < 40);
  CHECK(curve.RowsWithin(kMs, 64) == 0);
}

TEST_CASE("costs never fall with rows, however the sizes were measured") {
  objective::Chance chance(45);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    CostCurve curve(64);
    for (int i = 0; i < 60; ++i) {
      const auto rows = 1 + static_cast<int64_t>(chance.Uniform() * 64);
      // Large ones were quick by chance.
      curve.Measured(rows, 1'000 + static_cast<int64_t>(chance.Uniform() * 50'000) / rows);
      int64_t before = 0;
      int64_t high_before = 0;
      for (int64_t size = 1; size <= 64; ++size) {
        CHECK(curve.MeanNs(size) >= before - 1);
        CHECK(curve.HighNs(size) >= high_before - 1);
        before = curve.MeanNs(size);
        high_before = curve.HighNs(size);
      }
    }
  }
}

TEST_CASE("one slow execution changes little, two in a row are believed for every size") {
  CostCurve curve = Flat();
  curve.Measured(16, 100 * kMs);
  CHECK(curve.MeanNs(16) == doctest::Approx(5 * kMs).epsilon(0.05));
  curve.Measured(16, 5 * kMs);
  curve.Measured(16, 5 * kMs);
  curve.Measured(16, 10 * kMs);
  curve.Measured(16, 10 * kMs);
  CHECK(curve.MeanNs(64) == doctest::Approx(40 * kMs).epsilon(0.1));
  curve.Measured(16, 5 * kMs);
  curve.Measured(16, 5 * kMs);
  CHECK(curve.MeanNs(64) == doctest::Approx(20 * kMs).epsilon(0.1));
}

TEST_CASE("what quick executions take is low, and follows when none are quick any more") {
  CostCurve curve(64);
  const auto measure = [&](int64_t quick_ms, int64_t slow_ms) {
    for (int i = 0; i < 60; ++i) {
      curve.Measured(1, (i % 3 == 0 ? slow_ms : quick_ms) * kMs);
    }
  };
  measure(3, 30);
  CHECK(curve.LowNs(1) == doctest::Approx(3 * kMs).epsilon(0.3));
  CHECK(curve.MeanNs(1) > 2 * curve.LowNs(1));
  CHECK(curve.HighNs(1) > curve.MeanNs(1));
  CHECK(curve.BoundNs(1, 1) == curve.HighNs(1));
  CHECK(curve.BoundNs(1, 0) == curve.MeanNs(1));
  CHECK(curve.BoundNs(1, -1) == curve.LowNs(1));
  measure(20, 30);
  CHECK(curve.LowNs(1) == doctest::Approx(20 * kMs).epsilon(0.3));
}

TEST_CASE("a size whose first execution was slow is tried again") {
  CostCurve curve(64);
  for (int i = 0; i < 20; ++i) {
    curve.Measured(8, 5 * kMs);
  }
  curve.Measured(16, 60 * kMs);
  CHECK(curve.MeanNs(16) <= 10 * kMs);
  curve.Measured(16, 6 * kMs);
  CHECK(curve.MeanNs(16) == doctest::Approx(6 * kMs).epsilon(0.05));
}

// Durations of microseconds, sometimes a thousand times as long, as if the thread lost its
// processor.
class Interrupted {
 public:
  Interrupted(double share, uint64_t seed) : share_(share), chance_(seed) {}
  int64_t Next(int64_t rows) {
    double ns = (2'000 + 100 * static_cast<double>(rows)) * std::exp(0.2 * chance_.Normal());
    if (chance_.Uniform() < share_) {
      ns += 1e6 * chance_.Exponential();
    }
    return static_cast<int64_t>(ns);
  }
  // Most requests run alone.
  int64_t Rows() {
    const bool alone = chance_.Uniform() < 0.7;
    return alone ? 1 : 1 + static_cast<int64_t>(chance_.Uniform() * 15);
  }
  void Calm() { share_ = 0; }

 private:
  double share_;
  objective::Chance chance_;
};

TEST_CASE("however often executions are interrupted, a curve stays where executions are") {
  for (const double share : {0.02, 0.1, 0.2, 0.4, 0.7}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(share);
      CAPTURE(seed);
      Interrupted machine(share, seed);
      CostCurve curve(64);
      curve.Measured(1, machine.Next(1));
      int64_t least_ns = curve.MeanNs(1);
      int64_t most_ns = curve.HighNs(32);
      for (int i = 0; i < 50'000; ++i) {
        const int64_t rows = machine.Rows();
        curve.Measured(rows, machine.Next(rows));
        least_ns = std::min(least_ns, curve.MeanNs(1));
        most_ns = std::max(most_ns, curve.HighNs(32));
      }
      CHECK(least_ns > 100);
      CHECK(most_ns < 1'000 * kMs);
      machine.Calm();
      for (int i = 0; i < 3'000; ++i) {
        const int64_t rows = machine.Rows();
        curve.Measured(rows, machine.Next(rows));
      }
      CHECK(curve.MeanNs(1) == doctest::Approx(2'100).epsilon(0.3));
      CHECK(curve.MeanNs(8) == doctest::Approx(2'800).epsilon(0.3));
      CHECK(curve.HighNs(16) < 20'000);
    }
  }
}

TEST_CASE("sizes that are not executed stay what they were, while the machine varies for long") {
  CostCurve curve(64);
  Interrupted machine(0, 1);
  for (int i = 0; i < 100; ++i) {
    curve.Measured(1, machine.Next(1));
    curve.Measured(16, machine.Next(16));
  }
  Interrupted wild(0.2, 2);
  for (int i = 0; i < 100'000; ++i) {
    curve.Measured(1, wild.Next(1));
  }
  for (int i = 0; i < 1'000; ++i) {
    curve.Measured(1, machine.Next(1));
  }
  CHECK(curve.MeanNs(16) > 1'800);
  CHECK(curve.MeanNs(16) < 3 * 3'600);
}

TEST_CASE("what lasts becomes usual, whatever it is") {
  for (const int64_t times : {2, 10, 1'000}) {
    CostCurve curve(64);
    for (int i = 0; i < 100; ++i) {
      curve.Measured(1, kMs);
    }
    for (const int64_t duration : {times * kMs, kMs, times * kMs}) {
      for (int i = 0; i < 2'000; ++i) {
        curve.Measured(1, duration);
      }
      CHECK(curve.MeanNs(1) == doctest::Approx(static_cast<double>(duration)).epsilon(0.05));
    }
  }
}

TEST_CASE("rows of another size have a curve of their own, which begins in proportion") {
  CostCurves curves(8);
  curves.Of(0, 100).Measured(1, 2 * kMs);
  CHECK(curves.Of(0, 110).MeanNs(1) == 2 * kMs);
  CHECK(curves.Of(0, 400).MeanNs(1) == doctest::Approx(8 * kMs));
  CHECK(!curves.Of(1, 100).known());
  nrd_cost_point points[4]{};
  CHECK(curves.Read(points, 4) == 2);
  CHECK(points[0].row_elements == 100);
  CHECK(points[1].row_elements == 400);
}

TEST_CASE("rows of one size have a curve of their own, beside those of rows that differ") {
  CostCurves curves(8);
  curves.Of(0, 128).Measured(1, 2 * kMs);
  CHECK(curves.Find(0, 0) == nullptr);
  CHECK(!curves.Of(0, 0).known());
  CHECK(curves.Find(0, 0) == &curves.Of(0, 0));
  curves.Of(1, 0).Measured(1, 2 * kMs);
  CHECK(!curves.Of(1, 128).known());
  nrd_cost_point points[4]{};
  REQUIRE(curves.Read(points, 4) == 2);
  CHECK(points[0].row_elements == 128);
  CHECK(points[1].row_elements == 0);
  for (const nrd_cost_point& point : {points[0], points[1]}) {
    CHECK(point.mean_ns > 0);
    CHECK(point.high_ns >= point.mean_ns);
  }
}

TEST_CASE("what waits is taken together as far as the first of it has time") {
  const CostCurve curve = Flat();
  CHECK(Decide(curve, {}).take == 0);
  CHECK(Decide(curve, Due({20, 20, 20})).take == 3);
  // 32 rows would take 10 ms.
  std::vector<DueRequest> many(40, {.rows = 1, .due_ns = 8 * kMs, .joins = true});
  for (size_t i = 1; i < many.size(); ++i) {
    many[i].due_ns = 100 * kMs;
  }
  const ObjectiveDecision decision = Decide(curve, many, 64);
  CHECK(decision.refuse == 0);
  CHECK(decision.take >= 16);
  CHECK(decision.take < 26);
}

TEST_CASE("who cannot be answered any more is refused, and holds up nobody") {
  const CostCurve curve = Flat();
  const ObjectiveDecision decision = Decide(curve, Due({2, 3, 20, 20}));
  CHECK(decision.refuse == 2);
  CHECK(decision.take == 2);
  CHECK(Decide(curve, Due({2})).refuse == 1);
}

TEST_CASE("when not all can be kept, those with the least time give way to a larger batch") {
  CostCurve curve(64);
  for (int i = 0; i < 30; ++i) {
    for (const int64_t rows : {1, 4, 16, 32, 64}) {
      curve.Measured(rows, 4 * kMs + rows * kMs / 8);
    }
  }
  const BatchPlan plan{
      .most_rows = 64, .proven_rows = 64, .enough_rows = 64, .rows_per_ns = 64.0 / (12 * kMs)};
  const std::vector<int64_t> free_ns{0};
  std::vector<DueRequest> waiting(60, {.rows = 1, .due_ns = 20 * kMs, .joins = true});
  waiting[0].due_ns = waiting[1].due_ns = 6 * kMs;
  const ObjectiveDecision all = DecideWithin(plan, curve, waiting, free_ns, 0, 0);
  CHECK(all.refuse == 0);
  CHECK(all.take < 20);
  for (size_t i = 2; i < waiting.size(); ++i) {
    waiting[i].due_ns = 12 * kMs;
  }
  const ObjectiveDecision some = DecideWithin(plan, curve, waiting, free_ns, 0, 0);
  CHECK(some.refuse == 2);
  CHECK(some.take > 50);
}

TEST_CASE("a batch stops at a request that does not join") {
  const CostCurve curve = Flat();
  std::vector<DueRequest> waiting = Due({20, 20, 20});
  waiting[2].joins = false;
  CHECK(Decide(curve, waiting).take == 2);
}

TEST_CASE("company is waited for while another instance runs, as long as the first has time") {
  const CostCurve curve = Flat();
  const ObjectiveDecision waits = Decide(curve, Due({20, 21}), 16, {0, 3 * kMs});
  CHECK(waits.take == 0);
  CHECK(waits.wake_ns == 20 * kMs - curve.HighNs(16));
  CHECK(Decide(curve, Due({20, 21}), 16, {0, 0}).take == 2);
  CHECK(Decide(curve, Due({8, 21}), 32, {0, 3 * kMs}).take == 2);
}

TEST_CASE("batches are planned so large that those that come meanwhile make it, too") {
  const CostCurve curve = Flat();
  const ObjectiveTerms terms{.latency_ns = 24 * kMs, .max_rows = 64, .instances = 1};
  const BatchPlan quiet = PlanBatches(curve, terms, 500e-9, 0);
  CHECK(quiet.most_rows >= 16);
  CHECK(2 * curve.HighNs(quiet.most_rows) <= terms.latency_ns);
  CHECK(quiet.enough_rows < 6);
  CHECK(quiet.rows_per_ns == doctest::Approx(3200e-9).epsilon(0.05));
  CHECK(PlanBatches(CostCurve(8), terms, 1, 0).rows_per_ns == 0);
}

TEST_CASE("an answer is predicted behind those that wait and those that run") {
  const CostCurve curve = Flat();
  const BatchPlan plan{.most_rows = 16, .proven_rows = 16, .enough_rows = 16};
  const std::vector<int64_t> free_ns{0};
  const int64_t alone = PredictAnswer(plan, curve, 0, 1, 0, free_ns, 0);
  CHECK(alone == curve.HighNs(1));
  CHECK(PredictAnswer(plan, curve, 0, 1, 40, free_ns, 0) == 2 * curve.MeanNs(16) + curve.HighNs(9));
  const std::vector<int64_t> busy{2 * kMs, 4 * kMs};
  CHECK(PredictAnswer(plan, curve, 0, 1, 16, busy, 0) == 4 * kMs + curve.HighNs(1));
}

// One of three executions takes ten times as long.
CostCurve Wild() {
  CostCurve curve(64);
  for (int i = 0; i < 300; ++i) {
    curve.Measured(8, (i % 3 == 0 ? 30 : 3) * kMs);
  }
  return curve;
}

TEST_CASE("where executions differ much and there is time, who could make it is not refused") {
  const CostCurve curve = Wild();
  const ObjectiveTerms terms{.latency_ns = 50 * kMs, .max_rows = 64, .instances = 1};
  const BatchPlan plan = PlanBatches(curve, terms, 100e-9, 0);
  CHECK(plan.keeps_up);
  CHECK(plan.caution < 0);
  const std::vector<int64_t> free_ns{0};
  const std::vector<DueRequest> waiting(4, {.rows = 1, .due_ns = 5 * kMs, .joins = true});
  CHECK(curve.MeanNs(4) > 5 * kMs);
  const ObjectiveDecision decision = DecideWithin(plan, curve, waiting, free_ns, 0, 0);
  CHECK(decision.refuse == 0);
  CHECK(decision.take == 4);
}

TEST_CASE("where the way outside leaves no time for one request, less of it is kept free") {
  const CostCurve curve = Flat();
  const ObjectiveTerms terms{.latency_ns = 10 * kMs, .max_rows = 64, .instances = 1};
  CHECK(PlanBatches(curve, terms, 0, 0, 3 * kMs).caution == 1);
  const BatchPlan plan = PlanBatches(curve, terms, 0, 2 * kMs, 4 * kMs);
  CHECK(plan.caution < 1);
  CHECK(plan.caution > 0);
}

}  // namespace
}  // namespace nereid
