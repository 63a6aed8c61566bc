// Tests of nrd_request_warm_up: costs of a first request are paid before it comes.
#include <pthread.h>

#include <mutex>
#include <thread>

#include "test/core/core_fixture.h"
#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

int32_t WarmUp(TestRequest& request) { return nrd_request_warm_up(request.get()); }

std::string ThreadName() {
  char name[16]{};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

bool CountsNothing(const nrd_model_stats& stats) {
  return stats.inference_count + stats.execution_count + stats.inline_count + stats.pending_count +
             stats.executing_count + stats.success.count + stats.fail.count + stats.queue.count +
             stats.compute_input.count + stats.compute_infer.count + stats.compute_output.count +
             stats.cache_hit.count + stats.cache_miss.count + stats.fail_rejected +
             stats.fail_cancelled + stats.fail_backend + stats.fail_other +
             stats.last_inference_ms ==
         0;
}

}  // namespace

TEST_CASE("each instance executes the request once, on its own thread, one after another") {
  TestRuntime runtime;
  std::mutex mutex;
  std::vector<std::string> threads;
  std::atomic<int> inside{0};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    CHECK(inside.fetch_add(1) == 0);
    CHECK(batch->request_count == 1);
    CHECK(batch->batch_size == 3);
    {
      const std::lock_guard lock(mutex);
      threads.push_back(ThreadName());
    }
    const int32_t code = CopyInputs(batch, error);
    inside.fetch_sub(1);
    return code;
  }};
  TestModel model(runtime, backend, {.flags = 0, .instance_count = 3});
  TestRequest request(model, 3);
  const uint64_t bytes_before = runtime.live_bytes();
  CHECK(WarmUp(request) == NRD_OK);
  CHECK(request->status == NRD_OK);
  CHECK(threads == std::vector<std::string>{"nrd-m-0", "nrd-m-1", "nrd-m-2"});
  CHECK(request->outputs[0].data == nullptr);
  CHECK(runtime.live_bytes() == bytes_before);  // the outputs are gone
  CHECK(request->inputs[0].data != nullptr);
  CHECK(CountsNothing(model.stats()));
  uint32_t batch_sizes = 1;
  nrd_model_batch_stats_read(model.get(), nullptr, 0, &batch_sizes);
  CHECK(batch_sizes == 0);

  CHECK(request.Submit() == NRD_OK);  // the record is free for its next use
  CHECK(request->ran_inline == 1);
  CHECK(request.output() == std::vector<int32_t>(12, 7));
}

TEST_CASE("an execution that asks for another round warms up") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    return nrd_batch_request_reschedule(batch, 0, error);
  }};
  nrd_model* loaded = nullptr;
  nrd_error error{};
  REQUIRE(LoadSequenceModel(runtime.get(), backend.Table(),
                            {.strategy = NRD_SEQUENCES_OLDEST,
                             .sequence_flags = NRD_SEQUENCES_ITERATIVE,
                             .with_state = true},
                            &loaded, &error) == NRD_OK);
  TestModel model(loaded);
  TestRequest request(model, 1, 5, 1);
  for (int i = 1; i <= 2; ++i) {
    const int32_t code = WarmUp(request);
    CHECK_MESSAGE(code == NRD_OK, request.message());
    CHECK(backend.executions == i);
  }
}

TEST_CASE("a slow warm-up does not end inline execution") {
  TestRuntime runtime;
  std::atomic<bool> cold{true};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    if (cold) {
      std::this_thread::sleep_for(std::chrono::milliseconds(900));
    }
    return CopyInputs(batch, error);
  }};
  // One such execution, if it counted, would bring the estimate to an eighth of it: 112 ms.
  TestModel model(runtime, backend, {.flags = 0, .inline_budget_ns = 50'000'000});
  TestRequest request(model);
  CHECK(WarmUp(request) == NRD_OK);
  cold = false;
  CHECK(request.Submit() == NRD_OK);
  CHECK(request->ran_inline == 1);
}

TEST_CASE("a warm-up neither asks nor fills the response cache") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  const auto cache = [&] {
    nrd_cache_stats stats{};
    stats.struct_size = sizeof(stats);
    nrd_runtime_cache_stats(runtime.get(), &stats);
    return stats;
  };
  TestRequest request(model);
  CHECK(WarmUp(request) == NRD_OK);
  CHECK(cache().entries == 0);
  CHECK(cache().misses == 0);
  CHECK(request.Submit() == NRD_OK);
  CHECK(request->cache_hit == 0);
  CHECK(cache().entries == 1);
  CHECK(WarmUp(request) == NRD_OK);
  CHECK(cache().hits == 0);
  CHECK(backend.executions == 3);
}

TEST_CASE("a request that does not fit is refused in the same words as by submit") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  TestRequest wrong(model, 1, 7, 5);
  CHECK(WarmUp(wrong) == NRD_INVALID_ARGUMENT);
  const std::string message(wrong.message());
  CHECK(CountsNothing(model.stats()));
  CHECK(wrong.Submit() == NRD_INVALID_ARGUMENT);
  CHECK(wrong.message() == message);

  TestRequest late(model);
  late->deadline_ns = In(-1);
  CHECK(WarmUp(late) == NRD_DEADLINE_EXCEEDED);
  TestRequest cancelled(model);
  CHECK(nrd_request_cancel(cancelled.get()) == NRD_OK);
  CHECK(WarmUp(cancelled) == NRD_CANCELLED);
  CHECK(backend.executions == 0);

  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), 0, &error) == NRD_OK);
  TestRequest closed(model);
  CHECK(WarmUp(closed) == NRD_UNAVAILABLE);
}

TEST_CASE("the first failure ends the warm-up and is its answer") {
  TestRuntime runtime;
  FunctionBackend backend;
  backend.run = [&](nrd_batch* batch, nrd_error* error) {
    return backend.executions == 2
               ? Report(Status(NRD_RESOURCE_EXHAUSTED, "no device memory"), error)
               : CopyInputs(batch, error);
  };
  TestModel model(runtime, backend, {.instance_count = 3});
  TestRequest request(model);
  CHECK(WarmUp(request) == NRD_RESOURCE_EXHAUSTED);
  CHECK(request->status == NRD_RESOURCE_EXHAUSTED);
  CHECK(request.message().find("no device memory") != std::string_view::npos);
  CHECK(backend.executions == 2);
  CHECK(CountsNothing(model.stats()));
  CHECK(request.SubmitAndWait() == NRD_OK);
}

TEST_CASE("a model with requests, and a record in flight, are not warmed up") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend);
  TestRequest executing(model);
  TestRequest queued(model);
  TestRequest request(model);
  CHECK(executing.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  CHECK(WarmUp(request) == NRD_FAILED_PRECONDITION);
  CHECK(request->status == NRD_FAILED_PRECONDITION);
  CHECK(request.message() == "model 'm' cannot be warmed up while it has requests");
  CHECK(WarmUp(executing) == NRD_FAILED_PRECONDITION);
  CHECK(queued.Submit() == NRD_PENDING);
  CHECK(WarmUp(queued) == NRD_FAILED_PRECONDITION);
  CHECK(queued->status == NRD_PENDING);
  gate.Open();
  CHECK(executing.Wait() == NRD_OK);
  CHECK(queued.Wait() == NRD_OK);
  CHECK(WarmUp(request) == NRD_OK);
}

TEST_CASE("requests that come during a warm-up wait until it is over") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.flags = 0, .instance_count = 2});
  TestRequest warming(model);
  std::thread warmer([&] { CHECK(WarmUp(warming) == NRD_OK); });
  gate.WaitForEntered(1);
  TestRequest another(model);
  CHECK(WarmUp(another) == NRD_FAILED_PRECONDITION);
  std::vector<TestRequest> waiting;
  for (int32_t i = 0; i < 4; ++i) {
    waiting.emplace_back(model, 1, i);
    CHECK(waiting.back().Submit() == NRD_PENDING);
  }
  TestRequest late(model);
  late->deadline_ns = In(20);
  CHECK(late.SubmitAndWait() == NRD_DEADLINE_EXCEEDED);
  TestRequest cancelled(model);
  CHECK(cancelled.Submit() == NRD_PENDING);
  CHECK(nrd_request_cancel(cancelled.get()) == NRD_OK);
  CHECK(backend.executions == 1);
  gate.Open();
  warmer.join();
  for (int32_t i = 0; i < 4; ++i) {
    CHECK(waiting[static_cast<size_t>(i)].Wait() == NRD_OK);
    CHECK(waiting[static_cast<size_t>(i)].output() == std::vector<int32_t>(4, i));
  }
  CHECK(backend.executions == 6);
  CHECK(model.stats().success.count == 4);
}

TEST_CASE("a cancelled warm-up ends before the next instance") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    CHECK(nrd_request_is_cancelled(batch->requests[0]) == 1);
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.instance_count = 2});
  TestRequest request(model);
  std::thread warmer([&] { CHECK(WarmUp(request) == NRD_CANCELLED); });
  gate.WaitForEntered(1);
  CHECK(nrd_request_cancel(request.get()) == NRD_FAILED_PRECONDITION);  // it is executing
  gate.Open();
  warmer.join();
  CHECK(backend.executions == 1);
  CHECK(CountsNothing(model.stats()));
}

TEST_CASE("unloading waits for the instance that warms up, and no other one starts") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend, {.instance_count = 2});
  TestRequest request(model);
  std::thread warmer([&] { CHECK(WarmUp(request) == NRD_UNAVAILABLE); });
  gate.WaitForEntered(1);
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(20), &error) == NRD_DEADLINE_EXCEEDED);
  std::thread unloader([&] { model.Release(); });
  gate.Open();
  warmer.join();
  unloader.join();
  CHECK(request.message() == "model 'm' version 1 was unloaded");
  CHECK(backend.executions == 1);
  CHECK(backend.open_instances == 0);
}

TEST_CASE("who has the answer to the last request can warm up") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 2});
  TestRequest request(model);
  for (int i = 0; i < 300; ++i) {
    request->flags = i % 3 == 0 ? 0U : uint32_t{NRD_REQUEST_NO_INLINE};
    REQUIRE(request.SubmitAndWait() == NRD_OK);
    REQUIRE_MESSAGE(WarmUp(request) == NRD_OK, std::string(request.message()));
  }
  CHECK(backend.executions == 900);
}

TEST_CASE("a completion callback cannot warm up, which could be its own thread's work") {
  struct Seen {
    nrd_request* request = nullptr;
    std::atomic<int32_t> status{NRD_PENDING};
  } seen;
  nrd_runtime_options options{};
  options.complete_context = &seen;
  options.complete = [](void* context, const uint64_t* /*tags*/, uint32_t /*count*/) {
    auto* const self = static_cast<Seen*>(context);
    self->status = nrd_request_warm_up(self->request);
  };
  TestRuntime runtime(0, options);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  TestRequest request(model);
  seen.request = request.get();
  CHECK(request.Submit() == NRD_PENDING);
  CHECK(Eventually([&] { return seen.status == NRD_FAILED_PRECONDITION; }));
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), 0, &error) == NRD_OK);
}

TEST_CASE("warm-ups between requests, cancellations and timeouts lose nothing") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .instance_count = 3,
                   .max_queue_delay_ns = 50'000,
                   .preferred_sizes = {4}});
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> warmed{0};
  const auto client = [&](uint32_t seed) {
    TestRequest request(model);
    while (!stop) {
      seed = seed * 1'664'525 + 1'013'904'223;
      nrd_request_reset(request.get());
      request->inputs[0].byte_size = 16;
      REQUIRE(nrd_request_input_alloc(request.get(), 0) == NRD_OK);
      request->deadline_ns = (seed >> 24) % 4 == 0 ? nrd_clock_now_ns() + 20'000 : 0;
      int32_t code = request.Submit();
      if (code == NRD_PENDING && (seed >> 16) % 4 == 0) {
        nrd_request_cancel(request.get());
      }
      code = code == NRD_PENDING ? request.Wait() : code;
      CHECK((code == NRD_OK || code == NRD_CANCELLED || code == NRD_DEADLINE_EXCEEDED));
      answered.fetch_add(1);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 2; ++i) {
    threads.emplace_back(client, i + 1);
  }
  threads.emplace_back([&] {
    TestRequest request(model);
    while (!stop) {
      const int32_t code = WarmUp(request);
      CHECK((code == NRD_OK || code == NRD_FAILED_PRECONDITION));
      warmed.fetch_add(code == NRD_OK ? 1 : 0);
    }
  });
  CHECK(Eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return answered >= 3000 && warmed >= 20;
  }));
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  const nrd_model_stats stats = model.stats();
  CHECK(stats.success.count + stats.fail.count == answered);
}

}  // namespace nereid::test
