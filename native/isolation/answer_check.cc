#include "isolation/answer_check.h"

#include "base/tensor.h"

namespace nereid {

void AnswerCheck::Begin(const nrd_batch& batch, uint64_t area_bytes, uint64_t message_bytes) {
  wanted_.resize(batch.output_count);
  for (uint32_t i = 0; i < batch.output_count; ++i) {
    wanted_[i] = IsSelected(batch.outputs[i]);
  }
  request_count_ = batch.request_count;
  input_count_ = batch.input_count;
  value_bytes_.assign(batch.request_count, 0);
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

const char* AnswerCheck::CheckPlace(const Record& record) const {
  return record.offset > area_bytes_ || record.byte_size > area_bytes_ - record.offset
             ? "it answered with what lies outside of its memory"
             : nullptr;
}

const char* AnswerCheck::CheckOutput(const Record& record) {
  if (record.rank > NRD_MAX_RANK) {
    return "it answered with an output of too many dimensions";
  }
  if (const char* const wrong = CheckPlace(record); wrong != nullptr) {
    return wrong;
  }
  if (record.request == 0) {
    return CheckIndex(record.index);
  }
  return record.request > request_count_ || record.index >= wanted_.size()
             ? "it answered with an output or for a request that there is not"
             : nullptr;
}

const char* AnswerCheck::CheckOfRequest(const Record& record) {
  if (record.request == 0 || record.request > request_count_) {
    return "it answered a request that there is not";
  }
  if (record.kind == RecordKind::kRespond || record.kind == RecordKind::kRespondError) {
    value_bytes_[record.request - 1] = 0;
  }
  if (record.kind == RecordKind::kRespond || record.kind == RecordKind::kReschedule) {
    return nullptr;
  }
  if (record.byte_size > kMaxTextBytes) {
    return "it answered with a text of more than a megabyte";
  }
  if (record.kind == RecordKind::kValue &&
      (value_bytes_[record.request - 1] += record.byte_size) > kMaxValueBytes) {
    return "it answered with more values than any response has";
  }
  return CheckPlace(record);
}

const char* AnswerCheck::Check(const Record& record) {
  switch (record.kind) {
    case RecordKind::kOutput:
      return CheckOutput(record);
    case RecordKind::kValue:
    case RecordKind::kRespond:
    case RecordKind::kRespondError:
    case RecordKind::kFail:
    case RecordKind::kReschedule:
      return CheckOfRequest(record);
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
