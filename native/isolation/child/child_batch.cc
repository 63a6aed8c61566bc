#include "isolation/child/child_batch.h"

#include <algorithm>
#include <string>

#include "base/guarded.h"
#include "base/tensor.h"

namespace nereid {
ChildBatch::ChildBatch(const SharedChannel& channel, uint32_t input_count, uint32_t output_count)
    : channel_(channel), inputs_(input_count), outputs_(output_count) {
  batch_.struct_size = sizeof(nrd_batch);
  batch_.input_count = input_count;
  batch_.output_count = output_count;
  batch_.inputs = inputs_.data();
  batch_.outputs = outputs_.data();
  made_.reserve(output_count + 1);
}

void ChildBatch::Begin() {
  std::fill(inputs_.begin(), inputs_.end(), nrd_tensor{});
  std::fill(outputs_.begin(), outputs_.end(), nrd_tensor{});
  made_.clear();
  used_bytes_ = 0;
}

bool ChildBatch::Add(const Record& record) {
  if (record.kind == RecordKind::kWanted && record.index < outputs_.size()) {
    outputs_[record.index].flags = NRD_TENSOR_SELECTED;
    return true;
  }
  if (record.kind != RecordKind::kInput || record.index >= inputs_.size()) {
    return false;
  }
  nrd_tensor& input = inputs_[record.index];
  input.data = channel_.inputs() + record.offset;
  input.byte_size = record.byte_size;
  input.datatype = record.datatype;
  input.rank = record.rank;
  input.flags = NRD_TENSOR_SELECTED;
  std::copy_n(record.shape, NRD_MAX_RANK, input.shape);
  return true;
}

Status ChildBatch::CheckWanted(uint32_t index) {
  if (index >= outputs_.size() || !IsSelected(outputs_[index]) || outputs_[index].data != nullptr) {
    return Status::Internal("the backend made output " + std::to_string(index) +
                            ", which nobody asked for, or twice");
  }
  return Status();
}

Status ChildBatch::Output(uint32_t index, const nrd_tensor& wanted, void** data_out) {
  NRD_RETURN_IF_ERROR(CheckWanted(index));
  const uint64_t free_bytes = channel_.area_bytes() - used_bytes_;
  if (wanted.byte_size > free_bytes || wanted.rank > NRD_MAX_RANK) {
    return Status(NRD_RESOURCE_EXHAUSTED,
                  "the outputs need more than " + std::to_string(channel_.area_bytes()) +
                      " bytes, which an isolated model shares; raise isolation_tensor_mb");
  }
  Record record{};
  record.kind = RecordKind::kOutput;
  record.index = index;
  record.datatype = wanted.datatype;
  record.rank = wanted.rank;
  record.offset = used_bytes_;
  record.byte_size = wanted.byte_size;
  std::copy_n(wanted.shape, wanted.rank, record.shape);
  made_.push_back(record);
  *data_out = channel_.outputs() + used_bytes_;
  outputs_[index] = wanted;
  outputs_[index].data = *data_out;
  outputs_[index].flags = NRD_TENSOR_SELECTED;
  used_bytes_ =
      std::min(SharedChannel::Aligned(used_bytes_ + wanted.byte_size), channel_.area_bytes());
  return Status();
}

Status ChildBatch::Forward(uint32_t index, uint32_t input_index) {
  NRD_RETURN_IF_ERROR(CheckWanted(index));
  Record record{};
  record.kind = RecordKind::kForward;
  record.index = index;
  record.number = input_index;
  made_.push_back(record);
  return Status();
}

void ChildBatch::Computed(int64_t start_ns, int64_t end_ns) {
  Record record{};
  record.kind = RecordKind::kComputed;
  record.number = start_ns;
  record.other = end_ns;
  std::erase_if(made_, [](const Record& made) { return made.kind == RecordKind::kComputed; });
  made_.push_back(record);
}

}  // namespace nereid

extern "C" {

int32_t nrd_batch_output(nrd_batch* batch, uint32_t index, int32_t datatype, uint32_t rank,
                         const int64_t* shape, uint64_t byte_size, void** data_out,
                         nrd_error* error_out) {
  return nereid::Guarded(error_out, [&] {
    nrd_tensor wanted{};
    wanted.datatype = datatype;
    wanted.rank = rank;
    wanted.byte_size = byte_size;
    std::copy_n(shape, std::min<uint32_t>(rank, NRD_MAX_RANK), wanted.shape);
    return nereid::ChildBatch::From(batch)->Output(index, wanted, data_out);
  });
}

int32_t nrd_batch_output_forward(nrd_batch* batch, uint32_t index, uint32_t input_index,
                                 nrd_error* error_out) {
  return nereid::Guarded(
      error_out, [&] { return nereid::ChildBatch::From(batch)->Forward(index, input_index); });
}

void nrd_batch_computed(nrd_batch* batch, int64_t start_ns, int64_t end_ns) {
  nereid::ChildBatch::From(batch)->Computed(start_ns, end_ns);
}

}  // extern "C"
