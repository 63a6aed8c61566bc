// Tests how an ensemble's requests run through its steps.
#include <algorithm>
#include <array>
#include <thread>

#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

constexpr uint32_t kInline = 0;

uint64_t LiveBuffers(TestRuntime& runtime) {
  nrd_pool_stats stats{};
  nrd_runtime_pool_stats(runtime.get(), &stats);
  return stats.live_buffers;
}

// Waits until `count` threads are here.
class Meeting {
 public:
  bool Join(int count) {
    here_.fetch_add(1);
    return Eventually([&] { return here_ >= count; });
  }

 private:
  std::atomic<int> here_{0};
};

TEST_CASE("a chain of idle models runs on the submitting thread") {
  TestRuntime runtime;
  std::atomic<int> elsewhere{0};
  const auto here = std::this_thread::get_id();
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    elsewhere += std::this_thread::get_id() == here ? 0 : 1;
    return SumInputs(batch, error, 1);
  }};
  TestModel a(runtime, backend, {.name = "a", .flags = kInline});
  TestModel b(runtime, backend, {.name = "b", .flags = kInline});
  TestModel ensemble(LoadEnsemble(runtime, Chain({a.get(), b.get(), a.get()})));
  for (int i = 1; i <= 3; ++i) {
    TestRequest request(ensemble, 2, 10);
    CHECK(request.Submit() == NRD_OK);
    CHECK(request->ran_inline == 1);
    CHECK(request->executed_batch_size == 2);
    CHECK(request->cache_hit == 0);
    CHECK(request.output() == std::vector<int32_t>(8, 13));
    CHECK(LiveBuffers(runtime) == 2);  // its input and its output
    CHECK(request->queue_ns == 0);
    const nrd_model_stats stats = ensemble.stats();
    CHECK(stats.success.count == i);
    CHECK(stats.execution_count == i);
    CHECK(stats.inline_count == i);
    CHECK(stats.inference_count == 2 * i);
    CHECK(stats.compute_infer.count == i);
    CHECK(stats.compute_infer.ns == a.stats().compute_infer.ns + b.stats().compute_infer.ns);
    CHECK(a.stats().inline_count == 2 * i);
    CHECK(b.stats().inference_count == 2 * i);
  }
  CHECK(elsewhere == 0);
}

TEST_CASE("without inline execution the steps run on their models' threads") {
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  TestModel idle(runtime, backend, {.name = "idle", .flags = kInline});
  TestModel queued(runtime, backend, {.name = "queued"});
  for (const bool by_request : {false, true}) {
    EnsembleSettings settings = Chain({idle.get(), idle.get(), queued.get(), idle.get()});
    settings.flags = by_request ? 0U : uint32_t{NRD_MODEL_NO_INLINE};
    TestModel ensemble(LoadEnsemble(runtime, settings));
    TestRequest request(ensemble, 1, 0);
    request->flags = by_request ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->ran_inline == 0);
    CHECK(request->queue_ns > 0);
    CHECK(request.output() == std::vector<int32_t>(4, 4));
    CHECK(ensemble.stats().inline_count == 0);
  }
  CHECK(idle.stats().inline_count == 0);
}

TEST_CASE("steps that do not need each other run at the same time") {
  TestRuntime runtime;
  Meeting meeting;
  FunctionBackend plain = Adder(1);
  FunctionBackend waiting{.run = [&](nrd_batch* batch, nrd_error* error) {
    return meeting.Join(3) ? SumInputs(batch, error, 10) : FailWith(error, NRD_INTERNAL, "alone");
  }};
  TestModel first(runtime, plain, {.name = "first", .flags = kInline});
  TestModel left(runtime, waiting, {.name = "left", .flags = kInline});
  TestModel middle(runtime, waiting, {.name = "middle", .flags = kInline});
  TestModel right(runtime, waiting, {.name = "right", .flags = kInline});
  TestModel join(runtime, plain, {.name = "join", .flags = kInline, .with_optional_input = true});
  EnsembleSettings settings;
  settings.steps = {
      {first.get(), {{0, 0}}, {{0, 1}}},        {left.get(), {{0, 1}}, {{0, 2}}},
      {middle.get(), {{0, 1}}, {{0, 3}}},       {right.get(), {{0, 1}}, {{0, 4}}},
      {join.get(), {{0, 2}, {1, 3}}, {{0, 5}}}, {join.get(), {{0, 5}, {1, 4}}, {{0, 6}}}};
  settings.output_values = {6};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble, 1, 5);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->ran_inline == 0);
  CHECK(request.output() == std::vector<int32_t>(4, 3 * 16 + 2));
  CHECK(right.stats().inline_count == 1);
  CHECK(left.stats().inline_count + middle.stats().inline_count == 0);
}

TEST_CASE("tensors are passed by reference") {
  TestRuntime runtime;
  std::vector<const void*> inputs;
  std::vector<const void*> outputs;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    inputs.push_back(batch->inputs[0].data);
    const int32_t code = SumInputs(batch, error, 1);
    outputs.push_back(batch->outputs[0].data);
    return code;
  }};
  TestModel model(runtime, backend, {.flags = kInline});
  EnsembleSettings settings = Chain({model.get(), model.get(), model.get()});
  settings.outputs = {Int32Spec("LAST"), Int32Spec("FIRST"), Int32Spec("AGAIN")};
  settings.output_values = {3, 1, 3};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble);
  std::array<int32_t, 4> borrowed{1, 2, 3, 4};
  for (const bool borrow : {false, true}) {
    inputs.clear();
    outputs.clear();
    if (borrow) {
      nrd_request_drop_inputs(request.get());
      request->inputs[0].data = borrowed.data();
    }
    REQUIRE(request.Submit() == NRD_OK);
    CHECK(inputs[0] == request->inputs[0].data);
    CHECK(inputs[1] == outputs[0]);
    CHECK(inputs[2] == outputs[1]);
    CHECK(request->outputs[0].data == outputs[2]);
    CHECK(request->outputs[1].data == outputs[0]);
    CHECK(request->outputs[2].data == outputs[2]);
    CHECK(LiveBuffers(runtime) == (borrow ? 2 : 3));
  }
}

TEST_CASE("only what is wanted is asked for") {
  TestRuntime runtime;
  std::vector<uint32_t> wanted;
  FunctionBackend two{.run = [&](nrd_batch* batch, nrd_error* error) {
    wanted = {batch->outputs[0].flags, batch->outputs[1].flags};
    return SumInputs(batch, error, 1);
  }};
  FunctionBackend plain = Adder(1);
  TestModel producer(runtime, two, {.flags = kInline, .output_count = 2});
  TestModel left(runtime, plain, {.flags = kInline});
  TestModel right(runtime, plain, {.flags = kInline});
  EnsembleSettings settings;
  settings.steps = {{producer.get(), {{0, 0}}, {{0, 1}, {1, 2}}},
                    {left.get(), {{0, 1}}, {{0, 3}}},
                    {right.get(), {{0, 2}}, {{0, 4}}}};
  settings.outputs = {Int32Spec("LEFT"), Int32Spec("RIGHT")};
  settings.output_values = {3, 4};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble);
  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  CHECK(request.Submit() == NRD_OK);
  CHECK(wanted == std::vector<uint32_t>{0, NRD_TENSOR_SELECTED});
  CHECK(request->outputs[0].data == nullptr);
  CHECK(request.output(1) == std::vector<int32_t>(4, 9));
  CHECK(left.stats().execution_count == 0);
  CHECK(right.stats().execution_count == 1);
}

TEST_CASE("optional inputs may be left out, unless a step needs them") {
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  TestModel model(runtime, backend, {.flags = kInline, .with_optional_input = true});
  TestModel needs(runtime, backend, {.name = "needs", .flags = kInline});
  EnsembleSettings settings;
  settings.inputs = {Int32Spec("INPUT0"), Int32Spec("EXTRA")};
  settings.inputs[1].flags = NRD_SPEC_OPTIONAL;
  settings.steps = {{model.get(), {{0, 0}, {1, 1}}, {{0, 2}}}, {needs.get(), {{0, 1}}, {{0, 3}}}};
  settings.outputs = {Int32Spec("OUTPUT0"), Int32Spec("OUTPUT1")};
  settings.output_values = {2, 3};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble, 1, 5);

  CHECK(request.Submit() == NRD_INVALID_ARGUMENT);
  CHECK(request.message() ==
        "in ensemble 'e', step 'needs': input 'INPUT0' is required, but input 'EXTRA' of the "
        "ensemble, which is optional, was not given");
  CHECK(backend.executions == 0);
  CHECK(ensemble.stats().fail_other == 1);

  // The step that needs it is not needed for this.
  request->outputs[1].flags = 0;
  CHECK(request.Submit() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(4, 6));

  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  std::array<int32_t, 4> extra{1, 1, 1, 1};
  const nrd_tensor& first = request->inputs[0];
  nrd_tensor& second = request->inputs[1];
  second = first;
  second.slab = nullptr;
  second.data = extra.data();
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request.output(0) == std::vector<int32_t>(4, 7));
  CHECK(request.output(1) == std::vector<int32_t>(4, 2));
}

TEST_CASE("an ensemble can be a step") {
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  for (const uint32_t flags : {kInline, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel model(runtime, backend, {.flags = flags});
    TestModel inner(LoadEnsemble(runtime, Chain({model.get(), model.get()})));
    TestModel middle(LoadEnsemble(runtime, Chain({inner.get(), model.get(), inner.get()})));
    TestModel outer(LoadEnsemble(runtime, Chain({middle.get(), inner.get()})));
    TestRequest request(outer, 3, 0);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->ran_inline == (flags == kInline ? 1 : 0));
    CHECK(request.output() == std::vector<int32_t>(12, 7));
    CHECK(inner.stats().success.count == 3);
    CHECK(model.stats().success.count == 7);
    CHECK(outer.stats().compute_infer.ns == model.stats().compute_infer.ns);
  }
}

TEST_CASE("batches: an ensemble's rows are checked, and with or without a batch dimension") {
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  TestModel model(runtime, backend, {.flags = kInline});
  EnsembleSettings settings = Chain({model.get(), model.get()});
  settings.max_batch_size = 4;
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest fits(ensemble, 4, 1);
  CHECK(fits.Submit() == NRD_OK);
  CHECK(fits.output() == std::vector<int32_t>(16, 3));
  TestRequest too_big(ensemble, 5, 1);
  CHECK(too_big.Submit() == NRD_INVALID_ARGUMENT);
  CHECK(too_big.message() == "inference request batch-size must be <= 4 for 'e', got 5");

  settings.name = "flat";
  settings.max_batch_size = 0;
  for (nrd_tensor_spec* spec : {&settings.inputs[0], &settings.outputs[0]}) {
    spec->rank = 2;
    spec->dims[0] = -1;
    spec->dims[1] = 4;
  }
  TestModel flat(LoadEnsemble(runtime, settings));
  TestRequest whole(flat, 8, 1);
  CHECK(whole.Submit() == NRD_OK);
  CHECK(whole->outputs[0].shape[0] == 8);
  TestRequest more(flat, 9, 1);
  CHECK(more.Submit() == NRD_INVALID_ARGUMENT);
  CHECK(more.message() ==
        "in ensemble 'flat', inference request batch-size must be <= 8 for 'm', got 9");
}

TEST_CASE("requests of several callers share the steps' batches") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  }};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING});
  TestModel ensemble(LoadEnsemble(runtime, Chain({model.get()})));
  TestRequest first(model);
  REQUIRE(first.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  std::vector<TestRequest> requests;
  for (int32_t i = 0; i < 4; ++i) {
    requests.emplace_back(ensemble, 1, i);
    CHECK(requests.back().Submit() == NRD_PENDING);
  }
  gate.Open();
  CHECK(first.Wait() == NRD_OK);
  for (int32_t i = 0; i < 4; ++i) {
    CHECK(requests[static_cast<size_t>(i)].Wait() == NRD_OK);
    CHECK(requests[static_cast<size_t>(i)].output() == std::vector<int32_t>(4, i + 1));
  }
  CHECK(model.stats().execution_count == 2);
  CHECK(ensemble.stats().execution_count == 4);
}

TEST_CASE("the response cache answers for an ensemble and for its steps") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend = Adder(1);
  TestModel cached(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  EnsembleSettings settings = Chain({cached.get(), cached.get()});
  TestModel steps_only(LoadEnsemble(runtime, settings));
  settings.flags = NRD_MODEL_RESPONSE_CACHE;
  TestModel ensemble(LoadEnsemble(runtime, settings));
  const auto ask = [](TestModel& model, uint32_t cache_hit, uint32_t flags = 0) {
    TestRequest request(model, 1, 3);
    request->flags = flags;
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->cache_hit == cache_hit);
    CHECK(request.output() == std::vector<int32_t>(4, 5));
  };
  ask(ensemble, 0);
  CHECK(backend.executions == 2);
  ask(ensemble, 1);
  ask(steps_only, 0);
  CHECK(backend.executions == 2);
  CHECK(cached.stats().cache_hit.count == 2);
  ask(ensemble, 0, NRD_REQUEST_NO_CACHE);
  CHECK(backend.executions == 4);
  const nrd_model_stats stats = ensemble.stats();
  CHECK(stats.cache_hit.count == 1);
  CHECK(stats.cache_miss.count == 1);
  CHECK(stats.success.count == 3);
  CHECK(stats.execution_count == 2);
}

TEST_CASE("a thousand steps need no stack, whether inline, cached or queued") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend = Adder(1);
  for (const uint32_t flags :
       {kInline, uint32_t{NRD_MODEL_RESPONSE_CACHE}, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel model(runtime, backend, {.flags = flags});
    TestModel ensemble(LoadEnsemble(runtime, Chain(std::vector<nrd_model*>(1000, model.get()))));
    for (int i = 0; i < 2; ++i) {
      TestRequest request(ensemble, 1, 0);
      CHECK(request.SubmitAndWait() == NRD_OK);
      CHECK(request.output() == std::vector<int32_t>(4, 1000));
      CHECK(LiveBuffers(runtime) == 2);
    }
  }
}

struct Calls {
  std::atomic<int> count{0};
  std::atomic<uint64_t> tag{0};
  std::function<void()> action;
};

void OnComplete(void* context, const uint64_t* tags, uint32_t count) {
  auto* const calls = static_cast<Calls*>(context);
  calls->tag = tags[0];
  if (calls->action) {
    std::exchange(calls->action, nullptr)();
  }
  calls->count += static_cast<int>(count);
}

void WaitForCalls(const Calls& calls, int count) {
  REQUIRE(Eventually([&] { return calls.count >= count; }));
  REQUIRE(calls.count == count);
}

TEST_CASE("the completion callback hears of the ensemble's request and not of its steps") {
  Calls calls;
  TestRuntime runtime(0, {.complete_context = &calls, .complete = OnComplete});
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  }};
  TestModel model(runtime, backend, {.flags = kInline});
  TestModel ensemble(LoadEnsemble(runtime, Chain({model.get(), model.get()})));
  TestRequest first(ensemble, 1, 0);
  TestRequest second(ensemble, 1, 10);
  first->tag = 41;
  first->flags = NRD_REQUEST_NO_INLINE;
  second->tag = 42;
  int32_t submitted = NRD_OK;
  calls.action = [&] { submitted = second.Submit(); };
  CHECK(first.Submit() == NRD_PENDING);
  gate.Open();
  WaitForCalls(calls, 2);
  // Nothing is executed in the callback, and the model's only thread is there.
  CHECK(submitted == NRD_PENDING);
  CHECK(second->ran_inline == 0);
  CHECK(calls.tag == 42);
  CHECK(first.output() == std::vector<int32_t>(4, 2));
  CHECK(second.output() == std::vector<int32_t>(4, 12));
}

}  // namespace
}  // namespace nereid::test
