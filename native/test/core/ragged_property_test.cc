// Random ragged batches against a plain reference, and outputs that are shared out by shapes.
#include <algorithm>
#include <random>

#include "test/core/ragged_fixture.h"

namespace nereid::test {
namespace {

using Random = std::mt19937_64;

int64_t Between(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

int64_t Product(const Dims& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) {
    product *= size;
  }
  return product;
}

Dims Row(const Dims& shape) { return {shape.begin() + 1, shape.end()}; }

std::vector<uint8_t> RandomData(Random& random, int32_t datatype, int64_t elements) {
  std::vector<uint8_t> data;
  for (int64_t i = 0; i < elements; ++i) {
    const auto length = static_cast<uint8_t>(Between(random, 0, 3));
    const size_t bytes = datatype == NRD_TYPE_INT64 ? 8 : datatype == NRD_TYPE_BYTES ? length : 1;
    if (datatype == NRD_TYPE_BYTES) {
      data.insert(data.end(), {length, 0, 0, 0});
    }
    for (size_t byte = 0; byte < bytes; ++byte) {
      data.push_back(static_cast<uint8_t>(random()));
    }
  }
  return data;
}

// The shape and elements that a batch input has, by its definition.
struct Expected {
  Dims shape;
  std::vector<int64_t> elements;
};

Expected Reference(int32_t kind, const std::vector<const RaggedRequest*>& requests) {
  std::vector<int64_t> counts;
  std::vector<int64_t> totals;
  std::vector<int64_t> sizes;
  int64_t total = 0;
  int64_t rows = 0;
  for (const RaggedRequest* request : requests) {
    counts.push_back(Product(request->shape));
    totals.push_back(total += counts.back());
    rows += request->shape[0];
    for (int64_t row = 0; row < request->shape[0]; ++row) {
      const Dims own = Row(request->shape);
      sizes.insert(sizes.end(), own.begin(), own.end());
    }
  }
  const auto rank = static_cast<int64_t>(requests[0]->shape.size()) - 1;
  const int64_t largest = *std::max_element(counts.begin(), counts.end());
  switch (kind) {
    case NRD_COMBINE_ELEMENT_COUNT:
      return {{static_cast<int64_t>(counts.size())}, counts};
    case NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT:
      return {{static_cast<int64_t>(totals.size())}, totals};
    case NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO:
      totals.insert(totals.begin(), 0);
      return {{static_cast<int64_t>(totals.size())}, totals};
    case NRD_COMBINE_MAX_ELEMENT_COUNT_AS_SHAPE:
      return {{largest}, std::vector<int64_t>(static_cast<size_t>(largest))};
    case NRD_COMBINE_ITEM_SHAPE:
      return {{rows, rank}, sizes};
    default:
      return {{rows * rank}, sizes};
  }
}

std::vector<int64_t> Elements(const Seen& seen) {
  if (seen.tensor.datatype == NRD_TYPE_FP32) {
    const std::vector<float> values = seen.values<float>();
    return {values.begin(), values.end()};
  }
  const std::vector<int32_t> values = seen.values<int32_t>();
  return {values.begin(), values.end()};
}

// Checks a batch; its tags are positions in `all`.
void CheckBatch(const RaggedBatch& batch, const RaggedSettings& settings,
                const std::vector<RaggedRequest>& all) {
  std::vector<const RaggedRequest*> requests;
  std::vector<uint8_t> data;
  int64_t rows = 0;
  int64_t elements = 0;
  for (size_t i = 0; i < batch.tags.size(); ++i) {
    requests.push_back(&all[batch.tags[i]]);
    CHECK(batch.first_rows[i] == rows);
    rows += requests.back()->shape[0];
    elements += Product(requests.back()->shape);
    data.insert(data.end(), requests.back()->data.begin(), requests.back()->data.end());
  }
  CHECK(batch.rows == rows);
  CHECK(rows <= settings.max_batch_size);
  CHECK(batch.inputs[0].shape() == Dims{elements});
  CHECK(batch.inputs[0].data == data);
  CHECK(batch.inputs[1].shape() == Dims{rows, 1});
  for (size_t i = 0; i < settings.combined.size(); ++i) {
    const Seen& seen = batch.inputs[2 + i];
    const Expected expected = Reference(settings.combined[i].kind, requests);
    CHECK(seen.tensor.datatype == settings.combined[i].datatype);
    CHECK(seen.shape() == expected.shape);
    CHECK(Elements(seen) == expected.elements);
  }
}

RaggedSettings RandomSettings(Random& random) {
  RaggedSettings settings;
  settings.max_batch_size = Between(random, 3, 12);
  constexpr int32_t kTypes[] = {NRD_TYPE_INT64, NRD_TYPE_UINT8, NRD_TYPE_BYTES};
  settings.datatype = kTypes[Between(random, 0, 2)];
  settings.dims.assign(static_cast<size_t>(Between(random, 1, 3)), -1);
  for (int64_t& dim : settings.dims) {
    dim = Between(random, 0, 3) == 0 ? 2 : -1;
  }
  for (int64_t count = Between(random, 0, 7); count > 0; --count) {
    settings.combined.push_back(
        {.kind = static_cast<int32_t>(Between(random, 0, NRD_COMBINE_ITEM_SHAPE_FLATTEN)),
         .datatype = Between(random, 0, 1) == 0 ? NRD_TYPE_INT32 : NRD_TYPE_FP32});
  }
  return settings;
}

Dims RandomShape(Random& random, const Dims& dims) {
  Dims shape = {Between(random, 1, 3)};
  for (const int64_t dim : dims) {
    shape.push_back(dim == -1 ? Between(random, 0, 4) : dim);
  }
  return shape;
}

// Sends requests, some of which are cancelled while they wait, and checks every batch and answer.
void RunRound(Random& random) {
  const RaggedSettings settings = RandomSettings(random);
  TestRuntime runtime;
  RecordingBackend recording;
  TestModel model(LoadRagged(runtime, recording.backend, settings));
  std::vector<RaggedRequest> requests;
  const auto count = static_cast<uint64_t>(Between(random, 1, 12));
  for (uint64_t i = 0; i < count; ++i) {
    const Dims shape = RandomShape(random, settings.dims);
    requests.emplace_back(model, settings.datatype, shape,
                          RandomData(random, settings.datatype, Product(shape)), i);
    requests.back()->outputs[0].flags = Between(random, 0, 3) == 0 ? 0 : NRD_TENSOR_SELECTED;
    requests.back()->outputs[1].flags = NRD_TENSOR_SELECTED;
  }
  for (RaggedRequest& request : requests) {
    REQUIRE(request.Submit() == NRD_PENDING);
  }
  recording.gate.WaitForEntered(1);
  for (RaggedRequest& request : requests) {
    if (Between(random, 0, 4) == 0) {
      (void)nrd_request_cancel(request.get());
    }
  }
  recording.gate.Open();
  for (RaggedRequest& request : requests) {
    const int32_t code = request.Wait();
    if (code == NRD_CANCELLED) {
      continue;
    }
    REQUIRE_MESSAGE(code == NRD_OK, request.message());
    const auto tag = static_cast<int32_t>(request->tag);
    CHECK(request.output(1).values<int32_t>() ==
          std::vector<int32_t>(static_cast<size_t>(request.shape[0]), tag));
    if (request->outputs[0].flags != 0) {
      CHECK(request.output(0).shape() == request.shape);
      CHECK(request.output(0).data == request.data);
    }
  }
  for (const RaggedBatch& batch : recording.batches) {
    CheckBatch(batch, settings, requests);
  }
}

TEST_CASE("ragged: random batches hold what a plain reference says") {
  const uint64_t seed = std::random_device()();
  INFO("seed ", seed);
  Random random(seed);
  for (int round = 0; round < 150; ++round) {
    RunRound(random);
  }
}

// ---- Batch outputs ----------------------------------------------------------------------------

// Answers with OUT in one dimension, with `more` more elements than VALUES.
int32_t AnswerWith(nrd_batch* batch, int64_t more, nrd_error* error) {
  const int64_t elements = batch->inputs[0].shape[0] + more;
  void* data = nullptr;
  const int32_t code =
      nrd_batch_output(batch, 0, NRD_TYPE_INT32, 1, &elements,
                       static_cast<uint64_t>(elements) * sizeof(int32_t), &data, error);
  if (code == NRD_OK) {
    std::memset(data, 0, static_cast<size_t>(elements) * sizeof(int32_t));
  }
  return code;
}

void RequestOut(RaggedRequest& request) {
  request->outputs[0].flags = NRD_TENSOR_SELECTED;
  REQUIRE(request.Submit() == NRD_PENDING);
}

TEST_CASE("batch output: more elements than the shapes need are left over, fewer are a failure") {
  TestRuntime runtime;
  FunctionBackend backend;
  Gate gate;
  int64_t more = 3;
  backend.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return AnswerWith(batch, more, error);
  };
  TestModel model(LoadRagged(runtime, backend, {}));
  RaggedRequest first(model, {1, 2}, std::vector<int32_t>{1, 2});
  RequestOut(first);
  gate.WaitForEntered(1);
  RaggedRequest second(model, {1, 3}, std::vector<int32_t>{1, 2, 3});
  RaggedRequest third(model, {1, 4}, std::vector<int32_t>{1, 2, 3, 4});
  RequestOut(second);
  RequestOut(third);
  gate.Open();
  CHECK(first.Wait() == NRD_OK);
  CHECK(first.output(0).shape() == Dims{1, 2});
  CHECK(second.Wait() == NRD_OK);
  CHECK(third.Wait() == NRD_OK);
  CHECK(third.output(0).shape() == Dims{1, 4});
  more = -1;
  RequestOut(first);
  CHECK(first.Wait() == NRD_INTERNAL);
  CHECK(first.message() ==
        "backend produced shape [1] for output 'OUT' of model 'ragged', which has too few elements "
        "for the shapes of input 'VALUES'");
}

TEST_CASE("batch output: the source need not be ragged, and sizes of the output itself stay") {
  TestRuntime runtime;
  FunctionBackend backend;
  backend.run = [](nrd_batch* batch, nrd_error* error) {
    const int64_t shape[] = {batch->inputs[0].shape[0] * batch->inputs[0].shape[1], 2};
    void* data = nullptr;
    const int32_t code = nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, shape,
                                          static_cast<uint64_t>(shape[0]) * 8, &data, error);
    return code;
  };
  RaggedOptions options(backend, {.value_flags = 0, .flags = 0});
  options.outputs[0].rank = 2;
  options.outputs[0].dims[1] = 2;
  nrd_model* loaded = nullptr;
  REQUIRE(nrd_model_load(runtime.get(), options.Finish(), nullptr, &loaded, nullptr) == NRD_OK);
  TestModel model(loaded);
  RaggedRequest request(model, {2, 3}, std::vector<int32_t>(6));
  request->outputs[0].flags = NRD_TENSOR_SELECTED;
  REQUIRE(request.Submit() == NRD_OK);
  CHECK(request.output(0).shape() == Dims{2, 3, 2});
}

TEST_CASE("batch output: the identity backend passes on what it got, a hidden input as well") {
  TestRuntime runtime;
  FunctionBackend unused;
  RaggedOptions options(unused, {.combined = {{NRD_COMBINE_ELEMENT_COUNT}}, .flags = 0});
  REQUIRE(nrd_backend_find("identity", 8, &options.table, nullptr) == NRD_OK);
  options.outputs.push_back(options.inputs[2]);
  options.outputs[2].flags = 0;
  nrd_model* loaded = nullptr;
  REQUIRE(nrd_model_load(runtime.get(), options.Finish(), nullptr, &loaded, nullptr) == NRD_OK);
  TestModel model(loaded);
  RaggedRequest request(model, {1, 3}, std::vector<int32_t>{4, 5, 6});
  REQUIRE(request.Submit() == NRD_OK);
  CHECK(request.output(0).data == request.data);
  CHECK(request->outputs[0].data == request->inputs[0].data);
  CHECK(request.output(2).values<int32_t>() == std::vector<int32_t>{3});
  CHECK(request->outputs[0].shape[0] == 1);
}

}  // namespace
}  // namespace nereid::test
