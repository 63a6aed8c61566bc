#include "core/batch/batch_inputs.h"

#include <cstring>

#include "base/tensor.h"
#include "core/request/request_check.h"
#include "core/request/reshape.h"

namespace nereid {

BatchInputs::BatchInputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account)
    : config_(config),
      pool_(pool),
      account_(account),
      combined_(config, pool, account),
      made_(config.inputs.size()) {}

Status BatchInputs::Make(std::span<Request* const> requests, int64_t rows,
                         SequenceTensors* sequences, const nrd_tensor** seen_out) {
  *seen_out = made_.data();
  for (nrd_tensor& input : made_) {
    input = nrd_tensor{};
  }
  if (requests.size() == 1 && !HasEmptyRows(config_, rows, 1)) {
    NRD_RETURN_IF_ERROR(Describe(requests));
  } else {
    for (uint32_t i = 0; i < config_.visible_inputs; ++i) {
      NRD_RETURN_IF_ERROR(Copy(i, requests, rows));
    }
  }
  if (!config_.core_gathers) {
    return Status();
  }
  // Inputs that no request brings have buffers of their own.
  NRD_RETURN_IF_ERROR(combined_.Make(requests, made_));
  return sequences == nullptr ? Status() : sequences->Make(requests, rows, made_);
}

// Copies a request's input descriptions with other shapes; the copies hold no references.
Status BatchInputs::Describe(std::span<Request* const> requests) {
  const nrd_tensor* const own = requests.front()->record.inputs;
  for (uint32_t i = 0; i < config_.visible_inputs; ++i) {
    made_[i] = own[i];
    made_[i].slab = nullptr;
    if (IsSelected(own[i])) {
      NRD_RETURN_IF_ERROR(ToBackend(i, requests, &made_[i]));
    }
  }
  return Status();
}

Status BatchInputs::Copy(uint32_t index, std::span<Request* const> requests, int64_t rows) {
  const nrd_tensor& first = requests.front()->record.inputs[index];
  if (!IsSelected(first)) {
    return Status();
  }
  uint64_t byte_size = 0;
  for (const Request* request : requests) {
    byte_size += request->record.inputs[index].byte_size;
  }
  uint64_t empty_row_bytes = 0;
  if (HasEmptyRows(config_, rows, requests.size())) {
    empty_row_bytes = EmptyRowBytes(first);
    byte_size += empty_row_bytes * (static_cast<uint64_t>(rows) - requests.size());
  }
  nrd_tensor& input = made_[index];
  input = first;
  input.shape[0] = rows;
  input.byte_size = byte_size;
  input.slab = nullptr;
  NRD_RETURN_IF_ERROR(pool_.Allocate(byte_size, &input.slab, account_));
  input.data = input.slab;
  NRD_RETURN_IF_ERROR(ToBackend(index, requests, &input));
  CopyRows(index, requests, empty_row_bytes, static_cast<char*>(input.data));
  return Status();
}

void BatchInputs::CopyRows(uint32_t index, std::span<Request* const> requests,
                           uint64_t empty_row_bytes, char* target) {
  int64_t row = 0;
  for (const Request* request : requests) {
    const nrd_tensor& part = request->record.inputs[index];
    const auto gap = static_cast<uint64_t>(request->record.first_row - row) * empty_row_bytes;
    if (gap > 0) {
      std::memset(target, 0, gap);
      target += gap;
    }
    if (part.byte_size > 0) {
      std::memcpy(target, part.data, part.byte_size);
      target += part.byte_size;
    }
    row = request->record.first_row + request->rows;
  }
}

// Changes an input of the batch from the clients' shape to the backend's.
Status BatchInputs::ToBackend(uint32_t index, std::span<Request* const> requests,
                              nrd_tensor* input) const {
  const TensorSpec& spec = config_.inputs[index];
  if (!spec.ragged) {
    ToBackendShape(spec, config_.batched(), input);
    return Status();
  }
  uint64_t elements = 0;
  for (const Request* request : requests) {
    const nrd_tensor& part = request->record.inputs[index];
    uint64_t count = 0;
    NRD_RETURN_IF_ERROR(ElementCount(part.rank, part.shape, &count));
    elements += count;
  }
  input->rank = 1;
  input->shape[0] = static_cast<int64_t>(elements);
  return Status();
}

}  // namespace nereid
