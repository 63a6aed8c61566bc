// Tests ragged inputs, and the core's descriptions of them for a backend.
#include <numeric>

#include "test/core/ragged_fixture.h"

namespace nereid::test {
namespace {

using Ints = std::vector<int32_t>;

constexpr auto kKinds = {NRD_COMBINE_ELEMENT_COUNT,
                         NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT,
                         NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO,
                         NRD_COMBINE_MAX_ELEMENT_COUNT_AS_SHAPE,
                         NRD_COMBINE_ITEM_SHAPE,
                         NRD_COMBINE_ITEM_SHAPE_FLATTEN};

std::vector<Combined> AllKinds(int32_t datatype) {
  std::vector<Combined> all;
  for (const int32_t kind : kKinds) {
    all.push_back({.kind = kind, .datatype = datatype});
  }
  return all;
}

// Executes the requests in one batch, behind another that keeps the instance busy meanwhile.
const RaggedBatch& RunTogether(RecordingBackend& recording, TestModel& model,
                               std::vector<RaggedRequest>& requests) {
  RaggedRequest first(model, Dims{1, 1}, Ints{0});
  REQUIRE(first.Submit() == NRD_PENDING);
  recording.gate.WaitForEntered(1);
  for (RaggedRequest& request : requests) {
    REQUIRE(request.Submit() == NRD_PENDING);
  }
  recording.gate.Open();
  REQUIRE(first.Wait() == NRD_OK);
  for (RaggedRequest& request : requests) {
    const int32_t code = request.Wait();
    REQUIRE_MESSAGE(code == NRD_OK, request.message());
  }
  REQUIRE(recording.batches.size() == 2);
  return recording.batches[1];
}

Ints Count(int32_t from, size_t count) {
  Ints values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST_CASE("ragged: requests of three lengths share a batch, which tells where each ends") {
  TestRuntime runtime;
  RecordingBackend recording;
  TestModel model(
      LoadRagged(runtime, recording.backend,
                 {.combined = {{NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT, NRD_TYPE_FP32}}}));
  std::vector<RaggedRequest> requests;
  requests.emplace_back(model, Dims{1, 3}, Count(0, 3), 1);
  requests.emplace_back(model, Dims{1, 4}, Count(3, 4), 2);
  requests.emplace_back(model, Dims{1, 5}, Count(7, 5), 3);
  const RaggedBatch& batch = RunTogether(recording, model, requests);
  CHECK(batch.rows == 3);
  CHECK(batch.first_rows == std::vector<uint32_t>{0, 1, 2});
  REQUIRE(batch.inputs.size() == 3);
  CHECK(batch.inputs[0].shape() == Dims{12});
  CHECK(batch.inputs[0].values<int32_t>() == Count(0, 12));
  CHECK(batch.inputs[1].shape() == Dims{3, 1});
  CHECK(batch.inputs[1].values<int32_t>() == Ints{1, 2, 3});
  CHECK(batch.inputs[2].shape() == Dims{3});
  CHECK(batch.inputs[2].tensor.flags == NRD_TENSOR_SELECTED);
  CHECK(batch.inputs[2].values<float>() == std::vector<float>{3, 7, 12});
  for (RaggedRequest& request : requests) {
    CHECK(request.output(0).shape() == request.shape);
    CHECK(request.output(0).data == request.data);
    CHECK(request.output(1).values<int32_t>() == Ints{static_cast<int32_t>(request->tag)});
    CHECK(request->executed_batch_size == 3);
  }
}

TEST_CASE("ragged: every kind of batch input, for requests of several rows in two dimensions") {
  TestRuntime runtime;
  RecordingBackend recording;
  TestModel model(LoadRagged(
      runtime, recording.backend,
      {.dims = {-1, 2}, .reshape = Dims{-1, 1, 2}, .combined = AllKinds(NRD_TYPE_INT32)}));
  RaggedRequest busy(model, Dims{1, 1, 2}, Ints{0, 0});
  REQUIRE(busy.Submit() == NRD_PENDING);
  recording.gate.WaitForEntered(1);
  RaggedRequest two(model, Dims{2, 3, 2}, Count(0, 12));
  RaggedRequest one(model, Dims{1, 4, 2}, Count(12, 8));
  REQUIRE(two.Submit() == NRD_PENDING);
  REQUIRE(one.Submit() == NRD_PENDING);
  recording.gate.Open();
  REQUIRE(busy.Wait() == NRD_OK);
  REQUIRE(two.Wait() == NRD_OK);
  REQUIRE(one.Wait() == NRD_OK);
  REQUIRE(recording.batches.size() == 2);
  const std::vector<Seen>& inputs = recording.batches[1].inputs;
  CHECK(recording.batches[1].rows == 3);
  CHECK(recording.batches[1].first_rows == std::vector<uint32_t>{0, 2});
  CHECK(inputs[0].shape() == Dims{20});
  CHECK(inputs[2].values<int32_t>() == Ints{12, 8});
  CHECK(inputs[2].shape() == Dims{2});
  CHECK(inputs[3].values<int32_t>() == Ints{12, 20});
  CHECK(inputs[4].values<int32_t>() == Ints{0, 12, 20});
  CHECK(inputs[4].shape() == Dims{3});
  CHECK(inputs[5].shape() == Dims{12});
  CHECK(inputs[5].values<int32_t>() == Ints(12));
  const Ints sizes{3, 1, 2, 3, 1, 2, 4, 1, 2};  // as the backend would see the rows
  CHECK(inputs[6].shape() == Dims{3, 3});
  CHECK(inputs[6].values<int32_t>() == sizes);
  CHECK(inputs[7].shape() == Dims{9});
  CHECK(inputs[7].values<int32_t>() == sizes);
  CHECK(two.output(0).shape() == two.shape);
  CHECK(one.output(0).data == one.data);
}

TEST_CASE("ragged: a request alone is flattened where it lies, and inline") {
  TestRuntime runtime;
  FunctionBackend backend;
  const void* data = nullptr;
  Dims shape;
  backend.run = [&](nrd_batch* batch, nrd_error* error) {
    data = batch->inputs[0].data;
    shape = See(batch->inputs[0]).shape();
    CHECK(batch->inputs[0].slab == nullptr);
    CHECK(batch->input_count == 3);
    CHECK(See(batch->inputs[2]).values<int32_t>() == Ints{0, 6});
    return CopyInputs(batch, error);
  };
  TestModel model(
      LoadRagged(runtime, backend,
                 {.combined = {{NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO}}, .flags = 0}));
  RaggedRequest request(model, Dims{2, 3}, Count(0, 6));
  REQUIRE(request.Submit() == NRD_OK);
  CHECK(request->ran_inline == 1);
  CHECK(data == request->inputs[0].data);
  CHECK(shape == Dims{6});
  CHECK(request.output(0).shape() == Dims{2, 3});
}

TEST_CASE("ragged: without a batch dimension counts are those of the one request") {
  TestRuntime runtime;
  RecordingBackend recording;
  recording.gate.Open();
  TestModel model(LoadRagged(runtime, recording.backend,
                             {.max_batch_size = 0,
                              .combined = {{NRD_COMBINE_ELEMENT_COUNT}},
                              .flags = NRD_MODEL_NO_INLINE}));
  RaggedRequest request(model, Dims{5}, Count(0, 5));
  REQUIRE(request.Submit() == NRD_PENDING);
  REQUIRE(request.Wait() == NRD_OK);
  CHECK(recording.batches[0].inputs[0].shape() == Dims{5});
  CHECK(recording.batches[0].inputs[2].values<int32_t>() == Ints{5});
  CHECK(request.output(0).shape() == Dims{5});
}

TEST_CASE("ragged: who gathers by itself gets the batch's inputs too, and no device tensors") {
  TestRuntime runtime;
  RecordingBackend recording;
  recording.backend.flags = NRD_BACKEND_GATHERS | NRD_BACKEND_DEVICE_TENSORS;
  recording.gate.Open();
  TestModel model(
      LoadRagged(runtime, recording.backend, {.combined = {{NRD_COMBINE_ELEMENT_COUNT}}}));
  RaggedRequest request(model, Dims{1, 5}, Count(0, 5));
  REQUIRE(request.Submit() == NRD_PENDING);
  REQUIRE(request.Wait() == NRD_OK);
  CHECK(recording.batches[0].inputs[0].shape() == Dims{5});
  nrd_request_drop_inputs(request.get());
  request->inputs[0].data = reinterpret_cast<void*>(uintptr_t{4096});
  request->inputs[0].flags = NRD_TENSOR_SELECTED | NRD_TENSOR_DEVICE;
  CHECK(request.Submit() == NRD_INVALID_ARGUMENT);
  CHECK(request.message().find("in the memory of a device") != std::string::npos);
}

TEST_CASE("ragged: other inputs still keep requests apart") {
  TestRuntime runtime;
  RecordingBackend recording;
  RaggedOptions options(recording.backend, {});
  options.inputs[1].dims[0] = options.outputs[1].dims[0] = -1;
  nrd_model* loaded = nullptr;
  REQUIRE(nrd_model_load(runtime.get(), options.Finish(), nullptr, &loaded, nullptr) == NRD_OK);
  TestModel model(loaded);
  std::vector<RaggedRequest> requests;
  for (uint64_t i = 0; i < 3; ++i) {
    requests.emplace_back(model, Dims{1, 2}, Ints{1, 2}, i);
  }
  requests[2]->inputs[1].shape[1] = 0;
  requests[2]->inputs[1].byte_size = 0;
  REQUIRE(requests[0].Submit() == NRD_PENDING);
  recording.gate.WaitForEntered(1);
  REQUIRE(requests[1].Submit() == NRD_PENDING);
  REQUIRE(requests[2].Submit() == NRD_PENDING);
  recording.gate.Open();
  for (RaggedRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
  CHECK(recording.batches.size() == 3);
}

TEST_CASE("ragged: records and names have what requests bring alone") {
  TestRuntime runtime;
  FunctionBackend backend;
  int wanted = 0;
  backend.run = [&](nrd_batch* batch, nrd_error* error) {
    CHECK(batch->input_count == 8);
    CHECK(batch->output_count == 3);
    wanted += (batch->outputs[2].flags & NRD_TENSOR_SELECTED) != 0 ? 1 : 0;
    void* data = nullptr;
    CHECK(nrd_batch_request_output(batch, 0, 2, NRD_TYPE_INT32, 2, batch->inputs[1].shape, 4, &data,
                                   error) == NRD_INTERNAL);
    return CopyInputs(batch, error);  // the hidden output too
  };
  RaggedOptions options(backend, {.combined = AllKinds(NRD_TYPE_FP32)});
  options.outputs.push_back(options.inputs[2]);  // an element count a request: FP32, no dims
  nrd_model* loaded = nullptr;
  nrd_error error{};
  const int32_t code = nrd_model_load(runtime.get(), options.Finish(), nullptr, &loaded, &error);
  REQUIRE_MESSAGE(code == NRD_OK, std::string(error.message, error.message_size));
  TestModel model(loaded);
  RaggedRequest request(model, Dims{1, 2}, Ints{1, 2});
  CHECK(request->input_count == 2);
  CHECK(request->output_count == 2);
  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  REQUIRE(request.Submit() == NRD_PENDING);
  const int32_t answered = request.Wait();
  CHECK_MESSAGE(answered == NRD_OK, request.message());
  CHECK(wanted == 1);
  uint32_t index = 7;
  CHECK(nrd_model_input_index(model.get(), "ROWS", 4, &index) == NRD_OK);
  CHECK(nrd_model_input_index(model.get(), "HIDDEN2", 7, &index) == NRD_NOT_FOUND);
  CHECK(nrd_model_output_index(model.get(), "HIDDEN2", 7, &index) == NRD_NOT_FOUND);
}

TEST_CASE("ragged: a count beyond INT32 fails the request") {
  TestRuntime runtime;
  RecordingBackend recording;
  recording.gate.Open();
  TestModel model(
      LoadRagged(runtime, recording.backend,
                 {.dims = {-1, -1}, .combined = {{NRD_COMBINE_ITEM_SHAPE}}, .scattered = false}));
  RaggedRequest request(model, Dims{1, int64_t{1} << 40, 0}, Ints{});
  REQUIRE(request.Submit() == NRD_PENDING);
  CHECK(request.Wait() == NRD_INVALID_ARGUMENT);
  CHECK(request.message() ==
        "batch input 'HIDDEN2' is INT32, which cannot hold " + std::to_string(int64_t{1} << 40));
}

TEST_CASE("ragged: no memory for a batch input fails its requests and leaks nothing") {
  nrd_runtime_options options{};
  options.pool_byte_limit = 2 << 20;
  options.pool_chunk_bytes = 1 << 20;
  TestRuntime runtime(0, options);
  RecordingBackend recording;
  recording.gate.Open();
  TestModel model(LoadRagged(
      runtime, recording.backend,
      {.datatype = NRD_TYPE_UINT8,
       .combined = {{NRD_COMBINE_ELEMENT_COUNT}, {NRD_COMBINE_MAX_ELEMENT_COUNT_AS_SHAPE}}}));
  {
    constexpr int64_t kBytes = 700'000;  // four bytes each are too many
    RaggedRequest request(model, NRD_TYPE_UINT8, Dims{1, kBytes}, std::vector<uint8_t>(kBytes), 0);
    const uint64_t before = runtime.live_bytes();
    REQUIRE(request.Submit() == NRD_PENDING);
    CHECK(request.Wait() == NRD_RESOURCE_EXHAUSTED);
    CHECK(runtime.live_bytes() == before);
  }
  RaggedRequest small(model, NRD_TYPE_UINT8, Dims{1, 4}, {1, 2, 3, 4}, 0);
  REQUIRE(small.Submit() == NRD_PENDING);
  CHECK(small.Wait() == NRD_OK);
}

// Executes the two requests in one batch; returns the first code that is no NRD_OK.
int32_t RunBoth(RaggedRequest& one, RaggedRequest& other) {
  REQUIRE(one.Submit() == NRD_PENDING);
  REQUIRE(other.Submit() == NRD_PENDING);
  const int32_t code = one.Wait();
  const int32_t other_code = other.Wait();
  CHECK(one->executed_batch_size == 2);
  return code == NRD_OK ? other_code : code;
}

nrd_model* LoadPairs(TestRuntime& runtime, FunctionBackend& backend, const nrd_backend* table) {
  RaggedOptions options(backend, {.max_batch_size = 2, .scattered = false});
  if (table != nullptr) {
    options.table = *table;
  }
  options.options.max_queue_delay_ns = kUntilFullNs;
  nrd_model* model = nullptr;
  nrd_error error{};
  REQUIRE(nrd_model_load(runtime.get(), options.Finish(), nullptr, &model, &error) == NRD_OK);
  return model;
}

TEST_CASE("ragged: the identity backend answers each request with its own") {
  TestRuntime runtime;
  nrd_backend identity{};
  REQUIRE(nrd_backend_find("identity", 8, &identity, nullptr) == NRD_OK);
  FunctionBackend unused;
  TestModel model(LoadPairs(runtime, unused, &identity));
  const std::vector<std::pair<size_t, size_t>> sizes = {{3, 5}, {0, 2}, {1, 1}};
  for (const auto& [left, right] : sizes) {
    RaggedRequest one(model, Dims{1, static_cast<int64_t>(left)}, Ints(left, 111));
    RaggedRequest other(model, Dims{1, static_cast<int64_t>(right)}, Ints(right, 222));
    REQUIRE(RunBoth(one, other) == NRD_OK);
    for (RaggedRequest* request : {&one, &other}) {
      CHECK(request->output(0).shape() == request->shape);
      CHECK(request->output(0).data == request->data);
    }
  }
}

TEST_CASE("ragged: an output without the rows of its batch is not divided among requests") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs, .flags = NRD_BACKEND_FREE_OUTPUTS};
  TestModel model(LoadPairs(runtime, backend, nullptr));
  RaggedRequest one(model, Dims{1, 3}, Ints(3, 111));
  RaggedRequest other(model, Dims{1, 5}, Ints(5, 222));
  CHECK(RunBoth(one, other) == NRD_INTERNAL);
  for (RaggedRequest* request : {&one, &other}) {
    CHECK(request->message() ==
          "backend produced shape [8] for output 'OUT' of model 'ragged' in a batch of several "
          "requests, expected 2 rows");
    CHECK(request->output(0).data.empty());
  }
}

}  // namespace
}  // namespace nereid::test
