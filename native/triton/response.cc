#include "triton/response.h"

#include <algorithm>
#include <cstring>

#include "base/tensor.h"
#include "triton/calls.h"
#include "triton/execution.h"
#include "triton/host.h"

namespace nereid::triton {

namespace {

// The bytes that the elements of a shape need; 0 if the datatype has no fixed size.
Status NeededBytes(TRITONSERVER_DataType datatype, uint32_t rank, const int64_t* shape,
                   uint64_t* needed, std::string_view what) {
  if (datatype != TRITONSERVER_TYPE_BYTES) {
    return TensorByteSize(datatype, rank, shape, needed, what);
  }
  uint64_t count = 0;
  return ElementCount(rank, shape, &count, what);
}

}  // namespace

void Output::Begin(Response& response, uint32_t index, const TensorInfo& info,
                   const nrd_tensor& tensor, uint64_t needed) {
  needed_ = needed;
  response_ = &response;
  index_ = index;
  info_ = &info;
  tensor_ = tensor;
  attributes_.OpenFor(nullptr);
  attributes_.byte_size = 0;
  Open(kKind, nullptr);
}

void Output::End() {
  if (tensor_.slab != nullptr) {
    nrd_buffer_release(tensor_.slab);
  }
  tensor_ = nrd_tensor{};
  attributes_.End();
  ClosePart();
}

Status Output::Buffer(uint64_t byte_size, void** out) {
  if (tensor_.data != nullptr) {
    return Status(NRD_ALREADY_EXISTS,
                  "allocated buffer for output '" + name() + "' already exists");
  }
  NRD_RETURN_IF_ERROR(response_->request().OutputMemory(*this, byte_size));
  *out = tensor_.data;
  return Status();
}

Status Output::WriteIntoOwn(uint64_t byte_size) {
  Status status = Ask("the core", [&](nrd_error* error) {
    return nrd_buffer_alloc(TheHost().runtime, byte_size, &tensor_.slab, error);
  });
  if (!status.ok()) {
    tensor_.slab = nullptr;
    return status;
  }
  tensor_.data = tensor_.slab;
  tensor_.byte_size = byte_size;
  return Status();
}

void Response::End() {
  for (uint32_t i = 0; i < output_count_; ++i) {
    outputs_[i].End();
  }
  output_count_ = 0;
  parameters_.Clear();
}

Status Response::AddOutput(const char* name, TRITONSERVER_DataType datatype, const int64_t* shape,
                           uint32_t rank, Output** out) {
  const ModelTensors& tensors = request_.tensors();
  const int32_t index = name == nullptr ? -1 : tensors.OutputIndex(name);
  if (index < 0 || tensors.outputs[static_cast<size_t>(index)].is_hidden) {
    return Status::InvalidArgument("unexpected inference output '" +
                                   std::string(name == nullptr ? "" : name) + "' for model '" +
                                   request_.execution().model_name() + "'");
  }
  if (!IsDataType(datatype)) {
    return Status::InvalidArgument("output '" + std::string(name) + "' has no datatype");
  }
  uint64_t needed = 0;
  if (!NeededBytes(datatype, rank, shape, &needed, {}).ok()) {
    return NeededBytes(datatype, rank, shape, &needed, "output '" + std::string(name) + "'");
  }
  for (uint32_t i = 0; i < output_count_; ++i) {
    if (outputs_[i].index() == static_cast<uint32_t>(index)) {
      return Status(NRD_ALREADY_EXISTS,
                    "the response has an output '" + std::string(name) + "' already");
    }
  }
  nrd_tensor tensor{};
  tensor.datatype = datatype;
  tensor.rank = rank;
  std::copy_n(shape, rank, tensor.shape);
  if (output_count_ == outputs_.size()) {
    outputs_.emplace_back();
  }
  *out = &outputs_[output_count_++];
  (*out)->Begin(*this, static_cast<uint32_t>(index), tensors.outputs[static_cast<size_t>(index)],
                tensor, needed);
  return Status();
}

}  // namespace nereid::triton
