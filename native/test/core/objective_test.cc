// Models with an objective, over the C ABI.
#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// The unit of times that pass in predictions only: the machine's own count for nothing beside it.
constexpr uint64_t kUnit = 300 * kSecond;

nrd_cost_point Cost(uint64_t rows, uint64_t ns) {
  nrd_cost_point point{};
  point.rows = rows;
  point.mean_ns = point.high_ns = static_cast<double>(ns);
  point.weight = 10;
  return point;
}

nrd_objective Within(uint64_t latency_ns) {
  nrd_objective objective{};
  objective.latency_ns = latency_ns;
  return objective;
}

nrd_objective Within(uint64_t latency_ns, const nrd_cost_point& cost) {
  nrd_objective objective = Within(latency_ns);
  objective.costs = &cost;
  objective.cost_count = 1;
  return objective;
}

nrd_objective Within(uint64_t latency_ns, const std::vector<nrd_cost_point>& costs) {
  nrd_objective objective = Within(latency_ns);
  objective.costs = costs.data();
  objective.cost_count = static_cast<uint32_t>(costs.size());
  return objective;
}

nrd_objective_stats StatsOf(TestModel& model) {
  nrd_objective_stats stats{};
  REQUIRE(nrd_model_objective_read(model.get(), &stats) == NRD_OK);
  return stats;
}

std::vector<nrd_cost_point> CurveOf(TestModel& model) {
  std::vector<nrd_cost_point> points(64);
  uint32_t count = 0;
  nrd_model_cost_curve_read(model.get(), points.data(), 64, &count);
  points.resize(std::min<size_t>(count, 64));
  return points;
}

bool Says(const TestRequest& request, std::string_view text) {
  return request.message().find(text) != std::string_view::npos;
}

TEST_CASE("a model without an objective has nothing to tell of one") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  nrd_objective_stats stats{};
  CHECK(nrd_model_objective_read(model.get(), &stats) == NRD_NOT_FOUND);
  CHECK(stats.latency_ns == 0);
  CHECK(CurveOf(model).empty());
}

TEST_CASE("objectives that cannot be kept, or say nothing, are refused at load") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  nrd_error error{};
  nrd_model* model = nullptr;
  const auto refused = [&](const nrd_objective& objective, ModelSettings settings,
                           std::string_view why) {
    settings.objective = &objective;
    CHECK(LoadModel(runtime.get(), backend.Table(), settings, &model, &error) ==
          NRD_INVALID_ARGUMENT);
    CHECK(std::string_view(error.message, error.message_size).find(why) != std::string_view::npos);
  };
  refused(Within(0), {}, "latency is 0 ns");
  nrd_objective all = Within(kSecond);
  all.quantile_ppm = 1'000'000;
  refused(all, {}, "quantile is 1000000 of a million");
  refused(Within(kSecond), {.flags = NRD_MODEL_PRESERVE_ORDERING}, "preserve_ordering");
  refused(Within(kSecond),
          {.policy = {.default_timeout_ns = 5, .timeout_action = NRD_TIMEOUT_DELAY}}, "DELAY");
}

TEST_CASE("answers are kept or late, on any thread, and what they cost is learned") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const nrd_objective objective = Within(10 * kUnit);
  TestModel model(runtime, backend, {.flags = 0, .objective = &objective});
  bool inline_once = false;
  uint64_t count = 0;
  // After a slow one, on a busy machine, the next ones go to the instance's thread.
  for (; count < 20 || (!inline_once && count < 20'000); ++count) {
    TestRequest request(model);
    REQUIRE(request.SubmitAndWait() == NRD_OK);
    inline_once |= request->ran_inline == 1;
  }
  CHECK(inline_once);
  const nrd_objective_stats stats = StatsOf(model);
  CHECK(stats.latency_ns == 10 * kUnit);
  CHECK(stats.quantile_ppm == 990'000);
  CHECK(stats.kept == count);
  CHECK(stats.late == 0);
  CHECK(stats.backlog == 0);
  CHECK(stats.rows_per_second > 0);
  const std::vector<nrd_cost_point> curve = CurveOf(model);
  REQUIRE(curve.size() == 1);
  CHECK(curve[0].rows == 1);
  CHECK(curve[0].mean_ns > 0);
  CHECK(curve[0].high_ns >= curve[0].mean_ns);
}

TEST_CASE("a learned curve is what another load begins with") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const nrd_cost_point costs[] = {Cost(1, 3'000), Cost(4, 5'000), Cost(8, 9'000)};
  nrd_objective objective = Within(kSecond);
  objective.costs = costs;
  objective.cost_count = 3;
  TestModel model(runtime, backend, {.objective = &objective});
  const std::vector<nrd_cost_point> curve = CurveOf(model);
  REQUIRE(curve.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(curve[i].rows == costs[i].rows);
    CHECK(curve[i].mean_ns == doctest::Approx(costs[i].mean_ns));
  }
  uint32_t count = 0;
  nrd_cost_point first{};
  nrd_model_cost_curve_read(model.get(), &first, 1, &count);
  CHECK(count == 3);
  CHECK(first.rows == 1);
}

TEST_CASE("costs that say nothing are left out, and keep no model from being loaded") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  std::vector<nrd_cost_point> costs(6, Cost(1, 3'000));
  costs[0].rows = 0;
  costs[1].mean_ns = 0;
  costs[2].high_ns = std::numeric_limits<double>::quiet_NaN();
  costs[3].high_ns = 2'999;
  costs[4].weight = 0;
  costs[5].rows = 2;
  const nrd_objective objective = Within(kSecond, costs);
  TestModel model(runtime, backend, {.objective = &objective});
  const std::vector<nrd_cost_point> curve = CurveOf(model);
  REQUIRE(curve.size() == 1);
  CHECK(curve[0].rows == 2);
}

TEST_CASE("what was learned is loaded again and again, read or not, of rows of any size") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  for (const int64_t dim : {-1, 4}) {
    CAPTURE(dim);
    const uint64_t own_size = dim < 0 ? 4 : 0;
    std::vector<nrd_cost_point> learned{Cost(1, 3'000)};
    learned[0].row_elements = 128;
    for (int load = 0; load < 3; ++load) {
      const nrd_objective objective = Within(kUnit, learned);
      TestModel model(runtime, backend, {.dim = dim, .objective = &objective});
      CHECK(StatsOf(model).kept == 0);
      CHECK(CurveOf(model).size() == learned.size());
      TestRequest request(model);
      CHECK(request.SubmitAndWait() == NRD_OK);
      CHECK(StatsOf(model).kept == 1);
      learned = CurveOf(model);
      REQUIRE(learned.size() == 2);
      CHECK(learned[0].row_elements == own_size);
      CHECK(learned[1].row_elements == 128);
      for (const nrd_cost_point& point : learned) {
        CHECK(point.mean_ns > 0);
        CHECK(point.high_ns >= point.mean_ns);
      }
    }
  }
}

TEST_CASE(
    "an objective that no execution keeps has one request find that out, and others refused") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const nrd_objective objective = Within(1);
  TestModel model(runtime, backend, {.objective = &objective});
  TestRequest first(model);
  CHECK(first.SubmitAndWait() == NRD_OK);
  // The machine has to be up for longer than the objective.
  const nrd_cost_point dear = Cost(1, 300 * kSecond);
  const nrd_objective tight = Within(60 * kSecond, dear);
  TestModel other(runtime, backend, {.name = "other", .objective = &tight});
  TestRequest probe(other);
  CHECK(probe.SubmitAndWait() == NRD_OK);
  TestRequest refused(other);
  CHECK(refused.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK(Says(refused, "cannot be answered within the objective of 60000.000 ms"));
  CHECK(Says(refused, "with nothing before it"));
  CHECK(StatsOf(model).late == 1);
  CHECK(StatsOf(other).refused_cost == 1);
  CHECK(StatsOf(other).kept == 1);
}

// One instance, which is busy until the gate opens.
struct BusyModel {
  explicit BusyModel(const nrd_objective& objective, int64_t max_batch_size = 1,
                     uint32_t priority_levels = 0)
      : backend{.run =
                    [this](nrd_batch* batch, nrd_error* error) {
                      gate.Enter();
                      const std::lock_guard lock(mutex);
                      for (uint32_t i = 0; i < batch->request_count; ++i) {
                        order.push_back(
                            *static_cast<const int32_t*>(batch->requests[i]->inputs[0].data));
                      }
                      return CopyInputs(batch, error);
                    }},
        model(runtime, backend,
              {.max_batch_size = max_batch_size,
               .priority_levels = priority_levels,
               .default_priority_level = priority_levels,
               .objective = &objective}),
        first(model, 1, 0) {}

  bool Begin() { return Begins(first, backend); }

  Gate gate;
  std::mutex mutex;
  std::vector<int32_t> order;  // in which requests were executed
  TestRuntime runtime;
  FunctionBackend backend;
  TestModel model;
  TestRequest first;
};

TEST_CASE(
    "a request that cannot make it behind others is refused at once, with what is predicted") {
  const nrd_cost_point cost = Cost(1, 4 * kUnit);
  const nrd_objective objective = Within(10 * kUnit, cost);
  BusyModel busy(objective);
  REQUIRE(busy.Begin());
  TestRequest second(busy.model);
  CHECK(second.Submit() == NRD_PENDING);
  TestRequest third(busy.model);
  CHECK(third.Submit() == NRD_UNAVAILABLE);
  CHECK(Says(third, "cannot be answered within the objective of 3000000.000 ms"));
  CHECK(Says(third, "behind 1 rows that wait"));
  TestRequest hasty(busy.model);
  hasty->deadline_ns = In(300'000);
  CHECK(hasty.Submit() == NRD_DEADLINE_EXCEEDED);
  CHECK(Says(hasty, "its deadline"));
  const nrd_objective_stats stats = StatsOf(busy.model);
  CHECK(stats.refused_backlog == 1);
  CHECK(stats.refused_cost == 1);
  CHECK(stats.refused_deadline == 1);
  CHECK(stats.backlog == 1);
  CHECK(stats.backlog_ns > 4 * kUnit);
  busy.gate.Open();
  CHECK(busy.first.Wait() == NRD_OK);
  CHECK(second.Wait() == NRD_OK);
}

TEST_CASE("within a level who has to be answered first is executed first") {
  const nrd_cost_point cost = Cost(1, 1'000);
  const nrd_objective objective = Within(2'000 * kSecond, cost);
  BusyModel busy(objective, 1, 2);
  REQUIRE(busy.Begin());
  std::vector<TestRequest> requests;
  const int64_t deadlines_s[] = {0, 1'500, 0, 1'200, 1'800};
  for (int32_t i = 0; i < 5; ++i) {
    TestRequest& request = requests.emplace_back(busy.model, 1, i + 1);
    request->deadline_ns = deadlines_s[i] == 0 ? 0 : In(deadlines_s[i] * 1'000);
    request->priority = i == 2 ? 1 : 2;
    CHECK(request.Submit() == NRD_PENDING);
  }
  busy.gate.Open();
  for (TestRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
  CHECK(busy.first.Wait() == NRD_OK);
  CHECK(busy.order == std::vector<int32_t>{0, 3, 4, 2, 5, 1});
}

TEST_CASE("a request that becomes hopeless is answered while its instance is still busy") {
  const nrd_cost_point cost = Cost(1, 1'000);
  CHECK(UnderSomeLimit(50, [&](int64_t limit_ms) {
    const nrd_objective objective = Within(static_cast<uint64_t>(limit_ms) * 1'000'000, cost);
    BusyModel busy(objective);
    TestRequest waits(busy.model);
    TestRequest hasty(busy.model);
    hasty->deadline_ns = In(limit_ms / 2);
    const bool all_in_time =
        busy.Begin() && waits.Submit() == NRD_PENDING && hasty.Submit() == NRD_PENDING;
    if (all_in_time) {
      CHECK(hasty.Wait() == NRD_DEADLINE_EXCEEDED);
      CHECK(waits.Wait() == NRD_UNAVAILABLE);
      CHECK(Says(waits, "cannot be answered within the objective of " + std::to_string(limit_ms) +
                            ".000 ms: it has waited"));
      CHECK(StatsOf(busy.model).refused_waiting == 2);
      CHECK(StatsOf(busy.model).refused_deadline == 1);
    }
    busy.gate.Open();
    CHECK(nrd_model_drain(busy.model.get(), 0, nullptr) == NRD_OK);
    CHECK((!all_in_time || StatsOf(busy.model).late == 1));
    return all_in_time;
  }));
}

TEST_CASE("what requests spend outside is kept free of the objective, up to a third of it") {
  const nrd_cost_point cost = Cost(1, 4 * kUnit);
  const nrd_objective objective = Within(10 * kUnit, cost);
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.objective = &objective});
  TestRequest request(model);
  REQUIRE(request.SubmitAndWait() == NRD_OK);
  CHECK(StatsOf(model).outside_ns == 0);
  for (int i = 0; i < 10; ++i) {
    nrd_request_sent(request.get(), 1);  // less than what it took here
  }
  CHECK(StatsOf(model).outside_ns == 0);
  for (int i = 0; i < 100; ++i) {
    nrd_request_sent(request.get(), kUnit);
  }
  CHECK(StatsOf(model).outside_ns > kUnit * 9 / 10);
  CHECK(StatsOf(model).outside_ns < kUnit * 12 / 10);
  for (int i = 0; i < 1'000; ++i) {
    nrd_request_sent(request.get(), 9 * kUnit);
  }
  CHECK(StatsOf(model).outside_ns == 3 * kUnit);
  for (int i = 0; i < 10'000; ++i) {
    nrd_request_sent(request.get(), kUnit / 100);
  }
  CHECK(StatsOf(model).outside_ns < kUnit / 50);
  TestModel other(runtime, backend, {.name = "other"});
  TestRequest elsewhere(other);
  REQUIRE(elsewhere.SubmitAndWait() == NRD_OK);
  nrd_request_sent(elsewhere.get(), kSecond);
}

TEST_CASE("models of a share execute one at a time, and who waits is served") {
  TestRuntime runtime;
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    most = std::max(most.load(), ++now);
    std::this_thread::yield();
    const int32_t code = CopyInputs(batch, error);
    --now;
    return code;
  }};
  nrd_objective objective = Within(10 * kUnit);
  objective.share = AsNrdString("processors");
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel a(runtime, backend,
                {.name = "a", .flags = flags, .instance_count = 2, .objective = &objective});
    TestModel b(runtime, backend, {.name = "b", .flags = flags, .objective = &objective});
    std::vector<std::thread> clients;
    for (int client = 0; client < 4; ++client) {
      clients.emplace_back([&, client] {
        for (int32_t i = 0; i < 200; ++i) {
          TestRequest request(client % 2 == 0 ? a : b, 1, i);
          CHECK(request.SubmitAndWait() == NRD_OK);
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    CHECK(most == 1);
    CHECK(StatsOf(a).kept + StatsOf(b).kept == 800);
  }
}

TEST_CASE("every request of many threads is kept, late or refused, once") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    std::this_thread::yield();
    return CopyInputs(batch, error);
  }};
  for (const uint64_t latency_ns : {uint64_t{100'000}, 10 * kUnit}) {
    const nrd_objective objective = Within(latency_ns);
    TestModel model(runtime, backend, {.flags = 0, .instance_count = 2, .objective = &objective});
    std::atomic<uint64_t> refused{0};
    std::vector<std::thread> clients;
    for (int client = 0; client < 4; ++client) {
      clients.emplace_back([&] {
        for (int32_t i = 0; i < 300; ++i) {
          TestRequest request(model, 1 + i % 3, i);
          const int32_t code = request.SubmitAndWait();
          CHECK((code == NRD_OK || code == NRD_UNAVAILABLE));
          refused += code == NRD_UNAVAILABLE ? 1 : 0;
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    const nrd_objective_stats stats = StatsOf(model);
    CHECK(stats.kept + stats.late + refused == 1200);
    CHECK(stats.refused_backlog + stats.refused_cost + stats.refused_waiting == refused);
    CHECK((latency_ns < kSecond || refused == 0));
  }
}

}  // namespace
}  // namespace nereid::test
