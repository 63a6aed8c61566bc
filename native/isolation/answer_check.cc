#include "isolation/answer_check.h"

#include "base/tensor.h"

namespace nereid {

void AnswerCheck::Begin(const nrd_batch& batch, uint64_t area_bytes, uint64_t message_bytes) {
  wanted_.resize(batch.output_count);
  for (uint32_t i = 0; i < batch.output_count; ++i) {
    wanted_[i] = IsSelected(batch.outputs[i]);
  }
  input_count_ = batch.input_count;
  area_bytes_ = area_bytes;
  message_bytes_ = message_bytes;
  computed_ = false;
}

const char* AnswerCheck::CheckIndex(uint32_t index) {
  if (index >= wanted_.size() || !wanted_[index]) {
    return "it answered with an output that nobody asked for, or twice with the same";
  }
  wanted_[index] = false;
  return nullptr;
}

const char* AnswerCheck::Check(const Record& record) {
  switch (record.kind) {
    case RecordKind::kOutput:
      if (record.rank > NRD_MAX_RANK) {
        return "it answered with an output of too many dimensions";
      }
      if (record.offset > area_bytes_ || record.byte_size > area_bytes_ - record.offset) {
        return "it answered with an output outside of its memory";
      }
      return CheckIndex(record.index);
    case RecordKind::kForward:
      if (record.number < 0 || record.number >= int64_t{input_count_}) {
        return "it answered with an input that there is not";
      }
      return CheckIndex(record.index);
    case RecordKind::kComputed:
      if (computed_) {
        return "it said twice when it computed";
      }
      computed_ = true;
      return nullptr;
    case RecordKind::kEnd:
      return record.byte_size > message_bytes_ ? "its message is longer than its memory" : nullptr;
    default:
      return "it sent a record of no known kind";
  }
}

}  // namespace nereid
