#include "core/sequence/sequence_tensors.h"

#include <algorithm>
#include <cstring>

#include "base/tensor.h"
#include "core/sequence/sequence.h"

namespace nereid {

SequenceTensors::SequenceTensors(const ModelConfig& config, BufferPool& pool, PoolAccount* account)
    : config_(config),
      sequences_(*config.sequences),
      pool_(pool),
      account_(account),
      controls_(sequences_.controls.size()) {
  for (size_t i = 0; i < controls_.size(); ++i) {
    const int32_t datatype = config.inputs[sequences_.controls[i].input].datatype;
    controls_[i].reserve(sequences_.slots *
                         (datatype == NRD_TYPE_BYTES ? sizeof(uint32_t) : sizeof(uint64_t)));
  }
}

Status SequenceTensors::Make(std::span<Request* const> requests, int64_t rows,
                             std::span<nrd_tensor> inputs) {
  for (size_t i = 0; i < controls_.size(); ++i) {
    const ControlSpec& control = sequences_.controls[i];
    nrd_tensor* const input = &inputs[control.input];
    input->datatype = config_.inputs[control.input].datatype;
    input->flags = NRD_TENSOR_SELECTED;
    input->rank = config_.batched() ? 2 : 1;
    input->shape[0] = rows;
    input->shape[1] = 1;
    if (input->datatype == NRD_TYPE_BYTES) {
      MakeIds(requests, rows, &controls_[i], input);
    } else {
      MakeControl(control, requests, rows, &controls_[i], input);
    }
  }
  for (size_t i = 0; i < sequences_.states.size(); ++i) {
    NRD_RETURN_IF_ERROR(MakeState(i, requests, rows, &inputs[sequences_.states[i].input]));
  }
  return Status();
}

// Makes an element for each row: the request's, or `no`, which is 0 for ids.
void SequenceTensors::MakeControl(const ControlSpec& control, std::span<Request* const> requests,
                                  int64_t rows, std::vector<uint8_t>* memory,
                                  nrd_tensor* input) const {
  const size_t element = DataTypeByteSize(input->datatype);
  memory->resize(static_cast<size_t>(rows) * element);
  for (int64_t row = 0; row < rows; ++row) {
    std::memcpy(memory->data() + static_cast<size_t>(row) * element, control.no.data(), element);
  }
  for (const Request* request : requests) {
    const void* value = nullptr;
    switch (control.kind) {
      case NRD_CONTROL_START:
        value = request->starts ? control.yes.data() : control.no.data();
        break;
      case NRD_CONTROL_END:
        value = request->Has(NRD_REQUEST_SEQUENCE_END) ? control.yes.data() : control.no.data();
        break;
      case NRD_CONTROL_READY:
        value = control.yes.data();
        break;
      default:
        value = &request->record.sequence_id;  // the low bytes come first
        break;
    }
    std::memcpy(memory->data() + request->record.first_row * element, value, element);
  }
  input->data = memory->data();
  input->byte_size = memory->size();
}

void SequenceTensors::MakeIds(std::span<Request* const> requests, int64_t rows,
                              std::vector<uint8_t>* memory, nrd_tensor* input) {
  memory->clear();
  const auto append = [memory](std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&size);
    memory->insert(memory->end(), bytes, bytes + sizeof(size));
    memory->insert(memory->end(), text.begin(), text.end());
  };
  int64_t row = 0;
  for (const Request* request : requests) {
    for (; row < request->record.first_row; ++row) {
      append({});
    }
    append(SequenceText(*request));
    ++row;
  }
  for (; row < rows; ++row) {
    append({});
  }
  input->data = memory->data();
  input->byte_size = memory->size();
}

nrd_tensor SequenceTensors::StateOf(size_t index, const Request& request) const {
  const StateSpec& state = sequences_.states[index];
  if (!request.starts && request.sequence != nullptr &&
      request.sequence->states[index].data != nullptr) {
    nrd_tensor kept = request.sequence->states[index];
    kept.slab = nullptr;
    return kept;
  }
  nrd_tensor initial{};
  initial.data = const_cast<char*>(state.initial.data());  // never written to: see MakeState
  initial.byte_size = state.initial.size();
  initial.datatype = config_.inputs[state.input].datatype;
  initial.flags = NRD_TENSOR_SELECTED;
  if (config_.batched()) {
    initial.shape[initial.rank++] = 1;
  }
  for (const int64_t dim : state.dims) {
    initial.shape[initial.rank++] = dim;
  }
  return initial;
}

// A single request gets the state without a copy, unless it is the shared initial state and is to
// be overwritten.
Status SequenceTensors::MakeState(size_t index, std::span<Request* const> requests, int64_t rows,
                                  nrd_tensor* input) const {
  const StateSpec& state = sequences_.states[index];
  const nrd_tensor first = StateOf(index, *requests.front());
  *input = first;
  if (sequences_.release_state != nullptr) {  // the backend has the state: only type and shape are
                                              // given
    input->flags = NRD_TENSOR_SELECTED | NRD_TENSOR_DEVICE;
    input->data = nullptr;
    input->byte_size = first.byte_size * static_cast<uint64_t>(rows);
    if (config_.batched()) {
      input->shape[0] = rows;
    }
    return Status();
  }
  if (rows == 1 && (!state.same_buffer || first.data != state.initial.data())) {
    return Status();
  }
  const uint64_t empty_bytes = EmptyRowBytes(first);
  uint64_t byte_size = 0;
  for (const Request* request : requests) {
    byte_size += StateOf(index, *request).byte_size;
  }
  byte_size += empty_bytes * (static_cast<uint64_t>(rows) - requests.size());
  NRD_RETURN_IF_ERROR(pool_.Allocate(byte_size, &input->slab, account_));
  input->data = input->slab;
  input->byte_size = byte_size;
  if (config_.batched()) {
    input->shape[0] = rows;
  }
  auto* target = static_cast<char*>(input->data);
  int64_t row = 0;
  const auto leave_empty = [&](int64_t until) {
    for (; row < until; ++row) {
      std::memset(target, 0, empty_bytes);
      target += empty_bytes;
    }
  };
  for (const Request* request : requests) {
    leave_empty(request->record.first_row);
    const nrd_tensor part = StateOf(index, *request);
    std::memcpy(target, part.data, part.byte_size);
    target += part.byte_size;
    ++row;
  }
  leave_empty(rows);
  return Status();
}

bool SequenceTensors::Reuse(std::span<Request* const> requests, uint32_t output,
                            std::span<const nrd_tensor> inputs, nrd_tensor* made) const {
  if (output < config_.visible_outputs) {
    return false;  // a client may still be reading the last state
  }
  for (size_t i = 0; i < sequences_.states.size(); ++i) {
    const StateSpec& state = sequences_.states[i];
    if (state.output != output) {
      continue;
    }
    const nrd_tensor& input = inputs[state.input];
    const Sequence* const sequence = requests.front()->sequence;
    void* const slab =
        input.slab != nullptr || sequence == nullptr ? input.slab : sequence->states[i].slab;
    if (!state.same_buffer || made->byte_size > input.byte_size || slab == nullptr) {
      return false;
    }
    BufferPool::Retain(slab);
    made->slab = slab;
    made->data = input.data;
    return true;
  }
  return false;
}

// ---- Keeping states ----

Status SequenceTensors::Keep(const Request& request, int64_t rows,
                             std::span<const nrd_tensor> outputs) const {
  if (request.sequence == nullptr) {
    return Status();  // a warm-up
  }
  for (size_t i = 0; i < sequences_.states.size(); ++i) {
    const uint32_t output = sequences_.states[i].output;
    const nrd_tensor& whole = outputs[output];
    nrd_tensor row{};
    if (whole.data != nullptr) {
      NRD_RETURN_IF_ERROR(RowOf(whole, request, rows, &row));
    } else if (output < config_.visible_outputs) {
      row = request.record.outputs[output];  // the backend made it for this request alone
    }
    if (row.data == nullptr) {
      return Status::Internal("backend did not produce state '" + config_.outputs[output].name +
                              "' of model '" + config_.name + "'");
    }
    NRD_RETURN_IF_ERROR(KeepOne(i, request, row));
  }
  return Status();
}

Status SequenceTensors::RowOf(const nrd_tensor& whole, const Request& request, int64_t rows,
                              nrd_tensor* row_out) const {
  *row_out = whole;
  if (rows == 1) {
    return Status();
  }
  const auto before = static_cast<uint64_t>(request.record.first_row);
  const auto* const data = static_cast<const char*>(whole.data);
  uint64_t offset = 0;
  uint64_t byte_size = whole.byte_size / static_cast<uint64_t>(rows);
  if (whole.datatype == NRD_TYPE_BYTES) {
    uint64_t count = 0;
    NRD_RETURN_IF_ERROR(ElementCount(whole.rank, whole.shape, &count));
    count /= static_cast<uint64_t>(rows);
    uint64_t end = 0;
    if (!SkipBytesElements(data, whole.byte_size, count * before, &offset) ||
        !SkipBytesElements(data, whole.byte_size, count * (before + 1), &end)) {
      return Status::Internal("a state of model '" + config_.name + "' holds malformed elements");
    }
    byte_size = end - offset;
  } else {
    offset = byte_size * before;
  }
  row_out->data = const_cast<char*>(data + offset);
  row_out->byte_size = byte_size;
  row_out->slab = nullptr;
  row_out->shape[0] = 1;
  return Status();
}

// Keeps a row: one with a buffer of its own as it is, others as a copy.
Status SequenceTensors::KeepOne(size_t index, const Request& request, const nrd_tensor& row) const {
  nrd_tensor& kept = request.sequence->states[index];
  void* slab = row.slab;
  if (slab != nullptr) {
    BufferPool::Retain(slab);
  } else {
    NRD_RETURN_IF_ERROR(pool_.Allocate(row.byte_size, &slab, account_));
    std::memcpy(slab, row.data, row.byte_size);
  }
  void* const data = row.slab != nullptr ? row.data : slab;
  DropTensors(&kept, 1);
  kept = row;
  kept.flags = NRD_TENSOR_SELECTED;
  kept.slab = slab;
  kept.data = data;
  return Status();
}

}  // namespace nereid
