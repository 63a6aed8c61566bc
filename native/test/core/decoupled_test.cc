// Tests the responses of models whose requests have any number of them.
#include "test/core/decoupled_fixture.h"

namespace nereid::test {

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
  TestModel model(runtime, backend, {.flags = kDecoupled});
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
  TestModel model(runtime, backend, {.flags = kDecoupled, .output_count = 1});
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

TEST_CASE("an error may be a response, and others follow") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    CHECK(Make(batch, 0, 0, 9, error) == NRD_OK);  // the output is dropped
    CHECK(SendError(batch, 0, error) == NRD_OK);
    return Make(batch, 0, 0, 3, error);
  }};
  TestModel model(runtime, backend, {.flags = kDecoupled});
  TestRequest request(model, 1);
  std::vector<std::string> told;
  collector.on_response = [&](uint64_t, const nrd_tensor*, uint32_t count) {
    told.push_back(std::to_string(count) + ", " + std::to_string(request->status) + ": " +
                   Text(*request->error));
  };
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(told == std::vector<std::string>{"1, 0: ", "0, 5: not this one"});
  CHECK(collector.Of(0) == std::vector<std::vector<int32_t>>{std::vector<int32_t>(4, 1), {}});
  CHECK(request.output() == std::vector<int32_t>(4, 3));
  CHECK(request.message() == "");
  CHECK(model.stats().success.count == 1);
  CHECK(model.stats().fail.count == 0);

  FunctionBackend once{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(SendError(batch, 0, error) == NRD_FAILED_PRECONDITION);
    return Make(batch, 0, 0, 3, error);
  }};
  TestModel single(runtime, once, {});
  TestRequest other(single, 1);
  CHECK(other.SubmitAndWait() == NRD_OK);
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
  TestModel model(runtime, backend, {.flags = kDecoupled, .output_count = 2});
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data == nullptr);
  last = true;
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(request.message() == "backend did not produce output 'OUTPUT1' of model 'm'");
  CHECK(request->outputs[0].data == nullptr);
  CHECK(collector.Of(0).empty());
}

TEST_CASE("a backend with free outputs leaves some out") {
  Collector collector;
  std::atomic<int> responses{0};
  collector.on_response = [&](uint64_t /*tag*/, const nrd_tensor* outputs, uint32_t /*count*/) {
    CHECK(outputs[0].data == nullptr);
    CHECK(outputs[1].data != nullptr);
    responses.fetch_add(1);
  };
  TestRuntime runtime(0, collector.Options());
  FunctionBackend backend{.run =
                              [](nrd_batch* batch, nrd_error* error) {
                                CHECK(Make(batch, 0, 1, 1, error) == NRD_OK);
                                CHECK(nrd_batch_request_respond(batch, 0, error) == NRD_OK);
                                return Make(batch, 0, 0, 2, error);
                              },
                          .flags = NRD_BACKEND_FREE_OUTPUTS};
  TestModel model(runtime, backend, {.flags = kDecoupled, .output_count = 2});
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(responses == 1);
  CHECK(request.output() == std::vector<int32_t>(4, 2));
  CHECK(request->outputs[1].data == nullptr);
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
  TestModel model(runtime, backend, {.flags = kDecoupled, .output_count = 2});
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
  TestModel model(runtime, backend, {.flags = kDecoupled});
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
  TestModel model(runtime, backend, {.flags = kDecoupled, .datatype = NRD_TYPE_BYTES, .dim = 1});
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
  TestModel model(runtime, backend, {.flags = kDecoupled});
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
  TestModel model(runtime, backend, {.flags = kDecoupled});
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
  CHECK(LoadModel(runtime.get(), table, {.flags = kDecoupled | NRD_MODEL_RESPONSE_CACHE}, &model,
                  &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "response_cache is not possible with a decoupled model");
  CHECK(LoadModel(runtime.get(), table, {.flags = kDecoupled | NRD_MODEL_PRESERVE_ORDERING}, &model,
                  &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "preserve_ordering is not possible with a decoupled model");
}

TEST_CASE("a runtime without a respond callback has no decoupled models") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  nrd_model* model = nullptr;
  nrd_error error{};
  CHECK(LoadModel(runtime.get(), backend.Table(), {.flags = kDecoupled}, &model, &error) ==
        NRD_FAILED_PRECONDITION);
  CHECK(Text(error).find("respond callback") != std::string::npos);
  CHECK(backend.open_models == 0);
}

}  // namespace nereid::test
