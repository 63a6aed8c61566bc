#include "core/request/request_check.h"

#include <algorithm>

#include "base/tensor.h"

namespace nereid {
namespace {

std::string Quoted(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "'" : "','") + name;
  }
  return list.empty() ? "[]" : "[" + list + "']";
}

Status MissingInputs(const ModelConfig& config, const nrd_request& record) {
  std::vector<std::string> given;
  std::vector<std::string> missing;
  size_t required = 0;
  for (uint32_t i = 0; i < record.input_count; ++i) {
    const TensorSpec& spec = config.inputs[i];
    required += spec.optional ? 0U : 1U;
    if (IsSelected(record.inputs[i])) {
      given.push_back(spec.name);
    } else if (!spec.optional) {
      missing.push_back(spec.name);
    }
  }
  const std::string expected = required == record.input_count
                                   ? std::to_string(required) + " inputs"
                                   : "number of inputs between " + std::to_string(required) +
                                         " and " + std::to_string(record.input_count);
  return Status::InvalidArgument(
      "expected " + expected + " but got " + std::to_string(given.size()) + " inputs for model '" +
      config.name + "'. Got input(s) " + Quoted(given) + ", but missing required input(s) " +
      Quoted(missing) + ". Please provide all required input(s).");
}

Status ShapeError(const ModelConfig& config, const TensorSpec& spec, const nrd_tensor& tensor) {
  std::string message = "unexpected shape for input '" + spec.name + "' for model '" + config.name +
                        "'. Expected " + ExpectedShape(spec.dims, config.batched()) + ", got " +
                        ShapeToString(tensor.rank, tensor.shape) + ".";
  if (config.batched()) {
    message +=
        " NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension "
        "to be prepended to each input shape; for one item use [1,...].";
  }
  return Status::InvalidArgument(std::move(message));
}

Status CheckRows(const ModelConfig& config, const TensorSpec& spec, int64_t rows, bool first,
                 int64_t rows_of_first) {
  if (rows > config.max_batch_size) {
    return Status::InvalidArgument(
        "inference request batch-size must be <= " + std::to_string(config.max_batch_size) +
        " for '" + config.name + "', got " + std::to_string(rows));
  }
  if (rows < 1) {
    return Status::InvalidArgument("inference request batch-size must be >= 1 for '" + config.name +
                                   "', got " + std::to_string(rows));
  }
  if (!first && rows != rows_of_first) {
    return Status::InvalidArgument(
        "input '" + spec.name + "' batch size does not match other inputs for '" + config.name +
        "': expected " + std::to_string(rows_of_first) + ", got " + std::to_string(rows));
  }
  return Status();
}

// `where` names the input in messages; it is "" for the first check, to save the allocation of a
// name for good requests.
Status CheckByteSize(const TensorSpec& spec, const nrd_tensor& tensor, const std::string& where) {
  if (spec.datatype == NRD_TYPE_BYTES) {
    uint64_t count = 0;
    NRD_RETURN_IF_ERROR(ElementCount(tensor.rank, tensor.shape, &count, where));
    return ValidateBytes(tensor.data, tensor.byte_size, count, where);
  }
  uint64_t expected = 0;
  NRD_RETURN_IF_ERROR(TensorByteSize(spec.datatype, tensor.rank, tensor.shape, &expected, where));
  if (tensor.byte_size != expected) {
    return Status::InvalidArgument("input byte size mismatch for " + where + ". Expected " +
                                   std::to_string(expected) + ", got " +
                                   std::to_string(tensor.byte_size));
  }
  return Status();
}

Status CheckBytes(const ModelConfig& config, const TensorSpec& spec, const nrd_tensor& tensor) {
  if (CheckByteSize(spec, tensor, "").ok()) [[likely]] {
    return Status();
  }
  const std::string where = "input '" + spec.name + "' for model '" + config.name + "'";
  return CheckByteSize(spec, tensor,
                       spec.datatype == NRD_TYPE_BYTES ? "inference " + where : where);
}

Status CheckInput(const ModelConfig& config, const TensorSpec& spec, const nrd_tensor& tensor) {
  if (tensor.datatype != spec.datatype) {
    const bool known = IsDataType(tensor.datatype);
    return Status::InvalidArgument(
        "inference input '" + spec.name + "' data-type is '" +
        (known ? std::string(DataTypeName(tensor.datatype)) : std::to_string(tensor.datatype)) +
        "', but model '" + config.name + "' expects '" + std::string(DataTypeName(spec.datatype)) +
        "'");
  }
  if (IsOnDevice(tensor) &&
      (!config.device_tensors || tensor.slab != nullptr || spec.datatype == NRD_TYPE_BYTES)) {
    return Status::InvalidArgument("input '" + spec.name + "' for model '" + config.name +
                                   "' is in the memory of a device, expected memory of the "
                                   "processor");
  }
  if (tensor.rank > NRD_MAX_RANK) {
    return Status::InvalidArgument("input '" + spec.name + "' for model '" + config.name +
                                   "' has " + std::to_string(tensor.rank) +
                                   " dimensions, at most " + std::to_string(NRD_MAX_RANK) +
                                   " are supported");
  }
  const int64_t rows = tensor.rank > 0 ? tensor.shape[0] : 0;
  if (!ShapeFits(spec.dims, config.batched(), rows, tensor.rank, tensor.shape)) {
    return ShapeError(config, spec, tensor);
  }
  if (tensor.data == nullptr && tensor.byte_size > 0) {
    return Status::InvalidArgument("input '" + spec.name + "' for model '" + config.name +
                                   "' has no data");
  }
  return CheckBytes(config, spec, tensor);
}

// Checks the place where the caller wants an output.
Status CheckTarget(const ModelConfig& config, const TensorSpec& spec, const nrd_tensor& output) {
  if (!IsOnDevice(output)) [[likely]] {
    return Status();
  }
  if (!config.device_tensors || config.decoupled || spec.datatype == NRD_TYPE_BYTES) {
    return Status::InvalidArgument("output '" + spec.name + "' of model '" + config.name +
                                   "' is wanted in the memory of a device, expected memory of the "
                                   "processor");
  }
  return Status();
}

// Checks everything that a request of a sequence needs, at any place in it.
Status CheckSequence(const ModelConfig& config, const Request& request) {
  const auto to_model = [&config] { return "inference request to model '" + config.name + "' "; };
  const std::string_view name = View(request.record.sequence_name);
  if (name.empty() && request.record.sequence_id == 0 && !config.sequences->iterative) {
    return Status::InvalidArgument(to_model() +
                                   "must specify a non-zero or non-empty correlation ID");
  }
  if (name.size() > NRD_MAX_SEQUENCE_NAME) {
    return Status::InvalidArgument(to_model() + "has a correlation ID of " +
                                   std::to_string(name.size()) + " bytes, at most " +
                                   std::to_string(NRD_MAX_SEQUENCE_NAME) + " are supported");
  }
  if (request.rows > 1) {
    return Status::InvalidArgument(
        to_model() + "must specify batch-size 1 due to requirements of sequence batcher");
  }
  for (const ControlSpec& control : config.sequences->controls) {
    const int32_t type = config.inputs[control.input].datatype;
    if (control.kind == NRD_CONTROL_CORRID && type != NRD_TYPE_BYTES && !name.empty()) {
      return Status::InvalidArgument(to_model() + "has the correlation ID '" + std::string(name) +
                                     "', expected a number: the model takes them as " +
                                     std::string(DataTypeName(type)));
    }
  }
  return Status();
}

}  // namespace

std::string ExpectedShape(const std::vector<int64_t>& dims, bool batched) {
  std::vector<int64_t> shape = dims;
  if (batched) {
    shape.insert(shape.begin(), -1);
  }
  return ShapeToString(static_cast<uint32_t>(shape.size()), shape.data());
}

bool ShapeFits(const std::vector<int64_t>& dims, bool batched, int64_t rows, uint32_t rank,
               const int64_t* shape) {
  const uint32_t offset = batched ? 1 : 0;
  if (rank != dims.size() + offset || (batched && shape[0] != rows)) {
    return false;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = shape[i + offset];
    if (dim < 0 || (dims[i] >= 0 && dims[i] != dim)) {
      return false;
    }
  }
  return true;
}

Status CheckRequest(const ModelConfig& config, Request& request) {
  nrd_request& record = request.record;
  request.rows = 1;
  bool first = true;
  bool missing = false;
  for (uint32_t i = 0; i < record.input_count; ++i) {
    missing |= !IsSelected(record.inputs[i]) && !config.inputs[i].optional;
  }
  if (missing) {
    return MissingInputs(config, record);
  }
  for (uint32_t i = 0; i < record.input_count; ++i) {
    const nrd_tensor& tensor = record.inputs[i];
    if (!IsSelected(tensor)) {
      continue;
    }
    NRD_RETURN_IF_ERROR(CheckInput(config, config.inputs[i], tensor));
    if (config.batched()) {
      NRD_RETURN_IF_ERROR(
          CheckRows(config, config.inputs[i], tensor.shape[0], first, request.rows));
      request.rows = tensor.shape[0];
      first = false;
    }
  }
  for (uint32_t i = 0; i < record.output_count; ++i) {
    NRD_RETURN_IF_ERROR(CheckTarget(config, config.outputs[i], record.outputs[i]));
  }
  return config.sequences ? CheckSequence(config, request) : Status();
}

bool SameShapes(const ModelConfig& config, const Request& a, const Request& b) {
  for (uint32_t i = 0; i < a.record.input_count; ++i) {
    const nrd_tensor& left = a.record.inputs[i];
    const nrd_tensor& right = b.record.inputs[i];
    if (IsSelected(left) != IsSelected(right)) {
      return false;
    }
    // The first dimension, that of the batch, may differ.
    if (IsSelected(left) && !config.inputs[i].ragged &&
        (left.rank != right.rank ||
         (left.rank > 0 && !std::equal(left.shape + 1, left.shape + left.rank, right.shape + 1)))) {
      return false;
    }
  }
  return true;
}

}  // namespace nereid
