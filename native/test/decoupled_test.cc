// Models whose requests have any number of responses.
#include <map>
#include <random>
#include <thread>

#include "core_fixture.h"

namespace nereid::test {
namespace {

// Keeps what responses hold, by tag; `on_response` runs in the callback, without a lock.
struct Collector {
  std::function<void(uint64_t tag, nrd_tensor* outputs, uint32_t count)> on_response;
  std::mutex mutex;
  std::map<uint64_t, std::vector<std::vector<int32_t>>>
      values;  // of the first output that is there

  static void Respond(void* context, uint64_t tag, nrd_tensor* outputs, uint32_t count) {
    auto* const self = static_cast<Collector*>(context);
    {
      const std::lock_guard lock(self->mutex);
      const nrd_tensor& output = outputs[outputs[0].data == nullptr ? count - 1 : 0];
      const auto* const data = static_cast<const int32_t*>(output.data);
      self->values[tag].emplace_back(data, data + output.byte_size / sizeof(int32_t));
    }
    if (self->on_response) {
      self->on_response(tag, outputs, count);
    }
  }

  nrd_runtime_options Options() {
    nrd_runtime_options options{};
    options.respond = Respond;
    options.respond_context = this;
    return options;
  }

  std::vector<std::vector<int32_t>> Of(uint64_t tag) {
    const std::lock_guard lock(mutex);
    return values[tag];
  }
};

constexpr uint32_t kFlags = NRD_MODEL_DECOUPLED;

// Makes output `index` of one request: its rows, all equal to `value`.
int32_t Make(nrd_batch* batch, uint32_t request, uint32_t index, int32_t value, nrd_error* error) {
  const nrd_tensor& input = batch->requests[request]->inputs[0];
  void* data = nullptr;
  const int32_t code = nrd_batch_request_output(batch, request, index, NRD_TYPE_INT32, input.rank,
                                                input.shape, input.byte_size, &data, error);
  if (code == NRD_OK) {
    std::fill_n(static_cast<int32_t*>(data), input.byte_size / sizeof(int32_t), value);
  }
  return code;
}

int32_t Send(nrd_batch* batch, uint32_t request, int32_t value, nrd_error* error) {
  const int32_t code = Make(batch, request, 0, value, error);
  return code == NRD_OK ? nrd_batch_request_respond(batch, request, error) : code;
}

int32_t ValueOf(const nrd_batch* batch, uint32_t request) {
  return *static_cast<const int32_t*>(batch->requests[request]->inputs[0].data);
}

// Sends until it is told to stop; returns what told it.
int32_t SendUntilStopped(nrd_batch* batch, nrd_error* error) {
  const int64_t until_ns = In(10'000);
  int32_t code = NRD_OK;
  while (code == NRD_OK && nrd_clock_now_ns() < until_ns) {
    code = Send(batch, 0, 1, error);
  }
  return code;
}

std::string Text(const nrd_error& error) { return {error.message, error.message_size}; }

}  // namespace

TEST_CASE("responses come in order and before the last, which completes the request") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    for (int32_t i = 1; i <= 3; ++i) {
      CHECK(Send(batch, 0, i, error) == NRD_OK);
      CHECK(batch->requests[0]->outputs[0].data == nullptr);  // empty for the next
    }
    return Make(batch, 0, 0, 4, error);
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest request(model, 2);
  request->tag = 77;
  CHECK(request.Submit() == NRD_PENDING);  // an idle model, but never inline
  CHECK(request.Wait() == NRD_OK);
  CHECK(collector.Of(77) == std::vector<std::vector<int32_t>>{std::vector<int32_t>(8, 1),
                                                              std::vector<int32_t>(8, 2),
                                                              std::vector<int32_t>(8, 3)});
  CHECK(request.output() == std::vector<int32_t>(8, 4));
  CHECK(request->outputs[0].shape[0] == 2);
  const nrd_model_stats stats = model.stats();
  CHECK(stats.success.count == 1);
  CHECK(stats.inference_count == 2);
  CHECK(stats.execution_count == 1);
}

TEST_CASE("a request may end without a last response, or have none at all") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    for (int32_t i = 0; i < ValueOf(batch, 0); ++i) {
      CHECK(Send(batch, 0, i, error) == NRD_OK);
    }
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags, .output_count = 1});
  for (const int32_t count : {0, 1, 2}) {
    TestRequest request(model, 1, count);
    request->tag = static_cast<uint64_t>(count);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->outputs[0].data == nullptr);
    CHECK(request->outputs[0].byte_size == 0);
    CHECK(collector.Of(request->tag).size() == static_cast<size_t>(count));
  }
  CHECK(model.stats().success.count == 3);
  CHECK(model.stats().fail.count == 0);
}

TEST_CASE("a part of the outputs is no response") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  std::atomic<bool> last{false};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    CHECK(Make(batch, 0, 0, 1, error) == NRD_OK);
    if (last) {
      return int32_t{NRD_OK};
    }
    CHECK(nrd_batch_request_respond(batch, 0, error) == NRD_INTERNAL);
    CHECK(Text(*error) == "backend did not produce output 'OUTPUT1' of model 'm'");
    return int32_t{NRD_OK};  // the one that was refused is gone
  }};
  TestModel model(runtime, backend, {.flags = kFlags, .output_count = 2});
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data == nullptr);
  last = true;
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(request.message() == "backend did not produce output 'OUTPUT1' of model 'm'");
  CHECK(request->outputs[0].data == nullptr);
  CHECK(collector.Of(0).empty());
}

TEST_CASE("a response holds the outputs that the request selected and no others") {
  Collector collector;
  std::atomic<int> responses{0};
  collector.on_response = [&](uint64_t /*tag*/, const nrd_tensor* outputs, uint32_t count) {
    CHECK(count == 2);
    CHECK(outputs[0].data == nullptr);
    CHECK(outputs[0].slab == nullptr);
    CHECK(outputs[1].data != nullptr);
    CHECK(outputs[1].rank == 2);
    responses.fetch_add(1);
  };
  TestRuntime runtime(0, collector.Options());
  std::atomic<bool> both{true};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    CHECK((!both || Make(batch, 0, 0, 1, error) == NRD_OK));
    CHECK(Make(batch, 0, 1, 2, error) == NRD_OK);
    CHECK(nrd_batch_request_respond(batch, 0, error) == NRD_OK);
    return both ? Make(batch, 0, 0, 3, error) : Make(batch, 0, 1, 3, error);
  }};
  TestModel model(runtime, backend, {.flags = kFlags, .output_count = 2});
  TestRequest request(model);
  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data == nullptr);  // made last, but not wanted: no last response
  CHECK(request->outputs[1].data == nullptr);
  both = false;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request.output(1) == std::vector<int32_t>(4, 3));
  CHECK(responses == 2);
}

TEST_CASE("the callback takes buffers over by clearing the slab; others are dropped") {
  Collector collector;
  std::vector<void*> kept;
  collector.on_response = [&](uint64_t /*tag*/, nrd_tensor* outputs, uint32_t /*count*/) {
    if (kept.empty()) {
      kept.push_back(std::exchange(outputs[0].slab, nullptr));
    }
  };
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    for (int32_t i = 1; i <= 3; ++i) {
      CHECK(Send(batch, 0, i, error) == NRD_OK);
    }
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  {
    TestRequest request(model);
    CHECK(request.SubmitAndWait() == NRD_OK);
  }
  REQUIRE(kept.size() == 1);
  CHECK(runtime.live_bytes() > 0);
  CHECK(*static_cast<const int32_t*>(kept[0]) == 1);
  nrd_buffer_release(kept[0]);
  CHECK(runtime.live_bytes() == 0);
}

TEST_CASE("what a backend makes for a response is checked as all that it makes") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  std::atomic<bool> last{false};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const int64_t shape[] = {1, 1};
    const int64_t wrong[] = {2, 1};
    void* data = nullptr;
    CHECK(nrd_batch_request_output(batch, 0, 0, NRD_TYPE_INT32, 2, shape, 4, &data, error) ==
          NRD_INTERNAL);
    CHECK(nrd_batch_request_output(batch, 0, 0, NRD_TYPE_BYTES, 2, wrong, 4, &data, error) ==
          NRD_INTERNAL);
    CHECK(nrd_batch_request_output(batch, 0, 0, NRD_TYPE_BYTES, 2, shape, 6, &data, error) ==
          NRD_OK);
    std::memcpy(data, "\7\0\0\0ab", 6);  // says seven bytes, has two
    if (!last) {
      CHECK(nrd_batch_request_respond(batch, 0, error) == NRD_INTERNAL);
      CHECK(Text(*error).find("incomplete string data for output 'OUTPUT0'") != std::string::npos);
    }
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags, .datatype = NRD_TYPE_BYTES, .dim = 1});
  TestRequest request(model, 1, 0, 1);  // an int32 of 0 is an empty string too
  request->inputs[0].datatype = NRD_TYPE_BYTES;
  CHECK(request.SubmitAndWait() == NRD_OK);
  last = true;
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(collector.values.empty());
}

TEST_CASE("only decoupled models have several responses, and only requests that are there") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend plain{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Make(batch, 0, 0, 1, error) == NRD_OK);
    CHECK(nrd_batch_request_respond(batch, 0, error) == NRD_FAILED_PRECONDITION);
    CHECK(Text(*error) == "model 'm' is not decoupled: its requests have one response");
    return int32_t{NRD_OK};
  }};
  TestModel single(runtime, plain);
  TestRequest one(single);
  CHECK(one.SubmitAndWait() == NRD_OK);
  CHECK(one.output() == std::vector<int32_t>(4, 1));

  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(nrd_batch_request_respond(batch, 1, error) == NRD_INVALID_ARGUMENT);
    CHECK(Text(*error) == "backend named request 1, the batch has 1");
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    nrd_batch_request_fail(batch, 0, NRD_UNAVAILABLE, "gone", 4);
    CHECK(Send(batch, 0, 2, error) == NRD_INVALID_ARGUMENT);
    CHECK(Text(*error) == "backend sent a response for request 0, which had failed already");
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest request(model);
  request->tag = 5;
  CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK(request.message() == "gone");
  CHECK(collector.Of(5).size() == 1);
  CHECK(collector.Of(0).empty());
}

TEST_CASE("a failed execution fails the request, whatever was sent before") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    CHECK(Make(batch, 0, 0, 2, error) == NRD_OK);
    return Report(Status::Internal("broken"), error);
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(request->outputs[0].data == nullptr);
  CHECK(collector.Of(0).size() == 1);
  CHECK(model.stats().fail_backend == 1);
}

TEST_CASE("what decoupled models rule out is refused at load") {
  Collector collector;
  TestRuntime runtime(1 << 20, collector.Options());
  FunctionBackend backend{.run = CopyInputs};
  const nrd_backend table = backend.Table();
  nrd_model* model = nullptr;
  nrd_error error{};
  CHECK(LoadModel(runtime.get(), table, {.flags = kFlags | NRD_MODEL_RESPONSE_CACHE}, &model,
                  &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "response_cache is not possible with a decoupled model");
  CHECK(LoadModel(runtime.get(), table, {.flags = kFlags | NRD_MODEL_PRESERVE_ORDERING}, &model,
                  &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "preserve_ordering is not possible with a decoupled model");
}

TEST_CASE("a runtime without a respond callback has no decoupled models") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  nrd_model* model = nullptr;
  nrd_error error{};
  CHECK(LoadModel(runtime.get(), backend.Table(), {.flags = kFlags}, &model, &error) ==
        NRD_FAILED_PRECONDITION);
  CHECK(Text(error).find("respond callback") != std::string::npos);
  CHECK(backend.open_models == 0);
}

TEST_CASE("a cancelled request tells the backend to stop") {
  Collector collector;
  Gate first;
  collector.on_response = [&](uint64_t, const nrd_tensor*, uint32_t) { first.Enter(); };
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(SendUntilStopped(batch, error) == NRD_CANCELLED);
    CHECK(Text(*error) == "Request was cancelled while it was executing");
    CHECK(Send(batch, 0, 1, error) == NRD_CANCELLED);  // and stays so
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest request(model);
  CHECK(request.Submit() == NRD_PENDING);
  first.WaitForEntered(1);
  CHECK(nrd_request_cancel(request.get()) == NRD_FAILED_PRECONDITION);  // it is executing
  first.Open();
  CHECK(request.Wait() == NRD_CANCELLED);
  CHECK(request.message() == "Request was cancelled while it was executing");
  CHECK(collector.Of(0).size() == 1);
  CHECK(model.stats().fail_cancelled == 1);
}

TEST_CASE("a request past its deadline tells the backend to stop") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(SendUntilStopped(batch, error) == NRD_CANCELLED);
    CHECK(nrd_clock_now_ns() >= batch->requests[0]->deadline_ns);
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest request(model);
  request->deadline_ns = In(50);
  CHECK(request.SubmitAndWait() == NRD_DEADLINE_EXCEEDED);
  CHECK(request.message() == "Request deadline expired while it was executing");
  CHECK(model.stats().fail_rejected == 1);
}

TEST_CASE("requests of one batch are answered each in their own way") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      const int32_t value = ValueOf(batch, i);
      for (int32_t response = 0; response < value; ++response) {
        CHECK(Send(batch, i, value, error) == NRD_OK);
      }
      if (value == 3) {
        nrd_batch_request_fail(batch, i, NRD_NOT_FOUND, "three", 5);
      } else if (value == 2) {
        CHECK(Make(batch, i, 0, 200, error) == NRD_OK);
      }
    }
    return batch->request_count > 1 && ValueOf(batch, 1) == 2 ? CopyInputs(batch, error)
                                                              : int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags | NRD_MODEL_DYNAMIC_BATCHING});
  TestRequest blocker(model, 1, 0);
  CHECK(blocker.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  std::vector<TestRequest> requests;
  for (const int32_t value : {1, 2, 3, 4}) {
    requests.emplace_back(model, value % 2 + 1, value);
    requests.back()->tag = static_cast<uint64_t>(value);
    CHECK(requests.back().Submit() == NRD_PENDING);
  }
  gate.Open();
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(blocker->outputs[0].data == nullptr);
  CHECK(requests[0].Wait() == NRD_OK);
  CHECK(requests[0]->executed_batch_size == 6);
  CHECK(requests[0].output() == std::vector<int32_t>(8, 1));  // its rows of the batch's output
  CHECK(requests[1].Wait() == NRD_OK);
  CHECK(requests[1].output() == std::vector<int32_t>(4, 200));  // its own
  CHECK(requests[2].Wait() == NRD_NOT_FOUND);
  CHECK(requests[2]->outputs[0].data == nullptr);
  CHECK(requests[3].Wait() == NRD_OK);
  CHECK(requests[3].output() == std::vector<int32_t>(4, 4));
  for (TestRequest& request : requests) {
    CHECK(collector.Of(request->tag).size() == request->tag);
  }
  CHECK(model.stats().success.count == 4);
}

TEST_CASE("threads of the backend may answer different requests at the same time") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* /*error*/) {
    gate.Enter();
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      threads.emplace_back([batch, i] {
        nrd_error own{};
        own.struct_size = sizeof(own);
        for (int32_t response = 0; response < 200; ++response) {
          CHECK(Send(batch, i, ValueOf(batch, i), &own) == NRD_OK);
        }
        if (i == 1) {
          nrd_batch_request_fail(batch, i, NRD_INTERNAL, "one", 3);
        }
        CHECK(Make(batch, i, 0, -1, &own) == NRD_OK);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend, {.flags = kFlags | NRD_MODEL_DYNAMIC_BATCHING});
  TestRequest blocker(model, 1, 0);
  blocker->tag = 100;
  CHECK(blocker.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  std::vector<TestRequest> requests;
  for (int32_t i = 0; i < 4; ++i) {
    requests.emplace_back(model, 1, i);
    requests.back()->tag = static_cast<uint64_t>(i);
    CHECK(requests.back().Submit() == NRD_PENDING);
  }
  gate.Open();
  CHECK(blocker.Wait() == NRD_OK);
  for (int32_t i = 0; i < 4; ++i) {
    CHECK(requests[static_cast<size_t>(i)].Wait() == (i == 1 ? NRD_INTERNAL : NRD_OK));
    CHECK(collector.Of(static_cast<uint64_t>(i)) ==
          std::vector<std::vector<int32_t>>(200, std::vector<int32_t>(4, i)));
  }
}

TEST_CASE("a slow reader holds up its own instance and nobody else") {
  Collector collector;
  Gate slow;
  collector.on_response = [&](uint64_t tag, const nrd_tensor*, uint32_t) {
    if (tag == 1) {
      slow.Enter();
    }
  };
  TestRuntime runtime(0, collector.Options());
  FunctionBackend streaming{
      .run = [](nrd_batch* batch, nrd_error* error) { return Send(batch, 0, 1, error); }};
  FunctionBackend copying{.run = CopyInputs};
  TestModel model(runtime, streaming, {.flags = kFlags, .instance_count = 2});
  TestModel decoupled(runtime, streaming, {.name = "other", .flags = kFlags});
  TestModel plain(runtime, copying, {.name = "plain", .flags = 0});
  TestRequest stuck(model);
  stuck->tag = 1;
  CHECK(stuck.Submit() == NRD_PENDING);
  slow.WaitForEntered(1);
  for (TestModel* other : {&model, &decoupled, &plain}) {
    TestRequest request(*other);
    request->tag = 2;
    CHECK(request.SubmitAndWait() == NRD_OK);
    TestRequest late(*other);
    late->deadline_ns = In(-1);
    CHECK(late.Submit() == NRD_DEADLINE_EXCEEDED);
  }
  CHECK(nrd_request_wait(stuck.get(), In(10)) == NRD_DEADLINE_EXCEEDED);  // goes on
  CHECK(model.stats().executing_count == 1);
  slow.Open();
  CHECK(stuck.Wait() == NRD_OK);
}

TEST_CASE("the last answer comes after the responses, also through the completion callback") {
  struct Events {
    std::mutex mutex;
    std::string seen;
    void Add(char event) {
      const std::lock_guard lock(mutex);
      seen += event;
    }
  } events;
  nrd_runtime_options options{};
  options.respond_context = &events;
  options.respond = [](void* context, uint64_t, nrd_tensor*, uint32_t) {
    static_cast<Events*>(context)->Add('r');
  };
  options.complete_context = &events;
  options.complete = [](void* context, const uint64_t*, uint32_t) {
    static_cast<Events*>(context)->Add('c');
  };
  TestRuntime runtime(0, options);
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    return Send(batch, 0, 2, error);
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest request(model);
  CHECK(request.Submit() == NRD_PENDING);
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(10'000), &error) == NRD_OK);
  CHECK(events.seen == "rrc");
}

TEST_CASE("unloading waits for a decoupled request, which keeps all of its responses") {
  Collector collector;
  Gate gate;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    gate.Enter();
    CHECK(Send(batch, 0, 2, error) == NRD_OK);
    return Make(batch, 0, 0, 3, error);
  }};
  TestModel model(runtime, backend, {.flags = kFlags});
  TestRequest running(model);
  TestRequest queued(model);
  queued->tag = 9;
  CHECK(running.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  CHECK(queued.Submit() == NRD_PENDING);
  std::atomic<bool> unloaded{false};
  std::thread unloader([&] {
    model.Release();
    unloaded = true;
  });
  CHECK(queued.Wait() == NRD_UNAVAILABLE);
  CHECK_FALSE(unloaded);
  gate.Open();
  CHECK(running.Wait() == NRD_OK);
  unloader.join();
  CHECK(collector.Of(0).size() == 2);
  CHECK(collector.Of(9).empty());
  CHECK(running.output() == std::vector<int32_t>(4, 3));
  CHECK(backend.open_instances == 0);
}

TEST_CASE("what a warm-up sends reaches nobody") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    return Make(batch, 0, 0, 2, error);
  }};
  TestModel model(runtime, backend, {.flags = kFlags, .instance_count = 2});
  TestRequest request(model);
  CHECK(nrd_request_warm_up(request.get()) == NRD_OK);
  CHECK(backend.executions == 2);
  CHECK(collector.values.empty());
  CHECK(request->outputs[0].data == nullptr);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(collector.Of(0).size() == 1);
}

TEST_CASE("a request that ends well had every response; others had no more than were sent") {
  constexpr int kClients = 3;
  constexpr int kRequests = 400;
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      int32_t code = NRD_OK;
      for (int32_t response = 0; response < ValueOf(batch, i) && code == NRD_OK; ++response) {
        code = Send(batch, i, response, error);
      }
    }
    return int32_t{NRD_OK};
  }};
  TestModel model(runtime, backend,
                  {.flags = kFlags | NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 2});
  std::atomic<uint64_t> succeeded{0};
  const auto client = [&](uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRequests; ++i) {
      const auto count = static_cast<int32_t>(random() % 6);
      TestRequest request(model, 1, count);
      request->tag = (uint64_t{seed} << 32) | static_cast<uint64_t>(i);
      request->deadline_ns = random() % 4 == 0 ? nrd_clock_now_ns() + 100'000 : 0;
      int32_t code = request.Submit();
      if (code == NRD_PENDING) {
        if (random() % 4 == 0) {
          nrd_request_cancel(request.get());
        }
        code = request.Wait();
      }
      const auto responses = collector.Of(request->tag);
      CHECK(responses.size() <= static_cast<size_t>(count));
      for (size_t place = 0; place < responses.size(); ++place) {
        CHECK(responses[place] == std::vector<int32_t>(4, static_cast<int32_t>(place)));
      }
      if (code == NRD_OK) {
        CHECK(responses.size() == static_cast<size_t>(count));
        succeeded.fetch_add(1);
      } else {
        CHECK((code == NRD_CANCELLED || code == NRD_DEADLINE_EXCEEDED));
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i <= kClients; ++i) {
    threads.emplace_back(client, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const nrd_model_stats stats = model.stats();
  CHECK(stats.success.count == succeeded);
  CHECK(stats.success.count + stats.fail.count == kClients * kRequests);
  CHECK(succeeded > 0);
}

}  // namespace nereid::test
