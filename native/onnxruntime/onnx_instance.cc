#include "onnxruntime/onnx_instance.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/tensor.h"

namespace nereid {
namespace {

// True if an output's shape is known before the run. Not for strings, which ONNX Runtime cannot
// write into a buffer, nor for an output that is scattered by the requests' shapes.
bool ShapeIsKnown(const TensorSpec& spec) {
  return spec.datatype != NRD_TYPE_BYTES && !spec.scattered_by &&
         std::find(spec.BackendDims().begin(), spec.BackendDims().end(), -1) ==
             spec.BackendDims().end();
}

// Newer libraries check for zeros themselves, and report them as a failure of the library.
bool SaysDivisionByZero(const Status& status) {
  return !status.ok() &&
         (status.message().find("Integer division by zero") != std::string_view::npos ||
          status.message().find("Integer modulo by zero") != std::string_view::npos);
}

}  // namespace

OnnxInstance::OnnxInstance(const OnnxModel& model)
    : model_(model), library_(model.session->library()) {
  error_.struct_size = sizeof(error_);
  const size_t input_count = model.config.inputs.size();
  const size_t output_count = model.config.outputs.size();
  input_views_.reserve(input_count);
  for (const TensorSpec& spec : model.config.inputs) {
    input_views_.emplace_back(library_, ElementTypeOf(spec.datatype));
  }
  output_views_.reserve(output_count);
  for (const TensorSpec& spec : model.config.outputs) {
    output_views_.emplace_back(library_, ElementTypeOf(spec.datatype));
    output_shape_is_known_.push_back(ShapeIsKnown(spec));
  }
  input_names_.reserve(input_count);
  input_values_.reserve(input_count);
  strings_.reserve(input_count);
  output_names_.reserve(output_count);
  output_values_.reserve(output_count);
  output_indices_.reserve(output_count);
}

Status OnnxInstance::Run(nrd_batch* batch) {
  input_names_.clear();
  input_values_.clear();
  strings_.clear();
  output_names_.clear();
  output_values_.clear();
  output_indices_.clear();
  NRD_RETURN_IF_ERROR(BindInputs(*batch));
  NRD_RETURN_IF_ERROR(BindOutputs(batch));
  Status status = RunBound(batch);
  strings_.clear();
  return status;
}

Status OnnxInstance::BindInputs(const nrd_batch& batch) {
  for (uint32_t i = 0; i < batch.input_count; ++i) {
    const nrd_tensor& tensor = batch.inputs[i];
    if (!IsSelected(tensor)) {
      continue;
    }
    const OrtValue* value = nullptr;
    if (tensor.datatype == NRD_TYPE_BYTES) {
      strings_.emplace_back(nullptr, library_.api().ReleaseValue);
      NRD_RETURN_IF_ERROR(MakeStringTensor(library_, tensor, &strings_.back()));
      value = strings_.back().get();
    } else {
      NRD_RETURN_IF_ERROR(
          input_views_[i].View(tensor.data, tensor.byte_size, tensor.rank, tensor.shape, &value));
    }
    input_names_.push_back(model_.config.inputs[i].name.c_str());
    input_values_.push_back(value);
  }
  return Status();
}

Status OnnxInstance::BindOutputs(nrd_batch* batch) {
  for (uint32_t i = 0; i < batch->output_count; ++i) {
    if (!IsSelected(batch->outputs[i])) {
      continue;
    }
    const OrtValue* value = nullptr;
    if (output_shape_is_known_[i]) {
      NRD_RETURN_IF_ERROR(BindFixedOutput(batch, i, &value));
    }
    output_names_.push_back(model_.config.outputs[i].name.c_str());
    // ONNX Runtime writes into a view's buffer, but does not change the view.
    output_values_.push_back(const_cast<OrtValue*>(value));
    output_indices_.push_back(i);
  }
  return Status();
}

Status OnnxInstance::BindFixedOutput(nrd_batch* batch, uint32_t index, const OrtValue** value_out) {
  const TensorSpec& spec = model_.config.outputs[index];
  std::array<int64_t, NRD_MAX_RANK> shape;
  uint32_t rank = 0;
  if (model_.config.batched()) {
    shape[rank++] = batch->batch_size;
  }
  for (const int64_t dim : spec.BackendDims()) {
    shape[rank++] = dim;
  }
  uint64_t byte_size = 0;
  NRD_RETURN_IF_ERROR(TensorByteSize(spec.datatype, rank, shape.data(), &byte_size, "output"));
  void* data = nullptr;
  const int32_t code =
      nrd_batch_output(batch, index, spec.datatype, rank, shape.data(), byte_size, &data, &error_);
  if (code != NRD_OK) {
    return StatusFromCallback(code, error_, "allocating an output");
  }
  return output_views_[index].View(data, byte_size, rank, shape.data(), value_out);
}

// Runs the session. A run with a faulting division goes on, but its outputs are dropped.
Status OnnxInstance::RunSession() {
  const OnnxSession& session = *model_.session;
  arithmetic_.Begin();
  Status status = library_.Check(
      library_.api().Run(session.handle(), session.run_options(), input_names_.data(),
                         input_values_.data(), input_values_.size(), output_names_.data(),
                         output_values_.size(), output_values_.data()),
      "ONNX Runtime");
  if (arithmetic_.End() || SaysDivisionByZero(status)) [[unlikely]] {
    return Status::InvalidArgument(std::string(kArithmeticFault) + " in model '" +
                                   model_.config.name + "'");
  }
  return status;
}

Status OnnxInstance::RunBound(nrd_batch* batch) {
  Status status = RunSession();
  for (size_t i = 0; i < output_values_.size(); ++i) {
    const uint32_t index = output_indices_[i];
    if (output_shape_is_known_[index]) {
      continue;
    }
    const OrtOwned<OrtValue> value(output_values_[i], library_.api().ReleaseValue);
    if (status.ok()) {
      status = CopyOutput(batch, index, value.get());
    }
  }
  return status;
}

Status OnnxInstance::CopyOutput(nrd_batch* batch, uint32_t index, OrtValue* value) {
  const OrtFunctions& api = library_.api();
  OrtTensorInfo* raw = nullptr;
  NRD_RETURN_IF_ERROR(library_.Check(api.GetTensorTypeAndShape(value, &raw), "output"));
  const OrtOwned<OrtTensorInfo> info(raw, api.ReleaseTensorTypeAndShapeInfo);
  OrtElementType type = OrtElementType::kUndefined;
  NRD_RETURN_IF_ERROR(library_.Check(api.GetTensorElementType(raw, &type), "output"));
  size_t rank = 0;
  NRD_RETURN_IF_ERROR(library_.Check(api.GetDimensionsCount(raw, &rank), "output"));
  if (rank > NRD_MAX_RANK) {
    return Status::Internal("output '" + model_.config.outputs[index].name + "' has " +
                            std::to_string(rank) + " dimensions, at most " +
                            std::to_string(NRD_MAX_RANK) + " are supported");
  }
  std::array<int64_t, NRD_MAX_RANK> shape;
  NRD_RETURN_IF_ERROR(library_.Check(api.GetDimensions(raw, shape.data(), rank), "output"));
  return WriteOutput(batch, index, type, static_cast<uint32_t>(rank), shape.data(), value);
}

Status OnnxInstance::WriteOutput(nrd_batch* batch, uint32_t index, OrtElementType type,
                                 uint32_t rank, const int64_t* shape, OrtValue* value) {
  uint64_t byte_size = 0;
  uint64_t count = 0;
  NRD_RETURN_IF_ERROR(ElementCount(rank, shape, &count, "output"));
  if (type == OrtElementType::kString) {
    NRD_RETURN_IF_ERROR(StringTensorByteSize(library_, value, count, &byte_size));
  } else {
    NRD_RETURN_IF_ERROR(TensorByteSize(DataTypeOf(type), rank, shape, &byte_size, "output"));
  }
  void* target = nullptr;
  const int32_t code =
      nrd_batch_output(batch, index, DataTypeOf(type), rank, shape, byte_size, &target, &error_);
  if (code != NRD_OK) {
    return StatusFromCallback(code, error_, "allocating an output");
  }
  if (type == OrtElementType::kString) {
    return WriteStringTensor(library_, value, count, byte_size, &offsets_,
                             static_cast<char*>(target));
  }
  void* source = nullptr;
  NRD_RETURN_IF_ERROR(
      library_.Check(library_.api().GetTensorMutableData(value, &source), "output"));
  if (byte_size > 0) {
    std::memcpy(target, source, byte_size);
  }
  return Status();
}

}  // namespace nereid
