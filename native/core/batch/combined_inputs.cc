#include "core/batch/combined_inputs.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/tensor.h"
#include "core/request/reshape.h"

namespace nereid {
namespace {

bool IsItemShape(int32_t kind) {
  return kind == NRD_COMBINE_ITEM_SHAPE || kind == NRD_COMBINE_ITEM_SHAPE_FLATTEN;
}

// The dims that a combined input must have. Its first dimension, in place of the batch dimension,
// is not the number of rows; without batching it is free.
std::vector<int64_t> ExpectedDims(const ModelConfig& config, const nrd_combined_input& combined) {
  if (combined.kind == NRD_COMBINE_ITEM_SHAPE) {
    return {static_cast<int64_t>(config.inputs[combined.source].BackendDims().size())};
  }
  return config.batched() ? std::vector<int64_t>{} : std::vector<int64_t>{-1};
}

Status CheckCombined(const ModelConfig& config, const nrd_combined_input& combined) {
  if (combined.input < config.visible_inputs || combined.input >= config.inputs.size() ||
      combined.source >= config.visible_inputs) {
    return Status::InvalidArgument(
        "combined input " + std::to_string(combined.input) + " of source " +
        std::to_string(combined.source) + ": expected a hidden input, of " +
        std::to_string(config.inputs.size()) + " inputs, and a source among the first " +
        std::to_string(config.visible_inputs));
  }
  const TensorSpec& spec = config.inputs[combined.input];
  const TensorSpec& source = config.inputs[combined.source];
  const std::string what = "batch input '" + spec.name + "'";
  if (combined.kind < NRD_COMBINE_ELEMENT_COUNT || combined.kind > NRD_COMBINE_ITEM_SHAPE_FLATTEN) {
    return Status::InvalidArgument(what + " has unknown kind " + std::to_string(combined.kind));
  }
  if (source.optional) {
    return Status::InvalidArgument(
        what + " has source '" + source.name +
        "', which is optional: expected an input that every request has");
  }
  if (IsItemShape(combined.kind) && !config.batched()) {
    return Status::InvalidArgument(what + " has a shape for each row of the batch, but the model " +
                                   "has no batch dimension (max_batch_size is 0)");
  }
  if (spec.datatype != NRD_TYPE_INT32 && spec.datatype != NRD_TYPE_FP32) {
    return Status::InvalidArgument(what + " has datatype " +
                                   std::string(DataTypeName(spec.datatype)) +
                                   ", expected INT32 or FP32");
  }
  const std::vector<int64_t> expected = ExpectedDims(config, combined);
  if (spec.dims != expected || spec.reshape) {
    return Status::InvalidArgument(
        what + " has dims " +
        ShapeToString(static_cast<uint32_t>(spec.dims.size()), spec.dims.data()) + ", expected " +
        ShapeToString(static_cast<uint32_t>(expected.size()), expected.data()) + " and no reshape");
  }
  return Status();
}

// Writes sizes, one after another, as elements of a tensor.
class SizeWriter {
 public:
  explicit SizeWriter(const nrd_tensor& tensor)
      : next_(static_cast<char*>(tensor.data)), is_float_(tensor.datatype == NRD_TYPE_FP32) {}

  void Put(int64_t size) {
    const auto as_float = static_cast<float>(size);
    const auto as_int = static_cast<int32_t>(size);
    std::memcpy(next_, is_float_ ? static_cast<const void*>(&as_float) : &as_int, sizeof(int32_t));
    next_ += sizeof(int32_t);
    largest_ = std::max(largest_, size);
  }

  [[nodiscard]] Status Check(const std::string& name) const {
    if (is_float_ || largest_ <= INT32_MAX) [[likely]] {
      return Status();
    }
    return Status::InvalidArgument("batch input '" + name + "' is INT32, which cannot hold " +
                                   std::to_string(largest_));
  }

 private:
  char* next_;
  const bool is_float_;
  int64_t largest_ = 0;
};

// The elements of the source in one request, whose shape was checked on arrival.
int64_t Elements(const nrd_tensor& source) {
  uint64_t count = 0;
  static_cast<void>(ElementCount(source.rank, source.shape, &count));
  return static_cast<int64_t>(count);
}

int64_t LargestCount(std::span<Request* const> requests, uint32_t source) {
  int64_t largest = 0;
  for (const Request* request : requests) {
    largest = std::max(largest, Elements(request->record.inputs[source]));
  }
  return largest;
}

void PutCounts(std::span<Request* const> requests, const nrd_combined_input& combined,
               SizeWriter* writer) {
  const bool accumulated = combined.kind != NRD_COMBINE_ELEMENT_COUNT;
  int64_t before = 0;
  if (combined.kind == NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO) {
    writer->Put(0);
  }
  for (const Request* request : requests) {
    const int64_t count = Elements(request->record.inputs[combined.source]);
    writer->Put(before + count);
    before += accumulated ? count : 0;
  }
}

// Writes the shape of each row as the backend sees it.
void PutShapes(std::span<Request* const> requests, const TensorSpec& spec, uint32_t source,
               SizeWriter* writer) {
  for (const Request* request : requests) {
    nrd_tensor tensor = request->record.inputs[source];
    ToBackendShape(spec, true, &tensor);
    for (int64_t row = 0; row < request->rows; ++row) {
      std::for_each(tensor.shape + 1, tensor.shape + tensor.rank,
                    [writer](int64_t size) { writer->Put(size); });
    }
  }
}

int64_t RowCount(std::span<Request* const> requests) {
  int64_t rows = 0;
  for (const Request* request : requests) {
    rows += request->rows;
  }
  return rows;
}

}  // namespace

Status ReadCombinedInputs(const nrd_model_options& options, ModelConfig* config) {
  config->combined_inputs.assign(options.combined_inputs,
                                 options.combined_inputs + options.combined_input_count);
  for (const nrd_combined_input& combined : config->combined_inputs) {
    NRD_RETURN_IF_ERROR(CheckCombined(*config, combined));
  }
  return Status();
}

Status CombinedInputs::Make(std::span<Request* const> requests,
                            std::span<nrd_tensor> inputs) const {
  for (const nrd_combined_input& combined : config_.combined_inputs) {
    NRD_RETURN_IF_ERROR(MakeOne(combined, requests, &inputs[combined.input]));
  }
  return Status();
}

Status CombinedInputs::MakeOne(const nrd_combined_input& combined,
                               std::span<Request* const> requests, nrd_tensor* input) const {
  const TensorSpec& source = config_.inputs[combined.source];
  const auto source_rank = static_cast<int64_t>(source.BackendDims().size());
  input->datatype = config_.inputs[combined.input].datatype;
  input->flags = NRD_TENSOR_SELECTED;
  input->rank = 1;
  input->shape[0] = static_cast<int64_t>(requests.size());
  if (combined.kind == NRD_COMBINE_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO) {
    input->shape[0] += 1;
  } else if (combined.kind == NRD_COMBINE_MAX_ELEMENT_COUNT_AS_SHAPE) {
    input->shape[0] = LargestCount(requests, combined.source);
  } else if (combined.kind == NRD_COMBINE_ITEM_SHAPE) {
    input->rank = 2;
    input->shape[0] = RowCount(requests);
    input->shape[1] = source_rank;
  } else if (combined.kind == NRD_COMBINE_ITEM_SHAPE_FLATTEN) {
    input->shape[0] = RowCount(requests) * source_rank;
  }
  NRD_RETURN_IF_ERROR(
      TensorByteSize(input->datatype, input->rank, input->shape, &input->byte_size));
  NRD_RETURN_IF_ERROR(pool_.Allocate(input->byte_size, &input->slab, account_));
  input->data = input->slab;
  SizeWriter writer(*input);
  if (combined.kind == NRD_COMBINE_MAX_ELEMENT_COUNT_AS_SHAPE) {
    std::memset(input->data, 0, input->byte_size);
  } else if (IsItemShape(combined.kind)) {
    PutShapes(requests, source, combined.source, &writer);
  } else {
    PutCounts(requests, combined, &writer);
  }
  return writer.Check(config_.inputs[combined.input].name);
}

}  // namespace nereid
