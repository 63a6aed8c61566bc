// The heap refuses everything while requests are under way: they are answered nevertheless, and no
// counter, record or buffer is lost. (The pool has its own memory; lifecycle_test empties that.)
#include <algorithm>
#include <optional>
#include <thread>

#include "test/core/ensemble_fixture.h"
#include "test/core/failing_heap.h"
#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

// Takes requests through all their possible ends, without a heap; returns each one's status. The
// first is held at the gate while the third is cancelled and the fourth runs out of time.
std::vector<int32_t> RunAll(TestModel& model, Gate& gate, const FunctionBackend& backend,
                            std::vector<TestRequest>& requests) {
  std::vector<int32_t> codes(requests.size());
  const EmptyHeap empty_heap;
  for (size_t i = 0; i < requests.size(); ++i) {
    codes[i] = requests[i].Submit();
    while (backend.executions == 0) {
      std::this_thread::yield();
    }
  }
  (void)nrd_request_cancel(requests[2].get());
  codes[3] = requests[3].Wait();
  gate.Open();
  for (size_t i = 0; i < requests.size(); ++i) {
    codes[i] = codes[i] == NRD_PENDING ? requests[i].Wait() : codes[i];
  }
  (void)nrd_model_drain(model.get(), 0, nullptr);
  return codes;
}

TEST_CASE("without a heap requests are answered, in order too, and failures keep their reason") {
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_PRESERVE_ORDERING},
                               uint32_t{NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_RESPONSE_CACHE}}) {
    TestRuntime runtime(1 << 20);
    Gate gate;
    FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
      gate.Enter();
      return CopyInputs(batch, error);
    }};
    TestModel model(runtime, backend,
                    {.flags = flags | NRD_MODEL_NO_INLINE,
                     .policy = {.default_timeout_ns = 600'000'000'000, .max_queue_size = 8}});
    // Warms up the pool, and with it the sizes that are needed below.
    { TestRequest warm_up(model, 8); }
    std::vector<TestRequest> requests;
    for (int32_t i = 0; i < 12; ++i) {
      requests.emplace_back(model, 1, i);
    }
    requests[3]->timeout_ns = 1'000'000;
    requests[4]->inputs[0].byte_size = 3;
    const std::vector<int32_t> codes = RunAll(model, gate, backend, requests);
    CHECK(codes[0] == NRD_OK);
    CHECK(codes[1] == NRD_OK);
    CHECK(codes[2] == NRD_CANCELLED);
    CHECK(codes[3] == NRD_UNAVAILABLE);
    // Their messages would have to be made on the heap.
    CHECK(codes[4] == NRD_RESOURCE_EXHAUSTED);
    CHECK(requests[4].message() == "the process is out of memory");
    CHECK(codes[5] == NRD_OK);
    const nrd_model_stats stats = model.stats();
    CHECK(stats.success.count + stats.fail.count == requests.size());
    CHECK(stats.pending_count == 0);
    CHECK(stats.executing_count == 0);
  }
}

TEST_CASE("without a heap a backend's failure fails its batch, and the instance goes on") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    switch (*static_cast<const int32_t*>(batch->inputs[0].data)) {
      case 1:
        return int32_t{NRD_INTERNAL};
      case 2:
        throw 2;
      case 3:
        return int32_t{NRD_OK};  // and no output
      default:
        return CopyInputs(batch, error);
    }
  }};
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel model(runtime, backend, {.flags = flags});
    { TestRequest warm_up(model, 8); }
    for (int32_t value = 1; value <= 4; ++value) {
      TestRequest request(model, 1, value);
      int32_t code = NRD_PENDING;
      {
        const EmptyHeap empty_heap;
        code = request.SubmitAndWait();
      }
      CHECK(code == (value == 4 ? NRD_OK : NRD_RESOURCE_EXHAUSTED));
    }
    CHECK(model.stats().fail.count == 3);
  }
}

TEST_CASE("without a heap a request goes back into a full queue that watches its deadline") {
  constexpr int32_t kRequests = NRD_DEFAULT_MAX_QUEUE_SIZE + 1;
  TestRuntime runtime;
  Gate first;
  Gate others;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const bool again = backend.executions == 1;
    (again ? first : others).Enter();
    const int32_t code = CopyInputs(batch, error);
    return again && code == NRD_OK ? nrd_batch_request_reschedule(batch, 0, error) : code;
  }};
  const nrd_backend table = backend.Table();
  nrd_error error{};
  nrd_model* loaded = nullptr;
  REQUIRE(LoadSequenceModel(runtime.get(), table,
                            {.strategy = NRD_SEQUENCES_OLDEST,
                             .sequence_flags = NRD_SEQUENCES_ITERATIVE,
                             .max_batch_size = 1},
                            &loaded, &error) == NRD_OK);
  TestModel model(loaded);
  std::vector<TestRequest> requests;
  for (int32_t i = 0; i < kRequests; ++i) {
    requests.emplace_back(model, 1, i, 1);
    requests.back()->deadline_ns = In(3'600'000);
    REQUIRE(requests.back().Submit() == NRD_PENDING);
    first.WaitForEntered(1);
  }
  { TestRequest warm_up(model, 1, 0, 1); }
  {
    const EmptyHeap empty_heap;
    first.Open();
    while (backend.executions < 2) {
      std::this_thread::yield();
    }
  }
  others.Open();
  for (TestRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
  CHECK(backend.executions == kRequests + 1);
}

TEST_CASE("without a heap nothing is half acquired or half loaded, and releasing needs none") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  {
    TestModel model(runtime, backend);
    std::vector<TestRequest> requests;
    for (int i = 0; i < 100; ++i) {
      requests.emplace_back(model);
    }
    nrd_request* record = nullptr;
    nrd_model* other = nullptr;
    int32_t loaded = NRD_OK;
    const nrd_backend table = backend.Table();
    const ModelSettings settings;
    {
      const EmptyHeap empty_heap;
      loaded = LoadModel(runtime.get(), table, settings, &other, nullptr);
      requests.clear();
      for (int i = 0; i < 100; ++i) {
        if (nrd_request_acquire(model.get(), &record, nullptr) == NRD_OK) {
          nrd_request_release(record);
        }
      }
      model.Release();
    }
    CHECK(loaded == NRD_RESOURCE_EXHAUSTED);
  }
  CHECK(backend.open_models == 0);
  CHECK(backend.open_instances == 0);
}

TEST_CASE("a heap that is empty when an instance fails to open fails the load, and no more") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  nrd_backend table = backend.Table();
  static std::optional<EmptyHeap> empty_heap;
  table.open_instance = [](void*, uint32_t, void**, nrd_error*) -> int32_t {
    empty_heap.emplace();
    return NRD_INTERNAL;
  };
  nrd_model* model = nullptr;
  const int32_t loaded = LoadModel(runtime.get(), table, {}, &model, nullptr);
  empty_heap.reset();
  CHECK(loaded == NRD_RESOURCE_EXHAUSTED);
  CHECK(model == nullptr);
  CHECK(backend.open_models == 0);
}

TEST_CASE("without a heap a request that is answered before its batch keeps that it failed") {
  std::atomic<nrd_batch*> kept{nullptr};
  TestRuntime runtime;
  FunctionBackend backend{.run =
                              [&](nrd_batch* batch, nrd_error*) {
                                kept = batch;
                                return int32_t{NRD_PENDING};
                              },
                          .flags = NRD_BACKEND_DETACHES};
  TestModel model(runtime, backend);
  TestRequest request(model);
  REQUIRE(request.Submit() == NRD_PENDING);
  while (kept == nullptr) {
    std::this_thread::yield();
  }
  int32_t finished = NRD_OK;
  {
    const EmptyHeap empty_heap;
    finished = nrd_batch_request_finish(kept, 0);  // without an output
  }
  nrd_batch_finish(kept, NRD_OK, nullptr, 0);
  CHECK(finished == NRD_OK);
  CHECK(request.Wait() == NRD_RESOURCE_EXHAUSTED);
}

// Submits without a heap; returns the status.
int32_t SubmitWithoutHeap(TestRequest& request) {
  const EmptyHeap empty_heap;
  return request.SubmitAndWait();
}

TEST_CASE("without a heap a request that an objective gives up while it waits is told why") {
  nrd_cost_point cost{};
  cost.rows = 1;
  cost.mean_ns = cost.high_ns = 1'000;
  cost.weight = 10;
  nrd_objective objective{};
  objective.costs = &cost;
  objective.cost_count = 1;
  TestRuntime runtime;
  CHECK(UnderSomeLimit(50, [&](int64_t limit_ms) {
    objective.latency_ns = static_cast<uint64_t>(limit_ms) * 1'000'000;
    Gate gate;
    FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
      gate.Enter();
      return CopyInputs(batch, error);
    }};
    TestModel model(runtime, backend, {.max_batch_size = 1, .objective = &objective});
    TestRequest first(model);
    TestRequest waits(model);
    const bool told = Begins(first, backend) && SubmitWithoutHeap(waits) == NRD_UNAVAILABLE &&
                      waits.message().find("within the objective of " + std::to_string(limit_ms) +
                                           ".000 ms: it has waited") != std::string_view::npos;
    gate.Open();
    CHECK(nrd_model_drain(model.get(), 0, nullptr) == NRD_OK);
    return told;
  }));
}

TEST_CASE("without a heap an objective's model executes what it has no costs of, on any instance") {
  const uint32_t kinds[] = {0, 1, 2};
  nrd_objective objective{};
  objective.latency_ns = 60'000'000'000;
  objective.instance_kinds = kinds;
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    gate.Close();
    TestModel model(runtime, backend,
                    {.flags = flags, .instance_count = 3, .objective = &objective});
    { TestRequest warm_up(model, 8); }
    std::vector<TestRequest> requests;
    for (int32_t i = 0; i < 3; ++i) {
      requests.emplace_back(model, 1, i);
    }
    backend.executions = 0;
    int32_t codes[3];
    {
      const EmptyHeap empty_heap;
      for (size_t i = 0; i < requests.size(); ++i) {
        codes[i] = requests[i].Submit();
        while (codes[i] == NRD_PENDING && backend.executions <= static_cast<int>(i)) {
          std::this_thread::yield();
        }
      }
      gate.Open();
      for (size_t i = 0; i < requests.size(); ++i) {
        codes[i] = codes[i] == NRD_PENDING ? requests[i].Wait() : codes[i];
      }
    }
    CHECK(std::all_of(codes, codes + 3, [](int32_t code) { return code == NRD_OK; }));
    // Measurements that were lost are made up for later.
    TestRequest later(model);
    CHECK(later.SubmitAndWait() == NRD_OK);
    uint32_t count = 0;
    nrd_model_cost_curve_read(model.get(), nullptr, 0, &count);
    CHECK(count == 1);
  }
}

TEST_CASE("without a heap an ensemble that has run before runs again, inline and queued") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend = Adder(1);
  for (const uint32_t flags :
       {0U, uint32_t{NRD_MODEL_NO_INLINE}, uint32_t{NRD_MODEL_RESPONSE_CACHE}}) {
    TestModel model(runtime, backend, {.flags = flags});
    TestModel inner(LoadEnsemble(runtime, Chain({model.get(), model.get()})));
    TestModel outer(LoadEnsemble(runtime, Chain({inner.get(), model.get()})));
    TestRequest request(outer, 1, 1);
    const auto input = static_cast<int32_t*>(request->inputs[0].data);
    for (int32_t i = 0; i < 3; ++i) {
      // A record's first use allocates the memory that it keeps, as do the records of its steps.
      const bool first = i == 0;
      input[0] = i;
      CHECK(SubmitWithoutHeap(request) == (first ? NRD_RESOURCE_EXHAUSTED : NRD_OK));
      if (first) {
        CHECK(request.message() == "the process is out of memory");
        CHECK(request.SubmitAndWait() == NRD_OK);
      }
      CHECK(request.output()[0] == i + 3);
    }
    CHECK(outer.stats().success.count == 3);
    CHECK(outer.stats().fail_other == 1);
  }
}

TEST_CASE("without a heap an ensemble's failures are answered, and leave nothing behind") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    if (*static_cast<const int32_t*>(batch->inputs[0].data) == 5) {
      return int32_t{NRD_INTERNAL};
    }
    return SumInputs(batch, error, 1);
  }};
  FunctionBackend gated{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  }};
  TestModel model(runtime, backend, {.name = "quick", .flags = 0});
  TestModel slow(runtime, gated, {.name = "slow"});
  TestModel ensemble(LoadEnsemble(runtime, Chain({model.get(), slow.get()})));
  TestRequest holder(slow);
  TestRequest request(ensemble, 1, 1);
  gate.Open();
  REQUIRE(request.SubmitAndWait() == NRD_OK);

  const auto input = static_cast<int32_t*>(request->inputs[0].data);
  input[0] = 5;
  CHECK(SubmitWithoutHeap(request) == NRD_RESOURCE_EXHAUSTED);
  CHECK(request.message() == "in ensemble 'e', step 'quick': the process is out of memory");
  input[0] = 1;
  gate.Close();
  REQUIRE(holder.Submit() == NRD_PENDING);
  gate.WaitForEntered(2);
  CHECK(UnderSomeLimit(5, [&](int64_t limit_ms) {
    request->timeout_ns = static_cast<uint64_t>(limit_ms) * 1'000'000;
    CHECK(SubmitWithoutHeap(request) == NRD_UNAVAILABLE);
    return request.message() == "in ensemble 'e', step 'slow': Request timeout expired";
  }));
  // A second one at once needs records of the steps that were never made.
  TestRequest second(ensemble, 1, 1);
  request->timeout_ns = 0;
  int32_t codes[3];
  {
    const EmptyHeap empty_heap;
    codes[0] = request.Submit();
    codes[1] = second.Submit();
    (void)nrd_request_cancel(request.get());
    codes[2] = request.Wait();
  }
  CHECK(codes[0] == NRD_PENDING);
  CHECK(codes[1] == NRD_RESOURCE_EXHAUSTED);
  CHECK(codes[2] == NRD_CANCELLED);
  gate.Open();
  CHECK(holder.Wait() == NRD_OK);
  CHECK(request->status == NRD_CANCELLED);
}

TEST_CASE("without a heap a step whose record cannot be made fails the request") {
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  TestModel model(runtime, backend, {.flags = 0});
  TestModel other(runtime, backend, {.name = "other", .flags = 0});
  EnsembleSettings settings;
  settings.outputs = {Int32Spec("A"), Int32Spec("B")};
  settings.steps = {{model.get(), {{0, 0}}, {{0, 1}}}, {other.get(), {{0, 1}}, {{0, 2}}}};
  settings.output_values = {1, 2};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble, 1, 1);
  request->outputs[0].flags = NRD_TENSOR_SELECTED;
  REQUIRE(request.Submit() == NRD_OK);  // makes a record of the first step only
  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  CHECK(SubmitWithoutHeap(request) == NRD_RESOURCE_EXHAUSTED);
  CHECK(request.message() == "in ensemble 'e', step 'other': the process is out of memory");
  CHECK(request->outputs[0].data == nullptr);
  CHECK(request.Submit() == NRD_OK);
}

}  // namespace
}  // namespace nereid::test
