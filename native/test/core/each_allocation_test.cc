// Each allocation of the core fails once, alone and with all that follow: loads and requests end in
// a value or a reason, and nothing is left behind.
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "test/core/decoupled_fixture.h"
#include "test/core/ensemble_fixture.h"
#include "test/core/failing_heap.h"
#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

bool IsAnAnswer(int32_t code) { return code == NRD_OK || code == NRD_RESOURCE_EXHAUSTED; }

nrd_objective Objective() {
  static const nrd_cost_point kCost = [] {
    nrd_cost_point cost{};
    cost.rows = 1;
    cost.mean_ns = cost.high_ns = 1'000;
    cost.weight = 10;
    return cost;
  }();
  nrd_objective objective{};
  objective.latency_ns = 60'000'000'000;
  objective.costs = &kCost;
  objective.cost_count = 1;
  return objective;
}

// A model of each kind that answers a request by itself.
std::vector<ModelSettings> Kinds() {
  static const nrd_objective kObjective = Objective();
  static const nrd_resource kResource{.name = AsNrdString("R"), .count = 1, .device = -1};
  nrd_instance_options limited{};
  limited.resources = &kResource;
  limited.resource_count = 1;
  return {
      {.flags = 0},
      {},
      {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 2},
      {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_RESPONSE_CACHE},
      {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_PRESERVE_ORDERING, .instance_count = 2},
      {.flags = NRD_MODEL_DYNAMIC_BATCHING, .priority_levels = 3, .default_priority_level = 2},
      {.flags = 0, .objective = &kObjective},
      {.instance_count = 2, .instances = {limited, limited}},
  };
}

// Sends all requests while an allocation fails. Each is answered, by the right value or by a
// reason. Returns whether so many allocations were made.
bool SendAll(const std::vector<std::unique_ptr<TestRequest>>& requests, int64_t number,
             bool lasting, int32_t added = 0) {
  std::vector<int32_t> codes(requests.size(), NRD_PENDING);
  bool happened = false;
  {
    const FailingAllocation failing(number, lasting);
    for (size_t i = 0; i < requests.size(); ++i) {
      codes[i] = requests[i]->Submit();
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      codes[i] = codes[i] == NRD_PENDING ? requests[i]->Wait() : codes[i];
    }
    happened = failing.happened();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    CAPTURE(i);
    CAPTURE(requests[i]->message());
    CHECK(IsAnAnswer(codes[i]));
    if (codes[i] == NRD_OK) {
      CHECK(requests[i]->output() == std::vector<int32_t>(4, static_cast<int32_t>(i) + added));
    }
  }
  return happened;
}

std::vector<std::unique_ptr<TestRequest>> SomeRequests(TestModel& model, int32_t count = 4) {
  std::vector<std::unique_ptr<TestRequest>> requests;
  for (int32_t i = 0; i < count; ++i) {
    requests.push_back(std::make_unique<TestRequest>(model, 1, i));
  }
  return requests;
}

// The model goes on as if nothing had been, and has counted each request once.
void CheckAfter(TestModel& model, uint64_t sent) {
  TestRequest later(model, 1, 40);
  CHECK(later.SubmitAndWait() == NRD_OK);
  const nrd_model_stats stats = model.stats();
  CHECK(stats.success.count + stats.fail.count == sent + 1);
  CHECK(stats.pending_count == 0);
  CHECK(stats.executing_count == 0);
}

// Loads by `load` while an allocation fails, and asks what was loaded. Every load allocates.
void CheckLoads(const FunctionBackend& backend, const std::function<int32_t(nrd_model**)>& load) {
  const int models = backend.open_models;
  const int instances = backend.open_instances;
  const int64_t allocations = ForEachAllocation([&](int64_t number, bool lasting) {
    nrd_model* model = nullptr;
    int32_t loaded = NRD_RESOURCE_EXHAUSTED;
    bool happened = false;
    {
      const FailingAllocation failing(number, lasting);
      try {
        loaded = load(&model);
      } catch (const std::bad_alloc&) {  // the test's own
      }
      happened = failing.happened();
    }
    CHECK(IsAnAnswer(loaded));
    CHECK((model != nullptr) == (loaded == NRD_OK));
    if (model != nullptr) {
      TestModel owner(model);
    }
    CHECK(backend.open_models == models);
    CHECK(backend.open_instances == instances);
    return happened;
  });
  CHECK(allocations > 10);
}

TEST_CASE("a load that misses an allocation fails or loads, and leaves nothing behind") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend = Adder(1);
  const nrd_backend table = backend.Table();
  for (const ModelSettings& settings : Kinds()) {
    CheckLoads(backend, [&](nrd_model** model_out) {
      return LoadModel(runtime.get(), table, settings, model_out, nullptr);
    });
  }
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    CheckLoads(backend, [&](nrd_model** model_out) {
      return LoadSequenceModel(runtime.get(), table, {.strategy = strategy, .with_state = true},
                               model_out, nullptr);
    });
  }
  TestModel step(runtime, backend);
  const EnsembleSettings settings = Chain({step.get(), step.get()});
  CheckLoads(backend, [&](nrd_model** model_out) {
    std::string message;
    return LoadEnsemble(runtime, settings, model_out, &message);
  });
}

TEST_CASE("requests that miss an allocation are answered, whatever their model does") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = CopyInputs};
  for (const ModelSettings& settings : Kinds()) {
    ForEachAllocation([&](int64_t number, bool lasting) {
      TestModel model(runtime, backend, settings);
      const auto requests = SomeRequests(model);
      const bool happened = SendAll(requests, number, lasting);
      CheckAfter(model, requests.size());
      return happened;
    });
  }
}

TEST_CASE("a request that misses an allocation is not half acquired") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  ForEachAllocation([&](int64_t number, bool lasting) {
    TestModel model(runtime, backend);
    nrd_request* record = nullptr;
    bool happened = false;
    {
      const FailingAllocation failing(number, lasting);
      if (nrd_request_acquire(model.get(), &record, nullptr) == NRD_OK) {
        record->inputs[0].byte_size = 16;
        (void)nrd_request_input_alloc(record, 0);
        nrd_request_release(record);
      }
      happened = failing.happened();
    }
    CheckAfter(model, 0);
    return happened;
  });
}

TEST_CASE("histograms are read while there is no memory") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  std::vector<uint64_t> counts(nrd_histogram_bucket_count());
  int32_t status = NRD_OK;
  {
    const EmptyHeap heap;
    status = nrd_model_histogram_read(model.get(), NRD_HISTOGRAM_TOTAL, counts.data(),
                                      static_cast<uint32_t>(counts.size()));
  }
  CHECK(status == NRD_OK);
}

TEST_CASE("failures whose words miss an allocation are answered with another reason") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch*, nrd_error* error) {
    return FailWith(error, NRD_INTERNAL, "the backend does not want to");
  }};
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    ForEachAllocation([&](int64_t number, bool lasting) {
      TestModel model(runtime, backend, {.flags = flags});
      TestRequest fails(model);
      TestRequest wrong(model);
      wrong->inputs[0].byte_size = 3;
      int32_t codes[2];
      bool happened = false;
      {
        const FailingAllocation failing(number, lasting);
        codes[0] = fails.SubmitAndWait();
        codes[1] = wrong.SubmitAndWait();
        happened = failing.happened();
      }
      CHECK((codes[0] == NRD_INTERNAL || codes[0] == NRD_RESOURCE_EXHAUSTED));
      CHECK((codes[1] == NRD_INVALID_ARGUMENT || codes[1] == NRD_RESOURCE_EXHAUSTED));
      CHECK(!fails.message().empty());
      CHECK(!wrong.message().empty());
      CHECK(model.stats().fail.count == 2);
      return happened;
    });
  }
}

TEST_CASE("an ensemble that misses an allocation answers all its requests") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend = Adder(1);
  for (const uint32_t flags :
       {0U, uint32_t{NRD_MODEL_NO_INLINE}, uint32_t{NRD_MODEL_RESPONSE_CACHE}}) {
    TestModel first(runtime, backend, {.name = "first", .flags = flags});
    TestModel second(runtime, backend, {.name = "second", .flags = flags});
    const EnsembleSettings settings = Chain({first.get(), second.get()});
    ForEachAllocation([&](int64_t number, bool lasting) {
      TestModel ensemble(LoadEnsemble(runtime, settings));
      const auto requests = SomeRequests(ensemble);
      const bool happened = SendAll(requests, number, lasting, 2);
      CheckAfter(ensemble, requests.size());
      return happened;
    });
  }
}

// Sums a sequence's inputs in its state, without using the heap.
int32_t AddToState(nrd_batch* batch, nrd_error* error) {
  void* sums[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const nrd_tensor& input = batch->inputs[i];
    const int32_t code = nrd_batch_output(batch, i, NRD_TYPE_INT32, input.rank, input.shape,
                                          input.byte_size, &sums[i], error);
    if (code != NRD_OK) {
      return code;
    }
  }
  for (int64_t row = 0; row < batch->batch_size; ++row) {
    const auto* const values = static_cast<const int32_t*>(batch->inputs[0].data);
    const auto* const before = static_cast<const int32_t*>(batch->inputs[1].data);
    const int32_t sum = values[row] + before[row];
    static_cast<int32_t*>(sums[0])[row] = static_cast<int32_t*>(sums[1])[row] = sum;
  }
  return NRD_OK;
}

TEST_CASE("a sequence that misses an allocation has added up what it answered, or is over") {
  TestRuntime runtime;
  FunctionBackend backend{.run = AddToState};
  const nrd_backend table = backend.Table();
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    ForEachAllocation([&](int64_t number, bool lasting) {
      nrd_model* loaded = nullptr;
      REQUIRE(LoadSequenceModel(runtime.get(), table,
                                {.strategy = strategy, .candidates = 2, .with_state = true},
                                &loaded, nullptr) == NRD_OK);
      TestModel model(loaded);
      std::vector<std::unique_ptr<TestRequest>> requests;
      for (int32_t i = 0; i < 6; ++i) {  // three of each of two sequences
        requests.push_back(std::make_unique<TestRequest>(model, 1, i + 1, 1));
        (*requests.back())->sequence_id = 1 + static_cast<uint64_t>(i % 2);
        (*requests.back())->flags |= i < 2 ? kStart : i > 3 ? kEnd : 0;
      }
      int32_t codes[6];
      bool happened = false;
      {
        const FailingAllocation failing(number, lasting);
        for (size_t i = 0; i < 6; ++i) {
          codes[i] = requests[i]->SubmitAndWait();
        }
        happened = failing.happened();
      }
      int32_t sums[2] = {0, 0};
      for (int32_t i = 0; i < 6; ++i) {
        CAPTURE(i);
        CAPTURE(requests[i]->message());
        CHECK((IsAnAnswer(codes[i]) || codes[i] == NRD_INVALID_ARGUMENT));
        if (codes[i] == NRD_OK) {
          sums[i % 2] += i + 1;
          CHECK(requests[i]->output().front() == sums[i % 2]);
        }
      }
      return happened;
    });
  }
}

// Counts responses without a heap.
struct Counter {
  std::atomic<int> responses{0};

  static void Respond(void* context, uint64_t /*tag*/, nrd_tensor* outputs, uint32_t /*count*/) {
    static_cast<Counter*>(context)->responses += outputs != nullptr ? 1 : 0;
  }
};

int32_t SendThree(nrd_batch* batch, nrd_error* error) {
  int32_t code = NRD_OK;
  for (int32_t i = 0; i < 3 && code == NRD_OK; ++i) {
    code = Send(batch, 0, i, error);
  }
  return code;
}

TEST_CASE("a stream that misses an allocation ends, with all its responses or with a reason") {
  Counter counter;
  nrd_runtime_options options{};
  options.respond = Counter::Respond;
  options.respond_context = &counter;
  TestRuntime runtime(0, options);
  FunctionBackend three{.run = SendThree};
  FunctionBackend behind = Adder(1);
  for (const bool in_ensemble : {false, true}) {
    ForEachAllocation([&](int64_t number, bool lasting) {
      TestModel stream(runtime, three, {.name = "three", .max_batch_size = 1, .flags = kDecoupled});
      TestModel adder(runtime, behind, {.name = "adder"});
      TestModel ensemble(in_ensemble ? LoadEnsemble(runtime, Chain({stream.get(), adder.get()}))
                                     : nullptr);
      TestModel& asked = in_ensemble ? ensemble : stream;
      TestRequest request(asked, 1, 1);
      counter.responses = 0;
      int32_t code = NRD_OK;
      bool happened = false;
      {
        const FailingAllocation failing(number, lasting);
        code = request.SubmitAndWait();
        happened = failing.happened();
      }
      CHECK(IsAnAnswer(code));
      CHECK((code != NRD_OK || counter.responses == 3));
      TestRequest later(asked, 1, 1);
      counter.responses = 0;
      CHECK(later.SubmitAndWait() == NRD_OK);
      CHECK(counter.responses == 3);
      return happened;
    });
  }
}

TEST_CASE("a batch that outlives execute and misses an allocation is answered") {
  std::atomic<nrd_batch*> kept{nullptr};
  TestRuntime runtime;
  FunctionBackend backend{.run =
                              [&](nrd_batch* batch, nrd_error*) {
                                kept = batch;
                                return int32_t{NRD_PENDING};
                              },
                          .flags = NRD_BACKEND_DETACHES};
  ForEachAllocation([&](int64_t number, bool lasting) {
    TestModel model(runtime, backend);
    TestRequest request(model);
    kept = nullptr;
    int32_t code = NRD_OK;
    bool happened = false;
    {
      const FailingAllocation failing(number, lasting);
      code = request.Submit();
      while (code == NRD_PENDING && kept == nullptr &&
             nrd_request_wait(request.get(), In(1)) == NRD_DEADLINE_EXCEEDED) {
      }
      if (nrd_batch* const batch = kept; batch != nullptr) {
        nrd_error error{};
        const int32_t copied = CopyInputs(batch, &error);
        nrd_batch_finish(batch, copied, error.message, error.message_size);
      }
      code = code == NRD_PENDING ? request.Wait() : code;
      happened = failing.happened();
    }
    CHECK(IsAnAnswer(code));
    CHECK((code != NRD_OK || request.output() == std::vector<int32_t>(4, 7)));
    return happened;
  });
}

}  // namespace
}  // namespace nereid::test
