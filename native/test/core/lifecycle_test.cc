// Tests loading, draining, releasing and cancelling, with all their failures.
#include <cstdlib>
#include <random>
#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

std::string Text(const nrd_error& error) { return {error.message, error.message_size}; }

TEST_CASE("a configuration that makes no sense is refused with the reason") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const auto reason = [&](const ModelSettings& settings) {
    nrd_model* model = nullptr;
    nrd_error error{};
    CHECK(LoadModel(runtime.get(), backend.Table(), settings, &model, &error) ==
          NRD_INVALID_ARGUMENT);
    return Text(error);
  };
  CHECK(reason({.name = ""}) == "model name cannot be empty");
  CHECK(reason({.max_batch_size = -2}).find("max_batch_size is -2") == 0);
  CHECK(reason({.preferred_sizes = {4, 9}}).find("preferred_batch_size 9 is outside 1 to 8") == 0);
  CHECK(reason({.priority_levels = 2, .default_priority_level = 3})
            .find("default_priority_level is 3, expected 1 to 2") == 0);
  CHECK(reason({.datatype = 99}).find("input 'INPUT0' has unknown datatype 99") == 0);
  CHECK(reason({.dim = -7}).find("input 'INPUT0' has dimension -7") == 0);
  CHECK(reason({.instance_count = 5000}).find("instance count is 5000") == 0);
  CHECK(backend.open_models == 0);
}

TEST_CASE("a backend that cannot open leaves nothing open") {
  TestRuntime runtime;
  FunctionBackend no_model{.run = CopyInputs, .fail_model = true};
  FunctionBackend no_instance{.run = CopyInputs, .fail_instance = 2};
  nrd_model* model = nullptr;
  nrd_error error{};
  CHECK(LoadModel(runtime.get(), no_model.Table(), {}, &model, &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "no such file");
  CHECK(LoadModel(runtime.get(), no_instance.Table(), {.instance_count = 4}, &model, &error) ==
        NRD_RESOURCE_EXHAUSTED);
  CHECK(Text(error) == "no device memory");
  CHECK(no_instance.open_instances == 0);
  CHECK(no_instance.open_models == 0);
}

TEST_CASE("a request that does not fit its model is told what was expected and what came") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  const auto refused = [&](auto&& spoil) {
    TestRequest request(model, 2);
    spoil(request->inputs[0]);
    CHECK(request.Submit() == NRD_INVALID_ARGUMENT);
    return std::string(request.message());
  };
  CHECK(refused([](nrd_tensor& input) { input.flags = 0; }) ==
        "expected 1 inputs but got 0 inputs for model 'm'. Got input(s) [], but missing required "
        "input(s) ['INPUT0']. Please provide all required input(s).");
  CHECK(refused([](nrd_tensor& input) { input.datatype = NRD_TYPE_FP32; }) ==
        "inference input 'INPUT0' data-type is 'FP32', but model 'm' expects 'INT32'");
  CHECK(refused([](nrd_tensor& input) {
          input.datatype = 77;
        }).find("data-type is '77', but model 'm' expects 'INT32'") != std::string::npos);
  CHECK(refused([](nrd_tensor& input) {
          input.rank = 1;
        }).find("unexpected shape for input 'INPUT0' for model 'm'. Expected [-1,4], got [2].") ==
        0);
  CHECK(refused([](nrd_tensor& input) { input.rank = 4'000'000'000U; }).find("at most 8") !=
        std::string::npos);
  CHECK(refused([](nrd_tensor& input) { input.shape[1] = -4; }).find("got [2,-4]") !=
        std::string::npos);
  CHECK(refused([](nrd_tensor& input) { input.byte_size = 31; }) ==
        "input byte size mismatch for input 'INPUT0' for model 'm'. Expected 32, got 31");
  CHECK(refused([](nrd_tensor& input) {
          input.shape[0] = 9;
          input.byte_size = 9 * 16;
        }) == "inference request batch-size must be <= 8 for 'm', got 9");
  CHECK(refused([](nrd_tensor& input) {
          input.shape[0] = 0;
          input.byte_size = 0;
        }) == "inference request batch-size must be >= 1 for 'm', got 0");
  CHECK(refused([](nrd_tensor& input) { input.shape[0] = INT64_MAX / 2; }).find("exceed") !=
        std::string::npos);
  CHECK(backend.executions == 0);
}

TEST_CASE("a backend that fails, throws or returns nonsense fails its batch and nothing else") {
  TestRuntime runtime;
  enum Fault { kNone, kStatus, kOddStatus, kThrow, kNothing, kWrongType, kWrongShape, kWrongRows };
  std::atomic<Fault> fault{kNone};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const nrd_tensor& input = batch->inputs[0];
    int64_t shape[NRD_MAX_RANK] = {input.shape[0], input.shape[1]};
    void* data = nullptr;
    switch (fault.load()) {
      case kStatus:
        return Report(Status(NRD_RESOURCE_EXHAUSTED, "device is full"), error);
      case kOddStatus:
        return int32_t{4711};
      case kThrow:
        throw std::runtime_error("boom");
      case kNothing:
        return int32_t{NRD_OK};
      case kWrongType:
        return nrd_batch_output(batch, 0, NRD_TYPE_FP64, 2, shape, 64, &data, error);
      case kWrongShape:
        shape[1] = 5;
        return nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, shape, 40, &data, error);
      case kWrongRows:
        shape[0] += 1;
        return nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, shape, 48, &data, error);
      default:
        return CopyInputs(batch, error);
    }
  }};
  for (const uint32_t flags : {0U, static_cast<uint32_t>(NRD_MODEL_NO_INLINE)}) {
    TestModel model(runtime, backend, {.flags = flags});
    const auto failure = [&](Fault kind, int32_t code) {
      fault = kind;
      TestRequest request(model, 2);
      CHECK(request.SubmitAndWait() == code);
      CHECK(request->outputs[0].data == nullptr);
      const std::string message(request.message());
      fault = kNone;
      TestRequest next(model, 2);
      CHECK(next.SubmitAndWait() == NRD_OK);
      return message;
    };
    CHECK(failure(kStatus, NRD_RESOURCE_EXHAUSTED) == "device is full");
    CHECK(failure(kOddStatus, NRD_INTERNAL) == "the backend failed with status 4711");
    CHECK(failure(kThrow, NRD_INTERNAL) == "the backend threw an exception: boom");
    CHECK(failure(kNothing, NRD_INTERNAL) ==
          "backend did not produce output 'OUTPUT0' of model 'm'");
    CHECK(failure(kWrongType, NRD_INTERNAL).find("expected INT32") != std::string::npos);
    CHECK(failure(kWrongShape, NRD_INTERNAL).find("produced shape [2,5]") != std::string::npos);
    CHECK(failure(kWrongRows, NRD_INTERNAL).find("with batch size 2") != std::string::npos);
    CHECK(model.stats().fail_backend == 7);
  }
}

TEST_CASE("BYTES that a backend writes are checked, and cut between the requests of a batch") {
  TestRuntime runtime;
  Gate gate;
  std::atomic<bool> lie{false};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    const int32_t code = CopyInputs(batch, error);
    if (lie) {
      std::memset(batch->outputs[0].data, 0xFF, 4);
    }
    return code;
  }};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE,
                   .datatype = NRD_TYPE_BYTES,
                   .dim = 1});
  const auto fill = [](TestRequest& request, std::string_view text) {
    nrd_tensor& input = request->inputs[0];
    input.datatype = NRD_TYPE_BYTES;
    input.byte_size = 4 + text.size();
    REQUIRE(nrd_request_input_alloc(request.get(), 0) == NRD_OK);
    const auto size = static_cast<uint32_t>(text.size());
    std::memcpy(input.data, &size, 4);
    std::memcpy(static_cast<char*>(input.data) + 4, text.data(), text.size());
  };
  TestRequest blocker(model, 1, 0, 1);
  TestRequest one(model, 1, 0, 1);
  TestRequest two(model, 1, 0, 1);
  fill(blocker, "first");
  fill(one, "a");
  fill(two, "bcd");
  blocker.Submit();
  gate.WaitForEntered(1);
  one.Submit();
  two.Submit();
  gate.Open();
  CHECK(one.Wait() == NRD_OK);
  CHECK(two.Wait() == NRD_OK);
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(one->outputs[0].byte_size == 5);
  REQUIRE(two->outputs[0].byte_size == 7);
  CHECK(std::memcmp(static_cast<char*>(two->outputs[0].data) + 4, "bcd", 3) == 0);
  lie = true;
  TestRequest broken(model, 1, 0, 1);
  fill(broken, "xyz");
  CHECK(broken.SubmitAndWait() == NRD_INTERNAL);
}

TEST_CASE("one request of a batch can fail alone, and a backend can answer each by itself") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      const nrd_tensor& input = batch->requests[i]->inputs[0];
      const int32_t value = *static_cast<const int32_t*>(input.data);
      if (value == 13) {
        nrd_batch_request_fail(batch, i, NRD_INVALID_ARGUMENT, "unlucky", 7);
        continue;
      }
      void* data = nullptr;
      const int32_t code = nrd_batch_request_output(batch, i, 0, NRD_TYPE_INT32, 2, input.shape,
                                                    input.byte_size, &data, error);
      if (code != NRD_OK) {
        return code;
      }
      std::fill_n(static_cast<int32_t*>(data), input.byte_size / 4, value * 2);
    }
    return int32_t{NRD_OK};
  }};
  backend.flags = NRD_BACKEND_GATHERS;
  TestModel model(runtime, backend, {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest good(model, 2, 4);
  TestRequest bad(model, 1, 13);
  good.Submit();
  bad.Submit();
  gate.Open();
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(good.Wait() == NRD_OK);
  CHECK(good.output() == std::vector<int32_t>(8, 8));
  CHECK(bad.Wait() == NRD_INVALID_ARGUMENT);
  CHECK(bad.message() == "unlucky");
}

TEST_CASE("a cancelled request never executes, whatever stage it is cancelled at") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend);
  TestRequest before(model);
  CHECK(nrd_request_cancel(before.get()) == NRD_OK);
  CHECK(before.Submit() == NRD_CANCELLED);

  TestRequest executing(model);
  executing.Submit();
  gate.WaitForEntered(1);
  TestRequest queued(model);
  queued.Submit();
  CHECK(nrd_request_cancel(queued.get()) == NRD_OK);
  CHECK(queued.Wait() == NRD_CANCELLED);
  CHECK(model.stats().pending_count == 0);

  CHECK(nrd_request_cancel(executing.get()) == NRD_FAILED_PRECONDITION);
  CHECK(nrd_request_is_cancelled(executing.get()) == 1);
  gate.Open();
  CHECK(executing.Wait() == NRD_OK);
  CHECK(nrd_request_cancel(executing.get()) == NRD_FAILED_PRECONDITION);
  CHECK(backend.executions == 1);
  CHECK(model.stats().fail_cancelled == 2);

  nrd_request_reset(queued.get());  // the record serves again
  TestRequest again(model);
  CHECK(again.SubmitAndWait() == NRD_OK);
}

TEST_CASE("draining refuses new requests and lets those it has finish") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend);
  TestRequest executing(model);
  TestRequest waiting(model);
  executing.Submit();
  gate.WaitForEntered(1);
  waiting.Submit();
  std::thread drainer([&] {
    nrd_error error{};
    CHECK(nrd_model_drain(model.get(), 0, &error) == NRD_OK);
  });
  TestRequest late(model);
  int32_t code = NRD_PENDING;
  while (code != NRD_UNAVAILABLE) {  // until the drainer has begun
    nrd_request_reset(late.get());
    TestRequest probe(model);
    probe->deadline_ns = In(1);
    code = probe.Submit();
    if (code == NRD_PENDING) {
      probe.Wait();
    } else if (code == NRD_UNAVAILABLE) {
      CHECK(probe.message() == "Request for unknown model: 'm' version 1 is not at ready state");
    }
  }
  gate.Open();
  drainer.join();
  CHECK(executing.Wait() == NRD_OK);
  CHECK(waiting.Wait() == NRD_OK);
}

TEST_CASE("a drain that runs out of time answers what still waits") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend);
  TestRequest executing(model);
  TestRequest waiting(model);
  executing.Submit();
  gate.WaitForEntered(1);
  waiting.Submit();
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(20), &error) == NRD_DEADLINE_EXCEEDED);
  CHECK(waiting.Wait() == NRD_UNAVAILABLE);
  gate.Open();
  CHECK(executing.Wait() == NRD_OK);
  // The record outlives the model.
  model.Release();
  CHECK(executing.output() == std::vector<int32_t>(4, 7));
  CHECK(executing.Submit() == NRD_UNAVAILABLE);
  CHECK(nrd_request_cancel(executing.get()) != NRD_OK);
  CHECK(backend.open_instances == 0);
  CHECK(backend.open_models == 0);
}

TEST_CASE("a pool without memory fails the request, and serves again when there is some") {
  static std::atomic<bool> empty{false};
  nrd_runtime_options options{};
  options.pool_chunk_bytes = 1 << 20;
  options.pool_byte_limit = 8 << 20;
  options.allocate = [](void*, uint64_t byte_size) -> void* {
    return empty ? nullptr : std::aligned_alloc(1 << 21, (byte_size + (1 << 21) - 1) >> 21 << 21);
  };
  options.deallocate = [](void*, void* memory, uint64_t) { std::free(memory); };
  TestRuntime runtime(0, options);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.max_batch_size = 1, .dim = -1});
  {
    TestRequest request(model, 1, 1, 500'000);
    empty = true;
    CHECK(request.SubmitAndWait() == NRD_RESOURCE_EXHAUSTED);
    CHECK(!request.message().empty());
    empty = false;
    CHECK(request.SubmitAndWait() == NRD_OK);
  }
  TestRequest larger(model, 1, 1, 4);
  larger->inputs[0].byte_size = UINT64_MAX;
  CHECK(nrd_request_input_alloc(larger.get(), 0) == NRD_RESOURCE_EXHAUSTED);
  CHECK(larger->inputs[0].data == nullptr);
}

TEST_CASE("unknown backends, wrong sizes and a runtime in use are refused") {
  nrd_backend table{};
  nrd_error error{};
  CHECK(nrd_backend_find("tensorflow", 10, &table, &error) == NRD_NOT_FOUND);
  nrd_runtime* wrong = nullptr;
  nrd_runtime_options options{};
  CHECK(nrd_runtime_create(&options, &wrong, &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error).find("nrd_runtime_options.struct_size is 0") == 0);

  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  void* buffer = nullptr;
  REQUIRE(nrd_buffer_alloc(runtime.get(), 100, &buffer, &error) == NRD_OK);
  CHECK(nrd_runtime_release(runtime.get(), &error) == NRD_FAILED_PRECONDITION);
  CHECK(Text(error) == "the runtime is still in use: 1 models, 0 sources, 0 requests, 1 buffers");
  nrd_buffer_release(buffer);
}

// Everything at once, from several threads; the fixtures check that nothing is left.
TEST_CASE("submits, cancels, timeouts, failures and unloads under load") {
  TestRuntime runtime(1 << 20);
  std::atomic<uint64_t> turn{0};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const uint64_t now = turn.fetch_add(1);
    if (now % 17 == 0) {
      return Report(Status::Internal("every seventeenth"), error);
    }
    if (now % 5 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return CopyInputs(batch, error);
  }};
  for (int round = 0; round < 8; ++round) {
    TestModel model(runtime, backend,
                    {.flags = (round % 2 == 0 ? uint32_t{NRD_MODEL_DYNAMIC_BATCHING} : 0U) |
                              (round % 3 == 0 ? uint32_t{NRD_MODEL_RESPONSE_CACHE} : 0U) |
                              (round % 4 == 3 ? uint32_t{NRD_MODEL_PRESERVE_ORDERING} : 0U),
                     .instance_count = 2,
                     .max_queue_delay_ns = round % 4 == 0 ? 50'000U : 0U,
                     .policy = {.default_timeout_ns = 2'000'000, .max_queue_size = 64}});
    std::atomic<uint64_t> answered{0};
    const auto client = [&](uint64_t seed) {
      std::mt19937_64 random(seed);
      for (int i = 0; i < 300; ++i) {
        const auto value = static_cast<int32_t>(random() % 50);
        TestRequest request(model, 1 + static_cast<int64_t>(random() % 3), value);
        request->flags = random() % 2 == 0 ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
        request->deadline_ns = random() % 4 == 0 ? In(1) : 0;
        int32_t code = request.Submit();
        if (code == NRD_PENDING) {
          if (random() % 3 == 0) {
            (void)nrd_request_cancel(request.get());
          }
          code = request.Wait();
        }
        if (code == NRD_OK) {
          REQUIRE(request.output().front() == value);
        }
        REQUIRE(code != NRD_PENDING);
        answered.fetch_add(1);
      }
    };
    std::vector<std::thread> clients;
    for (uint64_t i = 0; i < 4; ++i) {
      clients.emplace_back(client, i + static_cast<uint64_t>(round) * 10);
    }
    if (round % 2 == 1) {
      nrd_error error{};
      (void)nrd_model_drain(model.get(), In(5), &error);
    }
    for (std::thread& thread : clients) {
      thread.join();
    }
    CHECK(answered == 1200);
    const nrd_model_stats stats = model.stats();
    CHECK(stats.success.count + stats.fail.count == 1200);
    CHECK(stats.pending_count == 0);
    CHECK(stats.executing_count == 0);
  }
}

}  // namespace
}  // namespace nereid::test
