// Tests resources that executions of several models share, with real threads.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

nrd_resource Some(const char* name, uint32_t count, int32_t device = -1) {
  return {.name = AsNrdString(name), .count = count, .device = device};
}

nrd_instance_options Needs(const nrd_resource& resource, uint32_t priority = 1) {
  return {.resources = &resource, .resource_count = 1, .priority = priority, .numa_node = -1};
}

nrd_instance_stats StatsOf(TestModel& model, uint32_t instance = 0) {
  nrd_instance_stats stats{};
  REQUIRE(nrd_model_instance_stats_read(model.get(), instance, &stats) == NRD_OK);
  return stats;
}

void AwaitState(TestModel& model, int32_t state, uint32_t instance = 0) {
  REQUIRE(Eventually([&] { return StatsOf(model, instance).state == state; }));
}

// Executions of all models that use it, at a time.
struct Together {
  std::atomic<int> now{0};
  std::atomic<int> most{0};

  int32_t Run(nrd_batch* batch, nrd_error* error) {
    const int executing = ++now;
    int seen = most.load();
    while (seen < executing && !most.compare_exchange_weak(seen, executing)) {
    }
    std::this_thread::yield();
    const int32_t code = CopyInputs(batch, error);
    --now;
    return code;
  }
};

TEST_CASE("models that share a resource never execute at once, inline or not") {
  TestRuntime runtime;
  Together together;
  FunctionBackend backend{
      .run = [&](nrd_batch* batch, nrd_error* error) { return together.Run(batch, error); }};
  const nrd_resource one = Some("R1", 1);
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel a(runtime, backend,
                {.name = "a", .flags = flags, .instance_count = 2, .instances = {2, Needs(one)}});
    TestModel b(runtime, backend, {.name = "b", .flags = flags, .instances = {Needs(one, 2)}});
    std::vector<std::thread> clients;
    for (int client = 0; client < 4; ++client) {
      clients.emplace_back([&, client] {
        for (int32_t i = 0; i < 300; ++i) {
          TestRequest request(client % 2 == 0 ? a : b, 1, i);
          CHECK(request.SubmitAndWait() == NRD_OK);
          CHECK(request.output() == std::vector<int32_t>(4, i));
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    CHECK(together.most == 1);
    nrd_resource_stats stats{};
    uint32_t count = 0;
    nrd_runtime_resource_stats_read(runtime.get(), &stats, 1, &count);
    CHECK(count == 1);
    CHECK(View(stats.name) == "R1");
    CHECK(stats.total == 1);
  }
  nrd_resource_stats none{};
  uint32_t count = 1;
  nrd_runtime_resource_stats_read(runtime.get(), &none, 1, &count);
  CHECK(count == 0);
}

// One model executes and keeps all of R1; another wants it.
struct Contest {
  explicit Contest(std::vector<nrd_instance_options> waiting = {}, uint32_t flags = 0)
      : holder(runtime, held_backend, {.name = "holder", .instances = {Needs(all)}}),
        waiter(runtime, backend,
               {.name = "waiter",
                .flags = flags,
                .instance_count = waiting.empty() ? 1 : static_cast<uint32_t>(waiting.size()),
                .instances = waiting.empty() ? std::vector{Needs(all)} : waiting}),
        held(holder) {
    held.Submit();
    gate.WaitForEntered(1);
  }
  ~Contest() {
    gate.Open();
    held.Wait();
  }

  nrd_resource all = Some("R1", 4);
  TestRuntime runtime;
  Gate gate;
  FunctionBackend held_backend{.run = [this](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  FunctionBackend backend{.run = CopyInputs};
  TestModel holder;
  TestModel waiter;
  TestRequest held;
};

TEST_CASE("an instance says what it waits for, and goes on when that is free") {
  Contest contest;
  CHECK(StatsOf(contest.holder).state == NRD_INSTANCE_HOLDS);
  CHECK(StatsOf(contest.waiter).state == NRD_INSTANCE_FREE);
  TestRequest request(contest.waiter);
  CHECK(request.Submit() == NRD_PENDING);
  AwaitState(contest.waiter, NRD_INSTANCE_WAITS);
  const nrd_instance_stats stats = StatsOf(contest.waiter);
  CHECK(View(stats.resource.name) == "R1");
  CHECK(stats.resource.total == 4);
  CHECK(stats.resource.free == 0);
  CHECK(stats.resource.waiting == 1);
  CHECK(stats.needed == 4);
  CHECK(stats.waits == 1);
  CHECK(contest.waiter.stats().pending_count == 1);
  contest.gate.Open();
  CHECK(request.Wait() == NRD_OK);
  AwaitState(contest.waiter, NRD_INSTANCE_FREE);
  nrd_instance_stats other{};
  CHECK(nrd_model_instance_stats_read(contest.waiter.get(), 1, &other) == NRD_NOT_FOUND);
}

TEST_CASE("who waits with nothing to execute any more, waits no longer") {
  Contest contest;
  TestRequest request(contest.waiter);
  const int64_t until_ns = In(30);
  SUBCASE("because it was cancelled") {
    request.Submit();
    AwaitState(contest.waiter, NRD_INSTANCE_WAITS);
    CHECK(nrd_request_cancel(request.get()) == NRD_OK);
    CHECK(request.Wait() == NRD_CANCELLED);
  }
  SUBCASE("because its time is up") {
    request->deadline_ns = until_ns;
    request.Submit();
    CHECK(request.Wait() == NRD_DEADLINE_EXCEEDED);
  }
  AwaitState(contest.waiter, NRD_INSTANCE_FREE);
  nrd_resource_stats stats{};
  uint32_t count = 0;
  nrd_runtime_resource_stats_read(contest.runtime.get(), &stats, 1, &count);
  CHECK(stats.waiting == 0);
  TestRequest next(contest.waiter);
  CHECK(next.Submit() == NRD_PENDING);
  contest.gate.Open();
  CHECK(next.Wait() == NRD_OK);
}

TEST_CASE("a model that waits can be drained to its deadline, and unloaded") {
  Contest contest;
  TestRequest request(contest.waiter);
  request.Submit();
  AwaitState(contest.waiter, NRD_INSTANCE_WAITS);
  SUBCASE("drained") {
    CHECK(nrd_model_drain(contest.waiter.get(), In(5), nullptr) == NRD_DEADLINE_EXCEEDED);
  }
  SUBCASE("unloaded") { contest.waiter.Release(); }
  CHECK(request.Wait() == NRD_UNAVAILABLE);
  CHECK(contest.backend.executions == 0);
}

TEST_CASE("a request waits for nothing that one of the instances does not need") {
  const nrd_resource all = Some("R1", 4);
  const nrd_instance_options nothing{.numa_node = -1};
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    Contest contest({Needs(all), nothing, Needs(all)}, flags);
    for (int i = 0; i < 50; ++i) {
      TestRequest request(contest.waiter);
      CHECK(request.SubmitAndWait() == NRD_OK);
    }
    AwaitState(contest.waiter, NRD_INSTANCE_FREE, 0);
    AwaitState(contest.waiter, NRD_INSTANCE_FREE, 2);
  }
}

TEST_CASE("a warm-up holds what an execution holds") {
  Contest contest;
  TestRequest request(contest.waiter);
  std::thread warming([&] { CHECK(nrd_request_warm_up(request.get()) == NRD_OK); });
  AwaitState(contest.waiter, NRD_INSTANCE_WAITS);
  CHECK(contest.backend.executions == 0);
  contest.gate.Open();
  warming.join();
  AwaitState(contest.waiter, NRD_INSTANCE_FREE);
  CHECK(contest.backend.executions == 1);
}

TEST_CASE("what was limited is checked when a model is loaded, and a failed load keeps nothing") {
  TestRuntime runtime;
  const nrd_resource limit = Some("R1", 2);
  nrd_error error{};
  REQUIRE(nrd_runtime_limit(runtime.get(), &limit, 1, &error) == NRD_OK);
  CHECK(nrd_runtime_limit(runtime.get(), &limit, 1, &error) == NRD_FAILED_PRECONDITION);
  FunctionBackend backend{.run = CopyInputs};
  const nrd_resource three = Some("R1", 3);
  const nrd_resource two = Some("R1", 2);
  nrd_model* model = nullptr;
  CHECK(LoadModel(runtime.get(), backend.Table(),
                  {.instance_count = 2, .instances = {Needs(two), Needs(three)}}, &model,
                  &error) == NRD_INVALID_ARGUMENT);
  CHECK(std::string_view(error.message, error.message_size).find("limited to 2") !=
        std::string_view::npos);
  FunctionBackend failing{.run = CopyInputs, .fail_instance = 0};
  CHECK(LoadModel(runtime.get(), failing.Table(), {.instances = {Needs(two)}}, &model, &error) ==
        NRD_RESOURCE_EXHAUSTED);
  uint32_t count = 9;
  nrd_runtime_resource_stats_read(runtime.get(), nullptr, 0, &count);
  CHECK(count == 0);
}

TEST_CASE(
    "the thread of an instance runs on the cores of its policy alone, and nothing is inline") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  uint32_t last = 0;
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    last = CPU_ISSET(core, &allowed) ? core : last;
  }
  TestRuntime runtime;
  cpu_set_t seen;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    REQUIRE(sched_getaffinity(0, sizeof(seen), &seen) == 0);
    return CopyInputs(batch, error);
  }};
  nrd_instance_options policy{.cores = &last, .core_count = 1, .numa_node = -1};
  TestModel model(runtime, backend, {.flags = 0, .instances = {policy}});
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->ran_inline == 0);
  CHECK(CPU_COUNT(&seen) == 1);
  CHECK(CPU_ISSET(last, &seen));
}

TEST_CASE("the thread of an instance prefers the memory of its policy's node") {
  constexpr int kPreferred = 1;  // MPOL_PREFERRED
  TestRuntime runtime;
  int mode = -1;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    REQUIRE(syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0);
    return CopyInputs(batch, error);
  }};
  nrd_error error{};
  nrd_model* loaded = nullptr;
  const int32_t code =
      LoadModel(runtime.get(), backend.Table(), {.instances = {{.numa_node = 0}}}, &loaded, &error);
  if (code == NRD_FAILED_PRECONDITION) {  // a container that does not allow it says so
    CHECK(std::string_view(error.message, error.message_size).find("SYS_NICE") !=
          std::string_view::npos);
    return;
  }
  REQUIRE(code == NRD_OK);
  TestModel model(loaded);
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(mode == kPreferred);
}

TEST_CASE("a core or node that does not exist fails the load") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const std::vector<uint32_t> cores = {0, 1023};
  const uint32_t beyond = 70'000;
  const std::vector<std::pair<nrd_instance_options, const char*>> wrong = {
      {{.cores = &cores[1], .core_count = 1, .numa_node = -1}, "core 1023, which the machine"},
      {{.cores = cores.data(), .core_count = 2, .numa_node = -1}, "core 1023, which the machine"},
      {{.cores = &beyond, .core_count = 1, .numa_node = -1}, "core 70000, expected one below"},
      {{.numa_node = 5000}, "NUMA node 5000, which the machine"},
  };
  for (const auto& [policy, expected] : wrong) {
    nrd_error error{};
    nrd_model* model = nullptr;
    CHECK(LoadModel(runtime.get(), backend.Table(), {.instances = {policy}}, &model, &error) ==
          NRD_INVALID_ARGUMENT);
    const std::string_view message(error.message, error.message_size);
    CHECK_MESSAGE(message.find(expected) != std::string_view::npos, message);
  }
  CHECK(backend.open_instances == 0);
}

}  // namespace
}  // namespace nereid::test
