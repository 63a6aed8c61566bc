// Tests requests of an ensemble that cannot complete.
#include <thread>

#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

constexpr uint32_t kInline = 0;

// Two models in a chain; the second is called "second" and executes `run`.
struct TwoSteps {
  explicit TwoSteps(TestRuntime& runtime, uint32_t flags = kInline, nrd_queue_policy policy = {},
                    uint32_t second_flags = kInline)
      : first(runtime, first_backend, {.name = "first", .flags = flags}),
        second(runtime, second_backend,
               {.name = "second", .flags = flags | second_flags, .policy = policy}),
        ensemble(LoadEnsemble(runtime, Chain({first.get(), second.get()}))) {}

  std::function<int32_t(nrd_batch*, nrd_error*)> run_first;
  std::function<int32_t(nrd_batch*, nrd_error*)> run_second;
  FunctionBackend first_backend{.run = [this](nrd_batch* batch, nrd_error* error) {
    return run_first ? run_first(batch, error) : SumInputs(batch, error, 1);
  }};
  FunctionBackend second_backend{.run = [this](nrd_batch* batch, nrd_error* error) {
    return run_second ? run_second(batch, error) : SumInputs(batch, error, 1);
  }};
  TestModel first;
  TestModel second;
  TestModel ensemble;
};

void Sleep(int64_t delay_ms) { std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms)); }

// Waits until the batch's only request is cancelled; false if it is not.
bool WaitForMark(const nrd_batch* batch) {
  return Eventually([=] { return nrd_request_is_cancelled(batch->requests[0]) != 0; });
}

TEST_CASE("a failing step ends the request with its status, and later steps do not run") {
  TestRuntime runtime;
  for (const uint32_t flags : {kInline, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TwoSteps steps(runtime, flags);
    steps.run_first = [](nrd_batch*, nrd_error* error) {
      return FailWith(error, NRD_NOT_FOUND, "no such word");
    };
    TestRequest request(steps.ensemble);
    CHECK(request.SubmitAndWait() == NRD_NOT_FOUND);
    CHECK(request.message() == "in ensemble 'e', step 'first': no such word");
    CHECK(request->outputs[0].data == nullptr);
    CHECK(request->executed_batch_size == 1);
    CHECK(steps.second_backend.executions == 0);
    const nrd_model_stats stats = steps.ensemble.stats();
    CHECK(stats.fail.count == 1);
    CHECK(stats.fail_backend == 1);
    CHECK(stats.success.count == 0);
    CHECK(stats.executing_count == 0);
    // The record works again.
    steps.run_first = nullptr;
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request.output() == std::vector<int32_t>(4, 9));
  }
}

TEST_CASE("a failure names the ensembles that it went through, and is cut where it is too long") {
  TestRuntime runtime;
  TwoSteps steps(runtime);
  const std::string text(2000, 'x');
  steps.run_second = [&](nrd_batch*, nrd_error* error) {
    return FailWith(error, NRD_INTERNAL, text.c_str());
  };
  EnsembleSettings settings = Chain({steps.ensemble.get()});
  settings.name = "outer";
  TestModel outer(LoadEnsemble(runtime, settings));
  TestRequest request(outer);
  CHECK(request.Submit() == NRD_INTERNAL);
  const std::string where = "in ensemble 'outer', in ensemble 'e', step 'second': xxx";
  CHECK(request.message().substr(0, where.size()) == where);
  CHECK(request.message().size() == sizeof(nrd_error::message));
}

TEST_CASE("a failure cancels what waits or executes beside it, and waits for that") {
  TestRuntime runtime;
  Gate gate;
  std::atomic<bool> executing{false};
  std::atomic<bool> saw_mark{false};
  FunctionBackend failing{.run = [&](nrd_batch*, nrd_error* error) {
    while (!executing) {
      std::this_thread::yield();
    }
    return FailWith(error, NRD_INTERNAL, "boom");
  }};
  FunctionBackend slow{.run = [&](nrd_batch* batch, nrd_error* error) {
    executing = true;
    saw_mark = WaitForMark(batch);
    gate.Enter();
    return SumInputs(batch, error, 0);
  }};
  TestModel waits(runtime, slow, {.name = "waits"});
  TestModel fails(runtime, failing, {.name = "fails"});
  EnsembleSettings settings;
  settings.outputs = {Int32Spec("A"), Int32Spec("B"), Int32Spec("C")};
  settings.steps = {{waits.get(), {{0, 0}}, {{0, 1}}},
                    {waits.get(), {{0, 0}}, {{0, 2}}},  // behind the other in the queue
                    {fails.get(), {{0, 0}}, {{0, 3}}}};
  settings.output_values = {1, 2, 3};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble);
  CHECK(request.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  CHECK(nrd_request_wait(request.get(), In(20)) == NRD_DEADLINE_EXCEEDED);
  CHECK(ensemble.stats().executing_count == 1);
  gate.Open();
  CHECK(request.Wait() == NRD_INTERNAL);
  CHECK(request.message() == "in ensemble 'e', step 'fails': boom");
  CHECK(saw_mark);
  CHECK(slow.executions == 1);
  CHECK(waits.stats().fail_cancelled == 1);
}

TEST_CASE("a request whose step waits in a queue is cancelled at once") {
  TestRuntime runtime;
  Gate gate;
  TwoSteps steps(runtime);
  steps.run_second = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  };
  TestRequest holder(steps.second);
  holder->flags = NRD_REQUEST_NO_INLINE;
  REQUIRE(holder.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  TestRequest request(steps.ensemble);
  CHECK(request.Submit() == NRD_PENDING);
  CHECK(steps.first.stats().inline_count == 1);
  CHECK(nrd_request_cancel(request.get()) == NRD_OK);
  CHECK(nrd_request_wait(request.get(), 1) == NRD_CANCELLED);
  CHECK(request.message() == "Request was cancelled");
  CHECK(nrd_request_cancel(request.get()) == NRD_FAILED_PRECONDITION);
  CHECK(steps.ensemble.stats().fail_cancelled == 1);
  CHECK(steps.second.stats().pending_count == 0);
  gate.Open();
  CHECK(holder.Wait() == NRD_OK);
  CHECK(steps.second_backend.executions == 1);
}

TEST_CASE("a request whose step executes is cancelled when that has ended") {
  TestRuntime runtime;
  for (const bool nested : {false, true}) {
    TwoSteps steps(runtime);
    std::atomic<bool> executing{false};
    steps.run_first = [&](nrd_batch* batch, nrd_error* error) {
      executing = true;
      return WaitForMark(batch) ? SumInputs(batch, error, 1)
                                : FailWith(error, NRD_INTERNAL, "not cancelled");
    };
    TestModel outer(LoadEnsemble(runtime, Chain({steps.ensemble.get()})));
    TestRequest request(nested ? outer : steps.ensemble);
    request->flags = NRD_REQUEST_NO_INLINE;
    CHECK(request.Submit() == NRD_PENDING);
    while (!executing) {
      std::this_thread::yield();
    }
    (void)nrd_request_cancel(request.get());
    CHECK(request.Wait() == NRD_CANCELLED);
    CHECK(request.message() == "Request was cancelled");
    CHECK(steps.second_backend.executions == 0);
    CHECK(request->outputs[0].data == nullptr);
  }
}

TEST_CASE("an inline run is cancelled from another thread; a mark from before holds") {
  TestRuntime runtime;
  TwoSteps steps(runtime);
  TestRequest request(steps.ensemble);
  CHECK(nrd_request_cancel(request.get()) == NRD_OK);
  CHECK(request.Submit() == NRD_CANCELLED);
  CHECK(request.message() == "Request was cancelled before it was submitted");
  CHECK(steps.first_backend.executions == 0);
  nrd_request_reset(request.get());

  std::atomic<bool> executing{false};
  steps.run_first = [&](nrd_batch* batch, nrd_error* error) {
    executing = true;
    return WaitForMark(batch) ? SumInputs(batch, error, 1)
                              : FailWith(error, NRD_INTERNAL, "not cancelled");
  };
  TestRequest running(steps.ensemble);
  int32_t cancelled = NRD_PENDING;
  std::thread canceller([&] {
    while (!executing) {
      std::this_thread::yield();
    }
    cancelled = nrd_request_cancel(running.get());
  });
  // PENDING: the other thread was the last one to work on it.
  CHECK(running.SubmitAndWait() == NRD_CANCELLED);
  canceller.join();
  CHECK(steps.second_backend.executions == 0);
  CHECK(steps.ensemble.stats().fail_cancelled == 2);
}

TEST_CASE("deadline and timeout hold for all steps together") {
  TestRuntime runtime;
  Gate gate;
  TwoSteps steps(runtime);
  int64_t first_step_ms = 30;
  steps.run_first = [&](nrd_batch* batch, nrd_error* error) {
    Sleep(first_step_ms);
    return SumInputs(batch, error, 1);
  };
  uint64_t rejected = 0;
  TestRequest late(steps.ensemble);
  CHECK(UnderSomeLimit(10, [&](int64_t limit_ms) {
    first_step_ms = 3 * limit_ms;
    late->deadline_ns = In(limit_ms);
    CHECK(late.SubmitAndWait() == NRD_DEADLINE_EXCEEDED);
    ++rejected;
    return late.message() ==
           "in ensemble 'e', step 'second': Request deadline expired before it was submitted";
  }));
  late->deadline_ns = 1;
  CHECK(late.Submit() == NRD_DEADLINE_EXCEEDED);
  CHECK(late.message() == "Request deadline expired before it was submitted");

  constexpr std::string_view kTimedOut = "in ensemble 'e', step 'second': Request timeout expired";
  TestRequest slow(steps.ensemble);
  CHECK(UnderSomeLimit(10, [&](int64_t limit_ms) {
    first_step_ms = 3 * limit_ms;
    slow->timeout_ns = static_cast<uint64_t>(limit_ms) * 1'000'000;
    CHECK(slow.SubmitAndWait() == NRD_UNAVAILABLE);
    ++rejected;
    return slow.message() == kTimedOut;
  }));
  CHECK(steps.second_backend.executions == 0);
  CHECK(steps.ensemble.stats().fail_rejected == rejected + 1);

  // For a later step only the rest of the timeout counts.
  uint64_t rest_ns = 0;
  steps.run_second = [&](nrd_batch* batch, nrd_error* error) {
    rest_ns = batch->requests[0]->timeout_ns;
    return SumInputs(batch, error, 1);
  };
  first_step_ms = 30;
  slow->timeout_ns = 600'000'000'000;
  CHECK(slow.SubmitAndWait() == NRD_OK);
  CHECK(rest_ns > 0);
  CHECK(rest_ns <= 599'970'000'000);

  steps.run_second = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  };
  TestRequest holder(steps.second);
  holder->flags = NRD_REQUEST_NO_INLINE;
  REQUIRE(holder.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  first_step_ms = 5;
  CHECK(UnderSomeLimit(50, [&](int64_t limit_ms) {
    slow->timeout_ns = static_cast<uint64_t>(limit_ms) * 1'000'000;
    const bool queued = slow.Submit() == NRD_PENDING;
    CHECK(slow.Wait() == NRD_UNAVAILABLE);
    return queued && slow.message() == kTimedOut;
  }));
  CHECK(UnderSomeLimit(50, [&](int64_t limit_ms) {
    late->deadline_ns = In(limit_ms);
    CHECK(late.SubmitAndWait() == NRD_DEADLINE_EXCEEDED);
    return late.message() ==
           "in ensemble 'e', step 'second': Request deadline expired while it waited in the queue";
  }));
  gate.Open();
  CHECK(holder.Wait() == NRD_OK);
}

TEST_CASE("a full queue in the middle refuses the request, and nothing is left of it") {
  TestRuntime runtime;
  Gate gate;
  TwoSteps steps(runtime, kInline, {.max_queue_size = 1}, NRD_MODEL_NO_INLINE);
  steps.run_second = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  };
  std::vector<TestRequest> requests;
  for (int32_t i = 0; i < 4; ++i) {
    requests.emplace_back(steps.ensemble, 1, i);
    const int32_t code = requests.back().Submit();
    CHECK(code == (i < 2 ? NRD_PENDING : NRD_UNAVAILABLE));
    gate.WaitForEntered(1);
  }
  CHECK(requests[3].message() ==
        "in ensemble 'e', step 'second': Exceeds maximum queue size (1 requests wait)");
  CHECK(steps.ensemble.stats().fail_rejected == 2);
  nrd_handle_counts counts{};
  nrd_handle_counts_read(&counts);
  CHECK(counts.requests == 4 + 2 * 2);  // two requests with two steps each are on their way
  gate.Open();
  CHECK(requests[0].Wait() == NRD_OK);
  CHECK(requests[1].Wait() == NRD_OK);
  nrd_handle_counts_read(&counts);
  CHECK(counts.requests == 4);
}

TEST_CASE("draining waits for the steps, and at its deadline ends what is unfinished") {
  TestRuntime runtime;
  Gate gate;
  TwoSteps steps(runtime, NRD_MODEL_NO_INLINE);
  steps.run_first = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return SumInputs(batch, error, 1);
  };
  TestRequest executing(steps.ensemble);
  TestRequest waiting(steps.ensemble);
  TestRequest refused(steps.ensemble);
  REQUIRE(executing.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  REQUIRE(waiting.Submit() == NRD_PENDING);
  nrd_error error{};
  CHECK(nrd_model_drain(steps.ensemble.get(), In(20), &error) == NRD_DEADLINE_EXCEEDED);
  CHECK(refused.Submit() == NRD_UNAVAILABLE);
  CHECK(refused.message() == "Request for unknown model: 'e' version 1 is not at ready state");
  CHECK(nrd_request_wait(waiting.get(), 1) == NRD_UNAVAILABLE);
  CHECK(waiting.message() == "model 'e' version 1 was unloaded");
  CHECK(nrd_request_wait(executing.get(), 1) == NRD_DEADLINE_EXCEEDED);
  std::thread opener([&] {
    Sleep(20);
    gate.Open();
  });
  CHECK(nrd_model_drain(steps.ensemble.get(), 0, &error) == NRD_OK);
  opener.join();
  CHECK(nrd_request_wait(executing.get(), 1) == NRD_UNAVAILABLE);
  CHECK(steps.second_backend.executions == 0);
  steps.ensemble.Release();
}

TEST_CASE("draining with patience loses nothing; releasing ends what is on its way") {
  TestRuntime runtime;
  for (const bool patient : {true, false}) {
    TwoSteps steps(runtime, NRD_MODEL_NO_INLINE);
    constexpr int32_t kLast = 7;
    steps.run_first = [=](nrd_batch* batch, nrd_error* error) {
      if (!patient && *static_cast<const int32_t*>(batch->inputs[0].data) == kLast) {
        CHECK(WaitForMark(batch));
      }
      Sleep(5);
      return SumInputs(batch, error, 1);
    };
    std::vector<TestRequest> requests;
    for (int32_t i = 0; i <= kLast; ++i) {
      requests.emplace_back(steps.ensemble, 1, i);
      CHECK(requests.back().Submit() <= NRD_OK);
    }
    if (patient) {
      CHECK(nrd_model_drain(steps.ensemble.get(), 0, nullptr) == NRD_OK);
    }
    steps.ensemble.Release();
    for (TestRequest& request : requests) {
      CHECK(nrd_request_wait(request.get(), 1) <= NRD_UNAVAILABLE);
      CHECK(request->status == (request->outputs[0].data != nullptr ? NRD_OK : NRD_UNAVAILABLE));
    }
    CHECK((requests.back()->status == NRD_OK) == patient);
  }
}

TEST_CASE("a step's model that is drained or gone fails the request; held records outlive all") {
  TestRuntime runtime;
  TwoSteps steps(runtime);
  TestRequest request(steps.ensemble);
  REQUIRE(request.Submit() == NRD_OK);
  CHECK(nrd_model_drain(steps.second.get(), 0, nullptr) == NRD_OK);
  CHECK(request.Submit() == NRD_UNAVAILABLE);
  CHECK(request.message() ==
        "in ensemble 'e', Request for unknown model: 'second' version 1 is not at "
        "ready state");
  steps.second.Release();
  CHECK(request.Submit() == NRD_UNAVAILABLE);
  CHECK(request.message() == "in ensemble 'e', model 'second' version 1 was unloaded");
  CHECK(steps.ensemble.stats().fail_rejected == 2);
  steps.ensemble.Release();
  steps.first.Release();
  CHECK(request.Submit() == NRD_UNAVAILABLE);
  CHECK(nrd_request_cancel(request.get()) == NRD_FAILED_PRECONDITION);
}

}  // namespace
}  // namespace nereid::test
