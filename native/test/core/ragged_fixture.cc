#include "test/core/ragged_fixture.h"

#include <algorithm>

namespace nereid::test {
namespace {

nrd_tensor_spec Spec(std::string_view name, int32_t datatype, const Dims& dims, uint32_t flags) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(name);
  spec.datatype = datatype;
  spec.flags = flags;
  spec.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), spec.dims);
  return spec;
}

// As ModelSpec.hiddenInputs() has them.
Dims HiddenDims(const RaggedSettings& settings, int32_t kind) {
  if (kind == NRD_COMBINE_ITEM_SHAPE) {
    return {static_cast<int64_t>(settings.reshape.value_or(settings.dims).size())};
  }
  return settings.max_batch_size > 0 ? Dims{} : Dims{-1};
}

void SetInput(nrd_request* record, uint32_t index, int32_t datatype, const Dims& shape,
              const std::vector<uint8_t>& data) {
  nrd_tensor& input = record->inputs[index];
  input.datatype = datatype;
  input.rank = static_cast<uint32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), input.shape);
  input.byte_size = data.size();
  REQUIRE(nrd_request_input_alloc(record, index) == NRD_OK);
  std::copy(data.begin(), data.end(), static_cast<uint8_t*>(input.data));
}

int32_t Note(nrd_batch* batch, std::vector<RaggedBatch>* batches) {
  RaggedBatch& seen = batches->emplace_back();
  seen.rows = batch->batch_size;
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    seen.tags.push_back(batch->requests[i]->tag);
    seen.first_rows.push_back(batch->requests[i]->first_row);
  }
  for (uint32_t i = 0; i < batch->input_count; ++i) {
    seen.inputs.push_back(See(batch->inputs[i]));
  }
  return NRD_OK;
}

}  // namespace

RaggedOptions::RaggedOptions(FunctionBackend& backend, const RaggedSettings& settings)
    : table(backend.Table()) {
  names.reserve(settings.combined.size());
  inputs.push_back(Spec("VALUES", settings.datatype, settings.dims, settings.value_flags));
  if (settings.reshape) {
    inputs[0].flags |= NRD_SPEC_RESHAPE;
    inputs[0].reshape_rank = static_cast<uint32_t>(settings.reshape->size());
    std::copy(settings.reshape->begin(), settings.reshape->end(), inputs[0].reshape);
  }
  const Dims row = settings.max_batch_size > 0 ? Dims{1} : Dims{-1};
  inputs.push_back(Spec("ROWS", NRD_TYPE_INT32, row, 0));
  for (const Combined& one : settings.combined) {
    combined.push_back({.input = static_cast<uint32_t>(inputs.size()),
                        .kind = one.kind,
                        .source = 0,
                        .reserved = 0});
    names.push_back("HIDDEN" + std::to_string(inputs.size()));
    inputs.push_back(
        Spec(names.back(), one.datatype, HiddenDims(settings, one.kind), NRD_SPEC_HIDDEN));
  }
  outputs.push_back(Spec("OUT", settings.datatype, settings.dims, 0));
  outputs.push_back(Spec("ROWS_OUT", NRD_TYPE_INT32, row, 0));
  if (settings.scattered) {
    scattered.push_back(
        {.output = 0, .kind = NRD_SCATTER_WITH_INPUT_SHAPE, .source = 0, .reserved = 0});
  }
  options.flags = settings.flags;
  options.inline_budget_ns = kInlineBudgetNs;
  options.max_batch_size = settings.max_batch_size;
}

const nrd_model_options* RaggedOptions::Finish() {
  options.struct_size = sizeof(options);
  options.name = AsNrdString("ragged");
  options.version = AsNrdString("1");
  options.backend = &table;
  options.inputs = inputs.data();
  options.outputs = outputs.data();
  options.input_count = static_cast<uint32_t>(inputs.size());
  options.output_count = static_cast<uint32_t>(outputs.size());
  options.combined_inputs = combined.data();
  options.combined_input_count = static_cast<uint32_t>(combined.size());
  options.scattered_outputs = scattered.data();
  options.scattered_output_count = static_cast<uint32_t>(scattered.size());
  return &options;
}

std::string RaggedOptions::Refused(TestRuntime& runtime) {
  nrd_model* model = nullptr;
  nrd_error error{};
  if (nrd_model_load(runtime.get(), Finish(), nullptr, &model, &error) == NRD_OK) {
    nrd_model_release(model);
    return "";
  }
  CHECK(error.code == NRD_INVALID_ARGUMENT);
  return {error.message, error.message_size};
}

nrd_model* LoadRagged(TestRuntime& runtime, FunctionBackend& backend,
                      const RaggedSettings& settings) {
  RaggedOptions options(backend, settings);
  nrd_model* model = nullptr;
  nrd_error error{};
  const int32_t code = nrd_model_load(runtime.get(), options.Finish(), nullptr, &model, &error);
  REQUIRE_MESSAGE(code == NRD_OK, std::string(error.message, error.message_size));
  return model;
}

Seen See(const nrd_tensor& tensor) {
  const auto* const data = static_cast<const uint8_t*>(tensor.data);
  return {tensor, data == nullptr ? std::vector<uint8_t>()
                                  : std::vector<uint8_t>(data, data + tensor.byte_size)};
}

RecordingBackend::RecordingBackend() {
  backend.run = [this](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    Note(batch, &batches);
    return CopyInputs(batch, error);
  };
}

RaggedRequest::RaggedRequest(TestModel& model, int32_t datatype, const Dims& shape_in,
                             std::vector<uint8_t> data_in, uint64_t tag)
    : shape(shape_in), data(std::move(data_in)) {
  nrd_error error{};
  REQUIRE(nrd_request_acquire(model.get(), &record_, &error) == NRD_OK);
  record_->tag = tag;
  SetInput(record_, 0, datatype, shape, data);
  const auto rows = static_cast<size_t>(shape.empty() ? 1 : shape[0]);
  SetInput(record_, 1, NRD_TYPE_INT32,
           shape.size() > 1 ? Dims{shape[0], 1} : Dims{static_cast<int64_t>(rows)},
           AsBytes(std::vector<int32_t>(rows, static_cast<int32_t>(tag))));
}

RaggedRequest::RaggedRequest(TestModel& model, const Dims& shape_in,
                             const std::vector<int32_t>& values, uint64_t tag)
    : RaggedRequest(model, NRD_TYPE_INT32, shape_in, AsBytes(values), tag) {}

RaggedRequest::~RaggedRequest() {
  if (record_ != nullptr) {
    nrd_request_release(record_);
  }
}

}  // namespace nereid::test
