#include "core/request/output_maker.h"

#include <algorithm>

#include "base/tensor.h"
#include "core/request/request_check.h"
#include "core/request/reshape.h"

namespace nereid {

Status OutputMaker::Describe(uint32_t index, int64_t rows, const nrd_tensor& wanted,
                             nrd_tensor* output) const {
  const TensorSpec& spec = config_.outputs[index];
  const bool fits = rows == kAnyShape || ShapeFits(spec.BackendDims(), config_.batched(), rows,
                                                   wanted.rank, wanted.shape);
  if (wanted.datatype != spec.datatype || wanted.rank > NRD_MAX_RANK || !fits) [[unlikely]] {
    NRD_RETURN_IF_ERROR(CheckUndeclared(index, rows, fits, wanted));
  }
  uint64_t byte_size = wanted.byte_size;
  if (wanted.datatype != NRD_TYPE_BYTES) {
    NRD_RETURN_IF_ERROR(TensorByteSize(wanted.datatype, wanted.rank, wanted.shape, &byte_size));
    if (wanted.byte_size != byte_size) {
      return Status::Internal("backend gave " + std::to_string(wanted.byte_size) + " bytes for " +
                              Name(index) + ", its shape needs " + std::to_string(byte_size));
    }
  }
  if (output->slab != nullptr) {
    BufferPool::Release(output->slab);
  }
  const uint32_t flags = output->flags;
  *output = wanted;
  if (rows != kAnyShape && fits) {
    ToClientShape(spec, config_.batched(), output);
  }
  output->flags = flags;
  output->data = nullptr;
  output->slab = nullptr;
  return Status();
}

Status OutputMaker::CheckUndeclared(uint32_t index, int64_t rows, bool fits,
                                    const nrd_tensor& wanted) const {
  const TensorSpec& spec = config_.outputs[index];
  const bool is_type = IsDataType(wanted.datatype);
  const bool is_free = IsFree(index);
  if (is_free ? !is_type : wanted.datatype != spec.datatype) {
    return Status::Internal("backend produced datatype " +
                            std::string(is_type ? DataTypeName(wanted.datatype) : "INVALID") +
                            " for " + Name(index) + ", expected " +
                            std::string(DataTypeName(spec.datatype)));
  }
  if (wanted.rank > NRD_MAX_RANK || (!fits && !is_free)) {
    return Status::Internal(
        "backend produced shape " +
        ShapeToString(std::min<uint32_t>(wanted.rank, NRD_MAX_RANK), wanted.shape) + " for " +
        Name(index) + ", expected " + ExpectedShape(spec.BackendDims(), config_.batched()) +
        (config_.batched() ? " with batch size " + std::to_string(rows) : ""));
  }
  return Status();
}

bool OutputMaker::IsFree(uint32_t index) const {
  return config_.free_outputs &&
         (!config_.sequences ||
          std::none_of(config_.sequences->states.begin(), config_.sequences->states.end(),
                       [index](const StateSpec& state) { return state.output == index; }));
}

Status OutputMaker::Allocate(uint32_t index, int64_t rows, const nrd_tensor& wanted,
                             nrd_tensor* output, void** data_out) const {
  NRD_RETURN_IF_ERROR(Describe(index, rows, wanted, output));
  NRD_RETURN_IF_ERROR(pool_.Allocate(output->byte_size, &output->slab, account_));
  output->data = output->slab;
  *data_out = output->data;
  return Status();
}

Status OutputMaker::Place(uint32_t index, int64_t rows, const nrd_tensor& wanted,
                          nrd_tensor* output, void** data_out) const {
  if (output->data != nullptr) {
    return Status::Internal("backend made " + Name(index) + " twice");
  }
  void* const target = reinterpret_cast<void*>(output->shape[NRD_TARGET_ADDRESS]);
  const auto room = static_cast<uint64_t>(output->shape[NRD_TARGET_BYTES]);
  nrd_tensor made = *output;
  NRD_RETURN_IF_ERROR(Describe(index, rows, wanted, &made));
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

Status OutputMaker::CheckRows(uint32_t index, const nrd_tensor& whole, int64_t rows) const {
  if (!config_.batched() || (whole.rank > 0 && whole.shape[0] == rows)) [[likely]] {
    return Status();
  }
  return Status::Internal("backend produced shape " + ShapeToString(whole.rank, whole.shape) +
                          " for " + Name(index) + " in a batch of several requests, expected " +
                          std::to_string(rows) + " rows");
}

Status OutputMaker::CheckBytes(uint32_t index, const nrd_tensor& tensor) const {
  if (tensor.datatype != NRD_TYPE_BYTES || tensor.data == nullptr) {
    return Status();
  }
  uint64_t count = 0;
  NRD_RETURN_IF_ERROR(ElementCount(tensor.rank, tensor.shape, &count));
  if (ValidateBytes(tensor.data, tensor.byte_size, count, "").ok()) [[likely]] {
    return Status();
  }
  const Status status = ValidateBytes(tensor.data, tensor.byte_size, count, Name(index));
  return Status::Internal(std::string(status.message()));
}

std::string OutputMaker::Name(uint32_t index) const {
  return "output '" + config_.outputs[index].name + "' of model '" + config_.name + "'";
}

Status OutputMaker::Missing(uint32_t index) const {
  return IsFree(index) ? Status() : Status::Internal("backend did not produce " + Name(index));
}

}  // namespace nereid
