// Regression tests of the core, one case for each former bug.
#include <cstdlib>
#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

// Collects the tags of answers, and calls `then` for each from inside the completion callback.
struct Answers {
  std::mutex mutex;
  std::vector<uint64_t> tags;
  std::function<void(uint64_t)> then;

  nrd_runtime_options Options() {
    nrd_runtime_options options{};
    options.complete_context = this;
    options.complete = [](void* context, const uint64_t* answered, uint32_t count) {
      auto* const self = static_cast<Answers*>(context);
      for (uint32_t i = 0; i < count; ++i) {
        {
          const std::lock_guard lock(self->mutex);
          self->tags.push_back(answered[i]);
        }
        if (self->then) {
          self->then(answered[i]);
        }
      }
    };
    return options;
  }
};

TEST_CASE("a cached answer goes to no request that was cancelled, nor out of a drained model") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  TestRequest first(model);
  REQUIRE(first.SubmitAndWait() == NRD_OK);
  TestRequest cancelled(model);
  REQUIRE(nrd_request_cancel(cancelled.get()) == NRD_OK);
  CHECK(cancelled.Submit() == NRD_CANCELLED);
  CHECK(cancelled->outputs[0].data == nullptr);
  TestRequest late(model);
  nrd_error error{};
  REQUIRE(nrd_model_drain(model.get(), 0, &error) == NRD_OK);
  CHECK(late.Submit() == NRD_UNAVAILABLE);
  CHECK(model.stats().cache_hit.count == 0);
  CHECK(model.stats().success.count + model.stats().fail.count == 3);
}

TEST_CASE("two loads of one version do not answer each other's requests from the cache") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = CopyInputs};
  TestModel before(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  TestModel after(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  TestRequest to_before(before);
  REQUIRE(to_before.SubmitAndWait() == NRD_OK);
  TestRequest to_after(after);
  CHECK(to_after.SubmitAndWait() == NRD_OK);
  CHECK(to_after->cache_hit == 0);
  before.Release();  // forgets its own answers only
  TestRequest again(after);
  CHECK(again.SubmitAndWait() == NRD_OK);
  CHECK(again->cache_hit == 1);
}

TEST_CASE("with preserve_ordering a cached answer does not overtake") {
  TestRuntime runtime(1 << 20);
  Gate gate;
  gate.Open();
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_RESPONSE_CACHE | NRD_MODEL_PRESERVE_ORDERING});
  TestRequest known(model, 1, 1);
  REQUIRE(known.Submit() == NRD_PENDING);  // never inline
  REQUIRE(known.Wait() == NRD_OK);
  gate.Close();
  TestRequest slow(model, 1, 2);
  REQUIRE(slow.Submit() == NRD_PENDING);
  gate.WaitForEntered(2);
  TestRequest repeated(model, 1, 1);
  CHECK(repeated.Submit() == NRD_PENDING);
  gate.Open();
  CHECK(slow.Wait() == NRD_OK);
  CHECK(repeated.Wait() == NRD_OK);
  // Until the counters are back at zero the scheduler still calls the model busy.
  nrd_error error{};
  TestRequest alone(model, 1, 1);
  const int32_t code = alone.Submit();
  CHECK((code == NRD_OK || alone.Wait() == NRD_OK));
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), &error) == NRD_OK);
}

TEST_CASE("priorities and DELAY contradict preserve_ordering") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const auto load = [&](const ModelSettings& settings) {
    nrd_model* model = nullptr;
    nrd_error error{};
    const int32_t code = LoadModel(runtime.get(), backend.Table(), settings, &model, &error);
    if (model != nullptr) {
      nrd_model_release(model);
    }
    return code;
  };
  const uint32_t flags = NRD_MODEL_PRESERVE_ORDERING;
  const nrd_queue_policy delay{.default_timeout_ns = 1, .timeout_action = NRD_TIMEOUT_DELAY};
  CHECK(load({.flags = flags, .priority_levels = 1, .default_priority_level = 1}) == NRD_OK);
  CHECK(load({.flags = flags, .priority_levels = 2, .default_priority_level = 1}) ==
        NRD_INVALID_ARGUMENT);
  CHECK(load({.flags = flags, .policy = delay}) == NRD_INVALID_ARGUMENT);
  CHECK(load({.flags = 0, .policy = delay}) == NRD_OK);
  CHECK(load({.max_batch_size = int64_t{1} << 40}) == NRD_INVALID_ARGUMENT);
}

TEST_CASE("a drain does not sit out the queue delay") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING, .max_queue_delay_ns = UINT64_MAX});
  TestRequest one(model);
  TestRequest two(model);
  REQUIRE(one.Submit() == NRD_PENDING);
  REQUIRE(two.Submit() == NRD_PENDING);
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), &error) == NRD_OK);
  CHECK(one.Wait() == NRD_OK);
  CHECK(two->executed_batch_size == 2);
}

TEST_CASE("an urgent request that completes a preferred size from the front is seen") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend,
                  {.max_batch_size = 16,
                   .flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = 60'000'000'000,
                   .preferred_sizes = {4, 8},
                   .priority_levels = 2,
                   .default_priority_level = 2});
  TestRequest three(model, 3);
  TestRequest two(model, 2);
  TestRequest urgent(model, 1);
  urgent->priority = 1;
  REQUIRE(three.Submit() == NRD_PENDING);
  REQUIRE(two.Submit() == NRD_PENDING);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the instance waits by now
  REQUIRE(urgent.Submit() == NRD_PENDING);
  CHECK(urgent.Wait() == NRD_OK);
  CHECK(urgent->executed_batch_size == 4);
  CHECK(three.Wait() == NRD_OK);
  REQUIRE(nrd_request_cancel(two.get()) == NRD_OK);
}

TEST_CASE("a cancellation that leaves a preferred size at the front is seen") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend,
                  {.max_batch_size = 16,
                   .flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = 60'000'000'000,
                   .preferred_sizes = {2, 8}});
  TestRequest one(model, 1);
  TestRequest two(model, 2);
  REQUIRE(one.Submit() == NRD_PENDING);
  REQUIRE(two.Submit() == NRD_PENDING);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(nrd_request_cancel(one.get()) == NRD_OK);
  CHECK(two.Wait() == NRD_OK);
  CHECK(two->executed_batch_size == 2);
}

TEST_CASE("an output that nobody asked for is not kept, nor is what a failed request had") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    const nrd_tensor& input = batch->requests[0]->inputs[0];
    for (uint32_t i = 0; i < batch->output_count; ++i) {
      void* data = nullptr;
      const int32_t code = nrd_batch_request_output(batch, 0, i, NRD_TYPE_INT32, 2, input.shape,
                                                    input.byte_size, &data, error);
      if (code != NRD_OK) {
        return code;
      }
      std::memset(data, 0, input.byte_size);
    }
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.output_count = 2});
  TestRequest request(model);
  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  REQUIRE(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].slab == nullptr);
  CHECK(request->outputs[1].slab != nullptr);
}

TEST_CASE("executions that answer nobody are not counted as inferences") {
  TestRuntime runtime;
  std::atomic<bool> fail{true};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    return fail ? Report(Status::Internal("no"), error) : CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend);
  TestRequest request(model, 3);
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(model.stats().execution_count == 0);
  CHECK(model.stats().inference_count == 0);
  fail = false;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(model.stats().execution_count == 1);
  CHECK(model.stats().inference_count == 3);
  CHECK(model.stats().fail_backend == 1);
}

TEST_CASE("a callback may give back its record and submit others, which never run inside it") {
  Answers answers;
  const nrd_runtime_options options = answers.Options();
  TestRuntime runtime(0, options);
  FunctionBackend backend{.run = CopyInputs};
  std::atomic<int> chain{0};
  std::atomic<nrd_request*> current{nullptr};
  Gate gate;
  TestModel model(runtime, backend, {.flags = 0, .instance_count = 2});
  answers.then = [&](uint64_t) {
    nrd_request* const done = current.exchange(nullptr);
    CHECK(done->status == NRD_OK);
    nrd_request_release(done);
    if (chain.fetch_add(1) == 20) {
      gate.Open();
      return;
    }
    TestRequest next(model);
    current = next.get();
    CHECK(next.Submit() == NRD_PENDING);
    next.Disown();
  };
  TestRequest first(model);
  first->flags = NRD_REQUEST_NO_INLINE;
  current = first.get();
  REQUIRE(first.Submit() == NRD_PENDING);
  first.Disown();
  gate.Enter();
  CHECK(model.stats().inline_count == 0);
}

TEST_CASE("a backend may ask other models, inline and through the queue, and wait") {
  for (const uint32_t flags : {0U, static_cast<uint32_t>(NRD_MODEL_NO_INLINE)}) {
    TestRuntime runtime;
    FunctionBackend inner_backend{.run = CopyInputs};
    TestModel inner(runtime, inner_backend, {.name = "inner", .flags = flags});
    FunctionBackend outer_backend{.run = [&](nrd_batch* batch, nrd_error* error) {
      const nrd_tensor& input = batch->inputs[0];
      TestRequest nested(inner);
      nrd_tensor& passed_on = nested->inputs[0];
      nrd_buffer_release(passed_on.slab);
      passed_on = input;
      nrd_buffer_retain(passed_on.slab);
      if (const int32_t code = nested.SubmitAndWait(); code != NRD_OK) {
        return code;
      }
      const nrd_tensor& answer = nested->outputs[0];
      void* data = nullptr;
      const int32_t code = nrd_batch_output(batch, 0, answer.datatype, answer.rank, answer.shape,
                                            answer.byte_size, &data, error);
      if (code == NRD_OK) {
        std::memcpy(data, answer.data, answer.byte_size);
      }
      return code;
    }};
    TestModel outer(
        runtime, outer_backend,
        {.name = "outer", .flags = flags | NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 2});
    std::vector<std::thread> clients;
    for (int32_t client = 0; client < 4; ++client) {
      clients.emplace_back([&, client] {
        for (int32_t i = 0; i < 50; ++i) {
          TestRequest request(outer, 1, client * 100 + i);
          REQUIRE(request.SubmitAndWait() == NRD_OK);
          REQUIRE(request.output() == std::vector<int32_t>(4, client * 100 + i));
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    CHECK(outer.stats().success.count == 200);
    CHECK(inner.stats().success.count == outer.stats().execution_count);
  }
}

TEST_CASE("the runtime can go the moment the last record of a released model is back") {
  for (int round = 0; round < 100; ++round) {
    nrd_runtime_options options{};
    options.struct_size = sizeof(options);
    nrd_runtime* runtime = nullptr;
    REQUIRE(nrd_runtime_create(&options, &runtime, nullptr) == NRD_OK);
    FunctionBackend backend{.run = CopyInputs};
    nrd_model* model = nullptr;
    REQUIRE(LoadModel(runtime, backend.Table(), {}, &model, nullptr) == NRD_OK);
    nrd_request* record = nullptr;
    REQUIRE(nrd_request_acquire(model, &record, nullptr) == NRD_OK);
    nrd_model_release(model);
    std::thread holder([record] { nrd_request_release(record); });
    while (nrd_runtime_release(runtime, nullptr) != NRD_OK) {
    }
    holder.join();
  }
}

}  // namespace
}  // namespace nereid::test
