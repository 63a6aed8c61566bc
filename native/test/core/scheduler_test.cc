// Scheduling over the C ABI with real threads: batches, inline execution, order, limits, time.
#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

TEST_CASE("a request that is alone passes its buffers on and gets its answer") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(batch->request_count == 1);
    CHECK(batch->batch_size == 2);
    CHECK(batch->inputs == batch->requests[0]->inputs);  // no copy
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend);
  TestRequest request(model, 2, 5);
  CHECK(request.Submit() == NRD_PENDING);
  CHECK(request.Wait() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(8, 5));
  CHECK(request->outputs[0].shape[0] == 2);
  CHECK(request->executed_batch_size == 2);
  CHECK(request->ran_inline == 0);
}

TEST_CASE("an idle model runs on the submitting thread; a busy one queues and batches") {
  TestRuntime runtime;
  Gate gate;
  std::atomic<bool> hold{false};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    if (hold.exchange(false)) {
      gate.Enter();
    }
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_DYNAMIC_BATCHING});
  TestRequest alone(model);
  CHECK(alone.Submit() == NRD_OK);
  CHECK(alone->ran_inline == 1);

  hold = true;
  TestRequest busy(model);
  std::thread holder([&] { CHECK(busy.Submit() == NRD_OK); });
  gate.WaitForEntered(1);
  std::vector<TestRequest> waiting;
  for (int32_t i = 0; i < 5; ++i) {
    waiting.emplace_back(model, 1, i);
    CHECK(waiting.back().Submit() == NRD_PENDING);
  }
  CHECK(model.stats().pending_count == 5);
  gate.Open();
  holder.join();
  for (int32_t i = 0; i < 5; ++i) {
    CHECK(waiting[static_cast<size_t>(i)].Wait() == NRD_OK);
    CHECK(waiting[static_cast<size_t>(i)].output() == std::vector<int32_t>(4, i));
    CHECK(waiting[static_cast<size_t>(i)]->executed_batch_size == 5);
  }
  CHECK(backend.executions == 3);
  CHECK(model.stats().inline_count == 2);
}

TEST_CASE("a model above its inline budget, or that forbids it, is never run inline") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return CopyInputs(batch, error);
  }};
  TestModel slow(runtime, backend, {.flags = 0, .inline_budget_ns = 1'000'000});
  TestRequest first(slow);
  CHECK(first.SubmitAndWait() == NRD_OK);  // nothing is known yet: may run here
  TestRequest second(slow);
  CHECK(second.Submit() == NRD_PENDING);
  CHECK(second.Wait() == NRD_OK);

  FunctionBackend own_thread{.run = CopyInputs, .flags = NRD_BACKEND_OWN_THREAD};
  TestModel bound(runtime, own_thread, {.flags = 0});
  TestRequest third(bound);
  CHECK(third.Submit() == NRD_PENDING);
  CHECK(third.Wait() == NRD_OK);

  FunctionBackend quick{.run = CopyInputs};
  TestModel any(runtime, quick, {.flags = 0});
  TestRequest fourth(any);
  fourth->flags = NRD_REQUEST_NO_INLINE;
  CHECK(fourth.Submit() == NRD_PENDING);
  CHECK(fourth.Wait() == NRD_OK);
}

TEST_CASE("outputs of one batch share its buffer until the last is dropped") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest one(model, 1, 1);
  TestRequest three(model, 3, 3);
  one.Submit();
  three.Submit();
  gate.Open();
  CHECK(one.Wait() == NRD_OK);
  CHECK(three.Wait() == NRD_OK);
  CHECK(one->outputs[0].slab == three->outputs[0].slab);
  nrd_request_drop_outputs(one.get());
  CHECK(three.output() == std::vector<int32_t>(12, 3));
  CHECK(blocker.Wait() == NRD_OK);
}

TEST_CASE("requests of unequal shape or with other optional inputs never share a batch") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    for (uint32_t i = 1; i < batch->request_count; ++i) {
      CHECK(batch->requests[i]->inputs[0].shape[1] == batch->requests[0]->inputs[0].shape[1]);
    }
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE,
                   .dim = -1,
                   .with_optional_input = true});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest short_one(model, 1, 1, 2);
  TestRequest long_one(model, 1, 2, 6);
  TestRequest with_optional(model, 1, 3, 6);
  nrd_tensor& optional = with_optional->inputs[1];
  optional = with_optional->inputs[0];
  optional.slab = nullptr;
  REQUIRE(nrd_request_input_alloc(with_optional.get(), 1) == NRD_OK);
  std::memset(optional.data, 0, optional.byte_size);
  for (TestRequest* request : {&short_one, &long_one, &with_optional}) {
    request->Submit();
  }
  gate.Open();
  for (TestRequest* request : {&blocker, &short_one, &long_one, &with_optional}) {
    CHECK(request->Wait() == NRD_OK);
    CHECK((*request)->executed_batch_size == 1);
  }
  CHECK(long_one.output() == std::vector<int32_t>(6, 2));
}

TEST_CASE("the queue delay gathers a batch, and a lone request waits no longer than it") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend,
                  {.max_batch_size = 4,
                   .flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = kUntilFullNs});
  std::vector<TestRequest> requests;
  for (int i = 0; i < 4; ++i) {
    requests.emplace_back(model);
    CHECK(requests.back().Submit() == NRD_PENDING);
  }
  for (TestRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
    CHECK(request->executed_batch_size == 4);
  }
  TestModel brief(runtime, backend,
                  {.max_batch_size = 4,
                   .flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = 200'000'000});
  TestRequest lone(brief);
  CHECK(lone.SubmitAndWait() == NRD_OK);
  CHECK(lone->queue_ns >= 190'000'000);
}

TEST_CASE("a timed-out request is answered when its time is up, though every instance is busy") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend,
                  {.priority_levels = 2,
                   .default_priority_level = 1,
                   .level_policies = {{}, {.default_timeout_ns = 20'000'000}}});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest by_policy(model);
  TestRequest by_deadline(model);
  by_policy->priority = 2;
  by_deadline->deadline_ns = In(10);
  by_policy.Submit();
  by_deadline.Submit();
  CHECK(by_deadline.Wait() == NRD_DEADLINE_EXCEEDED);
  CHECK(by_policy.Wait() == NRD_UNAVAILABLE);
  CHECK(by_policy.message() == "Request timeout expired");
  CHECK(backend.executions == 1);
  gate.Open();
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(model.stats().fail_rejected == 2);
}

TEST_CASE("a full queue refuses at once and recovers") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.policy = {.max_queue_size = 2}});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest a(model);
  TestRequest b(model);
  TestRequest c(model);
  CHECK(a.Submit() == NRD_PENDING);
  CHECK(b.Submit() == NRD_PENDING);
  CHECK(c.Submit() == NRD_UNAVAILABLE);
  CHECK(c.message().find("Exceeds maximum queue size") == 0);
  gate.Open();
  CHECK(a.Wait() == NRD_OK);
  CHECK(b.Wait() == NRD_OK);
  CHECK(c.SubmitAndWait() == NRD_OK);
  CHECK(blocker.Wait() == NRD_OK);
}

TEST_CASE("urgent requests overtake") {
  TestRuntime runtime;
  Gate gate;
  std::vector<int32_t> order;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    order.push_back(*static_cast<const int32_t*>(batch->inputs[0].data));
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.priority_levels = 3, .default_priority_level = 2});
  TestRequest blocker(model, 1, 0);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest low(model, 1, 3);
  TestRequest standard(model, 1, 2);
  TestRequest high(model, 1, 1);
  low->priority = 3;
  high->priority = 1;
  for (TestRequest* request : {&low, &standard, &high}) {
    request->Submit();
  }
  gate.Open();
  for (TestRequest* request : {&blocker, &low, &standard, &high}) {
    CHECK(request->Wait() == NRD_OK);
  }
  CHECK(order == std::vector<int32_t>{0, 1, 2, 3});
}

TEST_CASE("preserve_ordering answers in order of arrival over all instances") {
  struct Answers {
    std::mutex mutex;
    std::vector<uint64_t> tags;
  } answers;
  nrd_runtime_options options{};
  options.complete_context = &answers;
  options.complete = [](void* context, const uint64_t* tags, uint32_t count) {
    auto* const into = static_cast<Answers*>(context);
    const std::lock_guard lock(into->mutex);
    into->tags.insert(into->tags.end(), tags, tags + count);
  };
  TestRuntime runtime(0, options);
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    // The earlier ones take longer.
    const int32_t value = *static_cast<const int32_t*>(batch->inputs[0].data);
    std::this_thread::sleep_for(std::chrono::microseconds(value % 4 == 0 ? 2000 : 50));
    return CopyInputs(batch, error);
  }};
  TestModel model(
      runtime, backend,
      {.flags = NRD_MODEL_PRESERVE_ORDERING | NRD_MODEL_NO_INLINE, .instance_count = 4});
  std::vector<TestRequest> requests;
  for (int32_t i = 0; i < 64; ++i) {
    requests.emplace_back(model, 1, i);
    requests.back()->tag = static_cast<uint64_t>(i);
    CHECK(requests.back().Submit() == NRD_PENDING);
  }
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), &error) == NRD_OK);
  REQUIRE(answers.tags.size() == 64);
  CHECK(std::is_sorted(answers.tags.begin(), answers.tags.end()));
}

TEST_CASE("several instances work at the same time") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.instance_count = 3});
  CHECK(backend.open_instances == 3);
  std::vector<TestRequest> requests;
  for (int i = 0; i < 3; ++i) {
    requests.emplace_back(model);
    requests.back().Submit();
  }
  gate.WaitForEntered(3);
  CHECK(model.stats().executing_count == 3);
  gate.Open();
  for (TestRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
}

TEST_CASE("statistics count what happened") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  for (int i = 0; i < 3; ++i) {
    TestRequest request(model, 2);
    CHECK(request.SubmitAndWait() == NRD_OK);
  }
  TestRequest wrong(model, 1, 0, 3);
  CHECK(wrong.Submit() == NRD_INVALID_ARGUMENT);
  const nrd_model_stats stats = model.stats();
  CHECK(stats.success.count == 3);
  CHECK(stats.inference_count == 6);
  CHECK(stats.execution_count == 3);
  CHECK(stats.queue.count == 3);
  CHECK(stats.compute_infer.count == 3);
  CHECK(stats.fail.count == 1);
  CHECK(stats.fail_other == 1);
  nrd_batch_stats batches[4]{};
  uint32_t count = 0;
  nrd_model_batch_stats_read(model.get(), batches, 4, &count);
  REQUIRE(count == 1);
  CHECK(batches[0].batch_size == 2);
  CHECK(batches[0].compute_infer.count == 3);
  CHECK(stats.batch_ends[NRD_BATCH_SINGLE] == 3);
}

TEST_CASE("batches that were begun are counted by what ended them") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend,
                  {.max_batch_size = 4, .flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE});
  std::vector<TestRequest> requests;
  for (const int64_t rows : {1, 2, 2, 1, 2}) {
    requests.emplace_back(model, rows);
    REQUIRE(requests.back().Submit() == NRD_PENDING);
    gate.WaitForEntered(1);
  }
  gate.Open();
  for (TestRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
  const nrd_model_stats stats = model.stats();
  CHECK(stats.batch_ends[NRD_BATCH_IDLE] == 2);  // the first, and the last
  CHECK(stats.batch_ends[NRD_BATCH_FULL] == 1);
  CHECK(stats.execution_count == 3);
}

TEST_CASE("the response cache answers a repeated request without executing") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  TestRequest first(model, 1, 9);
  CHECK(first.SubmitAndWait() == NRD_OK);
  TestRequest again(model, 1, 9);
  CHECK(again.Submit() == NRD_OK);
  CHECK(again->cache_hit == 1);
  CHECK(again.output() == std::vector<int32_t>(4, 9));
  TestRequest other(model, 1, 8);
  CHECK(other.SubmitAndWait() == NRD_OK);
  CHECK(other->cache_hit == 0);
  TestRequest uncached(model, 1, 9);
  uncached->flags = NRD_REQUEST_NO_CACHE;
  CHECK(uncached.SubmitAndWait() == NRD_OK);
  CHECK(backend.executions == 3);
  const nrd_model_stats stats = model.stats();
  CHECK(stats.cache_hit.count == 1);
  CHECK(stats.cache_miss.count == 2);
  CHECK(stats.success.count == 4);
}

}  // namespace
}  // namespace nereid::test
