// What a backend calls to make outputs, of the batch or of one request.
#include <algorithm>
#include <cstring>

#include "base/tensor.h"
#include "core/batch_execution.h"
#include "core/request_check.h"
#include "core/reshape.h"

namespace nereid {

std::string BatchExecution::OutputName(uint32_t index) const {
  return "output '" + config_.outputs[index].name + "' of model '" + config_.name + "'";
}

// Makes an output what the backend says it is, still without memory.
Status BatchExecution::DescribeOutput(uint32_t index, int64_t rows, const nrd_tensor& wanted,
                                      nrd_tensor* output) {
  const TensorSpec& spec = config_.outputs[index];
  if (wanted.datatype != spec.datatype) {
    return Status::Internal(
        "backend produced datatype " +
        std::string(IsDataType(wanted.datatype) ? DataTypeName(wanted.datatype) : "INVALID") +
        " for " + OutputName(index) + ", expected " + std::string(DataTypeName(spec.datatype)));
  }
  if (wanted.rank > NRD_MAX_RANK ||
      !ShapeFits(spec.BackendDims(), config_.batched(), rows, wanted.rank, wanted.shape)) {
    return Status::Internal(
        "backend produced shape " +
        ShapeToString(std::min<uint32_t>(wanted.rank, NRD_MAX_RANK), wanted.shape) + " for " +
        OutputName(index) + ", expected " + ExpectedShape(spec.BackendDims(), config_.batched()) +
        (config_.batched() ? " with batch size " + std::to_string(rows) : ""));
  }
  uint64_t byte_size = wanted.byte_size;
  if (spec.datatype != NRD_TYPE_BYTES) {
    NRD_RETURN_IF_ERROR(TensorByteSize(spec.datatype, wanted.rank, wanted.shape, &byte_size));
    if (wanted.byte_size != byte_size) {
      return Status::Internal("backend gave " + std::to_string(wanted.byte_size) + " bytes for " +
                              OutputName(index) + ", its shape needs " + std::to_string(byte_size));
    }
  }
  if (output->slab != nullptr) {
    BufferPool::Release(output->slab);
  }
  const uint32_t flags = output->flags;
  *output = wanted;
  ToClientShape(spec, config_.batched(), output);
  output->flags = flags;
  output->data = nullptr;
  output->slab = nullptr;
  return Status();
}

Status BatchExecution::AllocateOutput(uint32_t index, int64_t rows, const nrd_tensor& wanted,
                                      nrd_tensor* output, void** data_out) {
  NRD_RETURN_IF_ERROR(DescribeOutput(index, rows, wanted, output));
  NRD_RETURN_IF_ERROR(pool_.Allocate(output->byte_size, &output->slab, account_));
  output->data = output->slab;
  *data_out = output->data;
  return Status();
}

Status BatchExecution::Output(uint32_t index, const nrd_tensor& wanted, void** data_out) {
  if (index >= outputs_.size()) {
    return Status::Internal("backend named output " + std::to_string(index) + ", model '" +
                            config_.name + "' has " + std::to_string(outputs_.size()));
  }
  return AllocateOutput(index, rows_, wanted, &outputs_[index], data_out);
}

Status BatchExecution::ForwardInput(uint32_t index, uint32_t input_index) {
  if (index >= outputs_.size() || input_index >= inputs_.size() || batch_.inputs == nullptr ||
      !IsSelected(batch_.inputs[input_index])) {
    return Status::Internal("backend forwarded input " + std::to_string(input_index) +
                            " to output " + std::to_string(index) + " of model '" + config_.name +
                            "', expected an input that was given and an output that there is");
  }
  const nrd_tensor& input = batch_.inputs[input_index];
  nrd_tensor* const output = &outputs_[index];
  // Copies for the sake of their shape do not hold the reference; the request does.
  void* const slab =
      requests_.size() == 1 ? requests_.front()->record.inputs[input_index].slab : input.slab;
  if (slab == nullptr) {  // the caller's own memory, which the answer may outlive
    void* data = nullptr;
    NRD_RETURN_IF_ERROR(AllocateOutput(index, rows_, input, output, &data));
    if (input.byte_size > 0) {
      std::memcpy(data, input.data, input.byte_size);
    }
    return Status();
  }
  NRD_RETURN_IF_ERROR(DescribeOutput(index, rows_, input, output));
  BufferPool::Retain(slab);
  output->slab = slab;
  output->data = input.data;
  return Status();
}

Status BatchExecution::RequestOutput(uint32_t request_index, uint32_t index,
                                     const nrd_tensor& wanted, void** data_out) {
  if (request_index >= requests_.size() || index >= outputs_.size()) {
    return Status::Internal("backend named output " + std::to_string(index) + " of request " +
                            std::to_string(request_index) + ", the batch has " +
                            std::to_string(outputs_.size()) + " outputs and " +
                            std::to_string(requests_.size()) + " requests");
  }
  Request& request = *requests_[request_index];
  nrd_tensor* const output = &request.record.outputs[index];
  return IsOnDevice(*output) ? DeviceOutput(index, request.rows, wanted, output, data_out)
                             : AllocateOutput(index, request.rows, wanted, output, data_out);
}

// Takes the place that the caller named in the output's shape, see NRD_TENSOR_DEVICE.
Status BatchExecution::DeviceOutput(uint32_t index, int64_t rows, const nrd_tensor& wanted,
                                    nrd_tensor* output, void** data_out) {
  if (output->data != nullptr) {
    return Status::Internal("backend made " + OutputName(index) + " twice");
  }
  void* const target = reinterpret_cast<void*>(output->shape[NRD_TARGET_ADDRESS]);
  const auto room = static_cast<uint64_t>(output->shape[NRD_TARGET_BYTES]);
  nrd_tensor made = *output;
  NRD_RETURN_IF_ERROR(DescribeOutput(index, rows, wanted, &made));
  if (made.byte_size > room) {
    return Status::InvalidArgument("shared memory size specified with the request for output '" +
                                   config_.outputs[index].name + "' (" + std::to_string(room) +
                                   " bytes) should be at least " + std::to_string(made.byte_size) +
                                   " bytes to hold the results");
  }
  made.device = output->device;
  made.data = target;
  *output = made;
  *data_out = target;
  return Status();
}

}  // namespace nereid
