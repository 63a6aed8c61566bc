#include "onnxruntime/ort_signature.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/tensor.h"

namespace nereid {
namespace {

constexpr std::pair<int32_t, OrtElementType> kDataTypes[] = {
    {NRD_TYPE_BOOL, OrtElementType::kBool},     {NRD_TYPE_UINT8, OrtElementType::kUint8},
    {NRD_TYPE_UINT16, OrtElementType::kUint16}, {NRD_TYPE_UINT32, OrtElementType::kUint32},
    {NRD_TYPE_UINT64, OrtElementType::kUint64}, {NRD_TYPE_INT8, OrtElementType::kInt8},
    {NRD_TYPE_INT16, OrtElementType::kInt16},   {NRD_TYPE_INT32, OrtElementType::kInt32},
    {NRD_TYPE_INT64, OrtElementType::kInt64},   {NRD_TYPE_FP16, OrtElementType::kFloat16},
    {NRD_TYPE_FP32, OrtElementType::kFloat},    {NRD_TYPE_FP64, OrtElementType::kDouble},
    {NRD_TYPE_BYTES, OrtElementType::kString},  {NRD_TYPE_BF16, OrtElementType::kBfloat16},
};

// The name of a datatype in config.pbtxt: TYPE_FP32, but TYPE_STRING for BYTES.
std::string ConfigTypeName(int32_t datatype) {
  return "TYPE_" +
         (datatype == NRD_TYPE_BYTES ? std::string("STRING") : std::string(DataTypeName(datatype)));
}

const OnnxTensor* Find(const std::vector<OnnxTensor>& tensors, std::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const OnnxTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::string Names(const std::vector<OnnxTensor>& tensors) {
  std::string names;
  for (const OnnxTensor& tensor : tensors) {
    names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  }
  return names.empty() ? "none" : names;
}

std::string Dims(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (const int64_t dim : dims) {
    text += (text.size() > 1 ? ", " : " ") + std::to_string(dim);
  }
  return text + " ]";
}

// Writes dims with names in place of -1: "[ batch, 16 ]".
std::string Dims(const OnnxTensor& tensor) {
  std::string text = "[";
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    text += text.size() > 1 ? ", " : " ";
    text += tensor.dim_names[i].empty() ? std::to_string(tensor.dims[i]) : tensor.dim_names[i];
  }
  return text + " ]";
}

// The configuration's setting by which the file gets a tensor of the shape `dims`.
std::string Setting(const TensorSpec& spec, const std::vector<int64_t>& dims) {
  return spec.reshape ? "reshape: { shape: " + Dims(dims) + " }" : "dims: " + Dims(dims);
}

bool DimsFit(const std::vector<int64_t>& configured, const std::vector<int64_t>& own) {
  return std::equal(configured.begin(), configured.end(), own.begin(), own.end(),
                    [](int64_t mine, int64_t theirs) { return theirs < 0 || mine == theirs; });
}

// True if requests of 1 to max_batch_size rows can run: the first dimension is free, or is 1 and no
// batch is larger.
bool BatchFits(const ModelConfig& config, const OnnxTensor& tensor) {
  return !tensor.dims.empty() &&
         (tensor.dims[0] < 0 || (tensor.dims[0] == 1 && config.max_batch_size == 1));
}

// Advice for users on how to make the configuration fit this tensor.
std::string Advice(const ModelConfig& config, const TensorSpec& spec, const OnnxTensor& tensor) {
  const std::string all = Setting(spec, tensor.dims);
  if (!config.batched()) {
    std::string advice = "set " + all;
    if (!tensor.dims.empty() && tensor.dims[0] < 0 &&
        DimsFit(spec.BackendDims(), {tensor.dims.begin() + 1, tensor.dims.end()})) {
      advice += ", or max_batch_size to 1 or more if the first dimension is the batch";
    }
    return advice;
  }
  if (BatchFits(config, tensor)) {
    return "set " + Setting(spec, {tensor.dims.begin() + 1, tensor.dims.end()}) +
           ", which leave out the batch dimension";
  }
  return "the file has no free first dimension for the batch: set max_batch_size: 0 and " + all +
         ", or export the model with a dynamic first dimension";
}

// Checks a ragged input, which has the elements of all requests in one dimension.
Status CheckRagged(const TensorSpec& spec, const OnnxTensor& tensor) {
  if (tensor.dims.empty() || (tensor.dims.size() == 1 && tensor.dims[0] < 0)) {
    return Status();
  }
  return Status::InvalidArgument("input '" + spec.name +
                                 "' is configured with allow_ragged_batch, for which the ONNX "
                                 "file must have dims [ -1 ], but it has " +
                                 Dims(tensor) +
                                 ": remove allow_ragged_batch, or export the model with one "
                                 "free dimension");
}

// The failure for an input that the core makes, whose shape cannot be configured.
Status HiddenDoesNotFit(const ModelConfig& config, const TensorSpec& spec,
                        const OnnxTensor& tensor) {
  std::vector<int64_t> made = spec.BackendDims();
  if (config.batched()) {
    made.insert(made.begin(), -1);
  }
  return Status::InvalidArgument("input '" + spec.name + "' is made with dims " + Dims(made) +
                                 ", but the ONNX file has " + Dims(tensor));
}

Status CheckDims(const ModelConfig& config, const TensorSpec& spec, std::string_view kind,
                 const OnnxTensor& tensor) {
  if (spec.ragged) {
    return CheckRagged(spec, tensor);
  }
  if (spec.scattered_by) {
    return Status();  // only the number of elements matters, which each run checks
  }
  // A file without a shape looks like a scalar; each run checks the configured shape.
  if (tensor.dims.empty() && (config.batched() || !spec.BackendDims().empty())) {
    return Status();
  }
  const std::vector<int64_t> row(tensor.dims.begin() + (config.batched() ? 1 : 0),
                                 tensor.dims.end());
  if (DimsFit(spec.BackendDims(), row) && (!config.batched() || BatchFits(config, tensor))) {
    return Status();
  }
  if (spec.hidden) {
    return HiddenDoesNotFit(config, spec, tensor);
  }
  const std::string batch = config.batched() ? " after the batch dimension (max_batch_size is " +
                                                   std::to_string(config.max_batch_size) + ")"
                                             : " and no batch dimension (max_batch_size is 0)";
  return Status::InvalidArgument(std::string(kind) + " '" + spec.name + "' is configured with " +
                                 (spec.reshape ? "reshape " : "dims ") + Dims(spec.BackendDims()) +
                                 batch + ", but the ONNX file has " + Dims(tensor) + ": " +
                                 Advice(config, spec, tensor));
}

Status CheckTensor(const ModelConfig& config, const TensorSpec& spec, std::string_view kind,
                   const std::vector<OnnxTensor>& tensors) {
  const OnnxTensor* tensor = Find(tensors, spec.name);
  if (tensor == nullptr) {
    return Status::InvalidArgument(std::string(kind) + " '" + spec.name +
                                   "' is configured, but the ONNX file has no such " +
                                   std::string(kind) + ": it has " + Names(tensors));
  }
  if (tensor->datatype == NRD_TYPE_INVALID) {
    return Status(NRD_UNIMPLEMENTED, std::string(kind) + " '" + spec.name +
                                         "' of the ONNX file is not a tensor of a datatype that is "
                                         "supported: take it out of the configuration");
  }
  if (tensor->datatype != spec.datatype) {
    return Status::InvalidArgument(std::string(kind) + " '" + spec.name + "' is configured as " +
                                   ConfigTypeName(spec.datatype) + ", but the ONNX file has " +
                                   std::string(DataTypeName(tensor->datatype)) +
                                   ": set data_type: " + ConfigTypeName(tensor->datatype));
  }
  return CheckDims(config, spec, kind, *tensor);
}

Status CheckInputIsConfigured(const ModelConfig& config, const OnnxTensor& input) {
  if (input.has_default) {
    return Status();
  }
  const auto spec = std::find_if(config.inputs.begin(), config.inputs.end(),
                                 [&](const TensorSpec& one) { return one.name == input.name; });
  if (spec == config.inputs.end()) {
    return Status::InvalidArgument("the ONNX file needs input '" + input.name +
                                   "', which is not configured: add it with data_type: " +
                                   ConfigTypeName(input.datatype) + " for dims " + Dims(input));
  }
  if (spec->optional) {
    return Status::InvalidArgument("input '" + input.name +
                                   "' is configured as optional, but the ONNX file has no default "
                                   "value for it: remove optional: true");
  }
  return Status();
}

}  // namespace

OrtElementType ElementTypeOf(int32_t datatype) {
  const auto* found = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                   [=](const auto& pair) { return pair.first == datatype; });
  return found == std::end(kDataTypes) ? OrtElementType::kUndefined : found->second;
}

int32_t DataTypeOf(OrtElementType type) {
  const auto* found = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                   [=](const auto& pair) { return pair.second == type; });
  return found == std::end(kDataTypes) ? NRD_TYPE_INVALID : found->first;
}

Status CheckSignature(const ModelConfig& config, const OnnxSignature& signature) {
  for (const TensorSpec& spec : config.inputs) {
    NRD_RETURN_IF_ERROR(CheckTensor(config, spec, "input", signature.inputs));
  }
  for (const OnnxTensor& input : signature.inputs) {
    NRD_RETURN_IF_ERROR(CheckInputIsConfigured(config, input));
  }
  for (const TensorSpec& spec : config.outputs) {
    NRD_RETURN_IF_ERROR(CheckTensor(config, spec, "output", signature.outputs));
  }
  return Status();
}

}  // namespace nereid
