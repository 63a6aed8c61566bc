// Decoupled models among others: batches, threads, slow readers, and requests that end early.
#include <random>
#include <thread>

#include "test/core/decoupled_fixture.h"

namespace nereid::test {

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
  TestModel model(runtime, backend, {.flags = kDecoupled});
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
  TestModel model(runtime, backend, {.flags = kDecoupled});
  TestRequest request(model);
  uint64_t rejected = 0;
  CHECK(UnderSomeLimit(50, [&](int64_t limit_ms) {
    request->deadline_ns = In(limit_ms);
    CHECK(request.SubmitAndWait() == NRD_DEADLINE_EXCEEDED);
    ++rejected;
    return backend.executions > 0;
  }));
  CHECK(request.message() == "Request deadline expired while it was executing");
  CHECK(model.stats().fail_rejected == rejected);
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
  TestModel model(runtime, backend, {.flags = kDecoupled | NRD_MODEL_DYNAMIC_BATCHING});
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
  TestModel model(runtime, backend, {.flags = kDecoupled | NRD_MODEL_DYNAMIC_BATCHING});
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
  TestModel model(runtime, streaming, {.flags = kDecoupled, .instance_count = 2});
  TestModel decoupled(runtime, streaming, {.name = "other", .flags = kDecoupled});
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
  TestModel model(runtime, backend, {.flags = kDecoupled});
  TestRequest request(model);
  CHECK(request.Submit() == NRD_PENDING);
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), &error) == NRD_OK);
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
  TestModel model(runtime, backend, {.flags = kDecoupled});
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
  TestModel model(runtime, backend, {.flags = kDecoupled, .instance_count = 2});
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
                  {.flags = kDecoupled | NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 2});
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
