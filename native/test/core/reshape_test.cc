// Models whose backend sees tensors in another shape than clients.
#include "core/request/reshape.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

using Dims = std::vector<int64_t>;

// One input and one output of int32 or BYTES, whose client and backend shapes are given.
struct ReshapeSettings {
  int64_t max_batch_size = 8;
  int32_t datatype = NRD_TYPE_INT32;
  Dims input_dims;
  std::optional<Dims> input_reshape;
  Dims output_dims;
  std::optional<Dims> output_reshape;
  uint32_t flags = NRD_MODEL_NO_INLINE;
};

void SetShape(const Dims& dims, const std::optional<Dims>& reshape, nrd_tensor_spec* spec) {
  spec->rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), spec->dims);
  if (reshape) {
    spec->flags = NRD_SPEC_RESHAPE;
    spec->reshape_rank = static_cast<uint32_t>(reshape->size());
    std::copy(reshape->begin(), reshape->end(), spec->reshape);
  }
}

class ReshapeModel {
 public:
  ReshapeModel(TestRuntime& runtime, FunctionBackend& backend, const ReshapeSettings& settings) {
    const Status status = Load(runtime, backend, settings, &model_);
    REQUIRE_MESSAGE(status.ok(), status.message());
  }
  ~ReshapeModel() { nrd_model_release(model_); }
  ReshapeModel(const ReshapeModel&) = delete;
  ReshapeModel& operator=(const ReshapeModel&) = delete;

  static Status Load(TestRuntime& runtime, FunctionBackend& backend,
                     const ReshapeSettings& settings, nrd_model** model_out) {
    nrd_tensor_spec input{};
    input.name = AsNrdString("IN");
    input.datatype = settings.datatype;
    SetShape(settings.input_dims, settings.input_reshape, &input);
    nrd_tensor_spec output{};
    output.name = AsNrdString("OUT");
    output.datatype = settings.datatype;
    SetShape(settings.output_dims, settings.output_reshape, &output);
    const nrd_backend table = backend.Table();
    nrd_model_options options{};
    options.struct_size = sizeof(options);
    options.flags = settings.flags;
    options.name = AsNrdString("m");
    options.version = AsNrdString("1");
    options.backend = &table;
    options.inputs = &input;
    options.outputs = &output;
    options.input_count = 1;
    options.output_count = 1;
    options.max_batch_size = settings.max_batch_size;
    nrd_error error{};
    const int32_t code = nrd_model_load(runtime.get(), &options, nullptr, model_out, &error);
    return StatusFromCallback(code, error, "load");
  }

  nrd_model* get() { return model_; }

 private:
  nrd_model* model_ = nullptr;
};

class ReshapeRequest {
 public:
  ReshapeRequest(ReshapeModel& model, int32_t datatype, const Dims& shape,
                 const std::vector<uint8_t>& data) {
    nrd_error error{};
    REQUIRE(nrd_request_acquire(model.get(), &record_, &error) == NRD_OK);
    nrd_tensor& input = record_->inputs[0];
    input.datatype = datatype;
    input.rank = static_cast<uint32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), input.shape);
    input.byte_size = data.size();
    REQUIRE(nrd_request_input_alloc(record_, 0) == NRD_OK);
    std::copy(data.begin(), data.end(), static_cast<uint8_t*>(input.data));
  }
  ~ReshapeRequest() {
    if (record_ != nullptr) {
      nrd_request_release(record_);
    }
  }
  ReshapeRequest(ReshapeRequest&& other) noexcept
      : record_(std::exchange(other.record_, nullptr)) {}
  ReshapeRequest& operator=(ReshapeRequest&&) = delete;

  nrd_request* operator->() { return record_; }
  int32_t Submit() { return nrd_request_submit(record_); }
  int32_t Wait() { return nrd_request_wait(record_, In(kPatienceMs)); }
  int32_t Run() {
    const int32_t code = Submit();
    return code == NRD_PENDING ? Wait() : code;
  }
  [[nodiscard]] std::string message() const {
    return {record_->error->message, record_->error->message_size};
  }
  [[nodiscard]] std::vector<uint8_t> OutputData() const {
    const auto* const data = static_cast<const uint8_t*>(record_->outputs[0].data);
    return {data, data + record_->outputs[0].byte_size};
  }

 private:
  nrd_request* record_ = nullptr;
};

Dims ShapeOf(const nrd_tensor& tensor) { return {tensor.shape, tensor.shape + tensor.rank}; }

std::vector<uint8_t> Int32s(const std::vector<int32_t>& values) {
  std::vector<uint8_t> data(values.size() * sizeof(int32_t));
  if (!data.empty()) {
    std::memcpy(data.data(), values.data(), data.size());
  }
  return data;
}

// Copies input 0 to output 0 in the shape `output`.
int32_t CopyAs(nrd_batch* batch, const Dims& output, nrd_error* error) {
  const nrd_tensor& input = batch->inputs[0];
  void* data = nullptr;
  const int32_t code =
      nrd_batch_output(batch, 0, input.datatype, static_cast<uint32_t>(output.size()),
                       output.data(), input.byte_size, &data, error);
  if (code == NRD_OK && input.byte_size > 0) {
    std::memcpy(data, input.data, input.byte_size);
  }
  return code;
}

// ---- Random shapes that agree ------------------------------------------------------------------

// Parts of fixed sizes, given by their element counts, with a free dimension between each two.
struct Outline {
  std::vector<int64_t> counts;
  std::vector<int64_t> free_sizes;

  [[nodiscard]] int64_t elements() const {
    return std::accumulate(counts.begin(), counts.end(), int64_t{1}, std::multiplies<>()) *
           std::accumulate(free_sizes.begin(), free_sizes.end(), int64_t{1}, std::multiplies<>());
  }
};

Outline RandomOutline(std::mt19937_64& random) {
  const int64_t counts[] = {1, 1, 2, 3, 4, 6, 8, 12};
  const int64_t sizes[] = {0, 1, 2, 3, 5};
  Outline outline;
  const size_t free_count = random() % 4;
  for (size_t i = 0; i <= free_count; ++i) {
    outline.counts.push_back(counts[random() % 8]);
  }
  for (size_t i = 0; i < free_count; ++i) {
    outline.free_sizes.push_back(sizes[random() % 5]);
  }
  return outline;
}

// One way to write the outline down: each count as a product, with ones strewn in.
Dims RandomDims(const Outline& outline, size_t max_rank, std::mt19937_64& random) {
  Dims dims;
  size_t spare = max_rank - outline.free_sizes.size();
  for (size_t part = 0; part < outline.counts.size(); ++part) {
    spare -= outline.counts[part] > 1 ? 1 : 0;
  }
  for (size_t part = 0; part < outline.counts.size(); ++part) {
    int64_t left = outline.counts[part];
    for (const int64_t factor : {int64_t{2}, int64_t{3}, int64_t{1}, int64_t{2}}) {
      if (spare > 0 && left % factor == 0 && (left > factor || factor == 1) && random() % 2 == 0) {
        dims.push_back(factor);
        left /= factor;
        --spare;
      }
    }
    if (left > 1) {
      dims.push_back(left);
    }
    if (part < outline.free_sizes.size()) {
      dims.push_back(-1);
    }
  }
  return dims;
}

Dims Filled(const Dims& dims, const Outline& outline, int64_t rows) {
  Dims shape = dims;
  size_t next = 0;
  for (int64_t& dim : shape) {
    dim = dim == -1 ? outline.free_sizes[next++] : dim;
  }
  if (rows > 0) {
    shape.insert(shape.begin(), rows);
  }
  return shape;
}

std::vector<uint8_t> RandomData(int32_t datatype, int64_t elements, std::mt19937_64& random) {
  std::vector<uint8_t> data;
  for (int64_t i = 0; i < elements; ++i) {
    const uint32_t length = datatype == NRD_TYPE_BYTES ? static_cast<uint32_t>(random() % 4) : 4;
    if (datatype == NRD_TYPE_BYTES) {
      data.insert(data.end(), {static_cast<uint8_t>(length), 0, 0, 0});
    }
    for (uint32_t byte = 0; byte < length; ++byte) {
      data.push_back(static_cast<uint8_t>(random()));
    }
  }
  return data;
}

Status Check(const Dims& dims, const Dims& reshape) {
  return CheckReshape({"x", NRD_TYPE_FP32, false, dims, reshape}, "input 'x'");
}

bool Refuses(const Dims& dims, const Dims& reshape, std::string_view text) {
  const Status status = Check(dims, reshape);
  return status.code() == NRD_INVALID_ARGUMENT &&
         status.message().find(text) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a reshape keeps the elements and the place of each free dimension") {
  CHECK(Check({16}, {4, 4}).ok());
  CHECK(Check({1}, {}).ok());
  CHECK(Check({}, {1, 1}).ok());
  CHECK(Check({-1}, {1, -1, 1}).ok());
  CHECK(Check({4, -1, 6, -1}, {2, 2, -1, 3, 2, -1}).ok());
  CHECK(Check({0, 5}, {7, 0}).ok());
  CHECK(Check({int64_t{1} << 31, int64_t{1} << 31}, {int64_t{1} << 62}).ok());

  CHECK(Check({16}, {4, 5}).message() ==
        "input 'x' has dims [16] and reshape [4,5], which must have the same number of elements, "
        "got 16 and 20");
  CHECK(Check({-1, 4}, {-1, 2}).message() ==
        "input 'x' has dims [-1,4] and reshape [-1,2], which must have the same number of elements "
        "before, between and after their free dimensions (-1), got 4 and 2");
  CHECK(Refuses({-1, 4}, {4, -1}, "dims [-1,4] and reshape [4,-1]"));
  CHECK(Refuses({2, -1, 3, -1}, {2, -1, -1, 3}, "got 3 and 1"));
  CHECK(Refuses({-1, -1}, {-1}, "same number of free dimensions (-1), got 2 and 1"));
  CHECK(Refuses({16}, {-1}, "got 0 and 1"));
  CHECK(Refuses({2}, {}, "dims [2] and reshape []"));
  // 2^64 and 2^66 are both 0 in 64 bits.
  const int64_t big = int64_t{1} << 32;
  CHECK(Refuses({big, big}, {4, big, big}, "more elements than a tensor can have"));
  CHECK(Refuses({big, big}, {1}, "more elements than a tensor can have"));
  CHECK(Refuses({1}, {INT64_MAX, 2}, "more elements than a tensor can have"));
}

TEST_CASE("a reshape that does not fit is refused at load") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  nrd_model* model = nullptr;
  Status status = ReshapeModel::Load(
      runtime, backend, {.input_dims = {4}, .input_reshape = Dims{3}, .output_dims = {4}}, &model);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message().find("input 'IN' has dims [4] and reshape [3]") != std::string_view::npos);
  status = ReshapeModel::Load(
      runtime, backend, {.input_dims = {4}, .output_dims = {4}, .output_reshape = Dims{4, -2}},
      &model);
  CHECK(status.message().find("the reshape of output 'OUT' has dimension -2") !=
        std::string_view::npos);
  status = ReshapeModel::Load(runtime, backend,
                              {.input_dims = {1}, .input_reshape = Dims(8, 1), .output_dims = {1}},
                              &model);
  CHECK(status.message().find("the reshape of input 'IN' has 8 dimensions, at most 7") !=
        std::string_view::npos);
  backend.flags = NRD_BACKEND_GATHERS;
  status = ReshapeModel::Load(runtime, backend,
                              {.input_dims = {4}, .input_reshape = Dims{2, 2}, .output_dims = {4}},
                              &model);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(backend.open_models == 0);
}

TEST_CASE("clients use dims, the backend the reshape, and the record stays as it was sent") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(ShapeOf(batch->inputs[0]) == Dims{2, 2, 2});
    CHECK(ShapeOf(batch->requests[0]->inputs[0]) == Dims{2, 4});
    CHECK(batch->inputs[0].data == batch->requests[0]->inputs[0].data);  // no copy
    return CopyAs(batch, {2, 1, 4}, error);
  }};
  ReshapeModel model(runtime, backend,
                     {.input_dims = {4},
                      .input_reshape = Dims{2, 2},
                      .output_dims = {4, 1},
                      .output_reshape = Dims{1, 4}});
  const std::vector<uint8_t> data = Int32s({1, 2, 3, 4, 5, 6, 7, 8});
  ReshapeRequest request(model, NRD_TYPE_INT32, {2, 4}, data);
  CHECK(request.Run() == NRD_OK);
  CHECK(ShapeOf(request->inputs[0]) == Dims{2, 4});
  CHECK(ShapeOf(request->outputs[0]) == Dims{2, 4, 1});
  CHECK(request.OutputData() == data);

  ReshapeRequest as_backend(model, NRD_TYPE_INT32, {2, 2, 2}, data);
  CHECK(as_backend.Submit() == NRD_INVALID_ARGUMENT);
  CHECK(as_backend.message().find("Expected [-1,4], got [2,2,2]") != std::string::npos);
}

TEST_CASE("an empty reshape leaves the batch dimension alone") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(ShapeOf(batch->inputs[0]) == Dims{3});
    return CopyAs(batch, {3}, error);
  }};
  ReshapeModel model(runtime, backend,
                     {.input_dims = {1},
                      .input_reshape = Dims{},
                      .output_dims = {1, 1},
                      .output_reshape = Dims{}});
  ReshapeRequest request(model, NRD_TYPE_INT32, {3, 1}, Int32s({7, 8, 9}));
  CHECK(request.Run() == NRD_OK);
  CHECK(ShapeOf(request->outputs[0]) == Dims{3, 1, 1});
  CHECK(request.OutputData() == Int32s({7, 8, 9}));
}

TEST_CASE("a backend that gives the clients' shape is told which one was expected") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    return CopyAs(batch, {1, 4}, error);
  }};
  ReshapeModel model(runtime, backend,
                     {.input_dims = {4}, .output_dims = {4}, .output_reshape = Dims{2, 2}});
  ReshapeRequest request(model, NRD_TYPE_INT32, {1, 4}, Int32s({1, 2, 3, 4}));
  CHECK(request.Run() == NRD_INTERNAL);
  CHECK(request.message() ==
        "backend produced shape [1,4] for output 'OUT' of model 'm', expected [-1,2,2] with batch "
        "size 1");
}

TEST_CASE("outputs of single requests are reshaped too") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    const int64_t shape[] = {2, 2};
    void* data = nullptr;
    const int32_t code =
        nrd_batch_request_output(batch, 0, 0, NRD_TYPE_INT32, 2, shape, 16, &data, error);
    if (code == NRD_OK) {
      std::memcpy(data, batch->inputs[0].data, 16);
    }
    return code;
  }};
  ReshapeModel model(runtime, backend,
                     {.max_batch_size = 0,
                      .input_dims = {-1},
                      .output_dims = {-1, 2},
                      .output_reshape = Dims{-1, 2}});
  ReshapeRequest request(model, NRD_TYPE_INT32, {4}, Int32s({1, 2, 3, 4}));
  CHECK(request.Run() == NRD_OK);
  CHECK(ShapeOf(request->outputs[0]) == Dims{2, 2});
}

TEST_CASE("random reshapes: elements keep their number and order, alone and in batches") {
  TestRuntime runtime;
  std::mt19937_64 random(20'260);
  for (int round = 0; round < 150; ++round) {
    const Outline outline = RandomOutline(random);
    const bool batched = random() % 4 != 0;
    const size_t max_rank = batched ? NRD_MAX_RANK - 1 : NRD_MAX_RANK;
    const auto dims = [&] { return RandomDims(outline, max_rank, random); };
    const ReshapeSettings settings{
        .max_batch_size = batched ? 16 : 0,
        .datatype = random() % 3 == 0 ? NRD_TYPE_BYTES : NRD_TYPE_INT32,
        .input_dims = dims(),
        .input_reshape = dims(),
        .output_dims = dims(),
        .output_reshape = dims(),
        .flags = NRD_MODEL_NO_INLINE | (batched ? uint32_t{NRD_MODEL_DYNAMIC_BATCHING} : 0U)};
    Gate gate;
    FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
      gate.Enter();
      CHECK(ShapeOf(batch->inputs[0]) ==
            Filled(*settings.input_reshape, outline, batch->batch_size));
      return CopyAs(batch, Filled(*settings.output_reshape, outline, batch->batch_size), error);
    }};
    ReshapeModel model(runtime, backend, settings);
    std::vector<ReshapeRequest> requests;
    std::vector<std::vector<uint8_t>> sent;
    std::vector<int64_t> rows;
    for (int i = 0; i < 4; ++i) {
      rows.push_back(batched ? static_cast<int64_t>(1 + random() % 3) : 0);
      sent.push_back(RandomData(settings.datatype,
                                outline.elements() * std::max<int64_t>(rows.back(), 1), random));
      requests.emplace_back(model, settings.datatype,
                            Filled(settings.input_dims, outline, rows.back()), sent.back());
      REQUIRE_MESSAGE(requests.back().Submit() == NRD_PENDING, requests.back().message());
      gate.WaitForEntered(1);  // the first runs alone, the others wait and form a batch
    }
    gate.Open();
    for (size_t i = 0; i < requests.size(); ++i) {
      REQUIRE_MESSAGE(requests[i].Wait() == NRD_OK, requests[i].message());
      CHECK(ShapeOf(requests[i]->outputs[0]) == Filled(settings.output_dims, outline, rows[i]));
      CHECK(requests[i].OutputData() == sent[i]);
    }
    CHECK(backend.executions == (batched ? 2 : 4));
  }
}

}  // namespace nereid::test
