#include "isolation/batch_records.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/tensor.h"
#include "isolation/request_message.h"

namespace nereid {
namespace {

// The requests' inputs are not part of the batch's inputs.
constexpr uint64_t kNowhere = UINT64_MAX;

}  // namespace

Status BatchRecords::Write(const nrd_batch& batch, bool with_requests,
                           const SharedChannel& channel) {
  channel_ = &channel;
  records_.clear();
  used_bytes_ = 0;
  NRD_RETURN_IF_ERROR(AddTensors(0, batch.inputs, batch.inputs == nullptr ? 0 : batch.input_count,
                                 batch.outputs, batch.output_count));
  if (with_requests) {
    FindParts(batch);
  }
  for (uint32_t i = 0; with_requests && i < batch.request_count; ++i) {
    NRD_RETURN_IF_ERROR(AddRequest(i + 1, *batch.requests[i]));
  }
  Record run{};
  run.kind = RecordKind::kRun;
  run.number = batch.batch_size;
  records_.push_back(run);
  return Status();
}

// Finds the requests' parts in the gathered inputs, so that they are not copied again.
void BatchRecords::FindParts(const nrd_batch& batch) {
  parts_.assign(batch.input_count, kNowhere);
  for (const Record& record : records_) {
    uint64_t byte_size = 0;
    for (uint32_t i = 0; record.kind == RecordKind::kInput && i < batch.request_count; ++i) {
      const nrd_request& request = *batch.requests[i];
      const bool has =
          record.index < request.input_count && IsSelected(request.inputs[record.index]);
      byte_size += has ? request.inputs[record.index].byte_size : 0;
    }
    if (record.kind == RecordKind::kInput && byte_size == record.byte_size) {
      parts_[record.index] = record.offset;
    }
  }
}

Status BatchRecords::AddRequest(uint32_t request, const nrd_request& record) {
  MessageWriter writer;
  WriteRequest(record, &writer);
  Record told{};
  told.kind = RecordKind::kRequest;
  told.request = request;
  NRD_RETURN_IF_ERROR(AddBytes(writer.bytes().data(), writer.bytes().size(), told));
  return AddTensors(request, record.inputs, record.input_count, record.outputs,
                    record.output_count);
}

Status BatchRecords::AddTensors(uint32_t request, const nrd_tensor* inputs, uint32_t input_count,
                                const nrd_tensor* outputs, uint32_t output_count) {
  for (uint32_t i = 0; i < input_count; ++i) {
    const nrd_tensor& input = inputs[i];
    if (!IsSelected(input)) {
      continue;
    }
    Record record{};
    record.kind = RecordKind::kInput;
    record.index = i;
    record.request = request;
    record.datatype = input.datatype;
    record.rank = input.rank;
    std::copy_n(input.shape, NRD_MAX_RANK, record.shape);
    if (request != 0 && parts_[i] != kNowhere) {
      record.offset = parts_[i];
      record.byte_size = input.byte_size;
      parts_[i] += input.byte_size;
      records_.push_back(record);
    } else {
      NRD_RETURN_IF_ERROR(AddBytes(input.data, input.byte_size, record));
    }
  }
  for (uint32_t i = 0; i < output_count; ++i) {
    if (IsSelected(outputs[i])) {
      Record record{};
      record.kind = RecordKind::kWanted;
      record.index = i;
      record.request = request;
      records_.push_back(record);
    }
  }
  return Status();
}

Status BatchRecords::AddBytes(const void* data, uint64_t byte_size, Record record) {
  const uint64_t area_bytes = channel_->area_bytes();
  if (used_bytes_ > area_bytes || byte_size > area_bytes - used_bytes_) {
    return Status(NRD_RESOURCE_EXHAUSTED,
                  "the inputs have more than the " + std::to_string(area_bytes) +
                      " bytes that an isolated model can share with its process; raise "
                      "isolation_tensor_mb");
  }
  if (byte_size > 0) {
    std::memcpy(channel_->inputs() + used_bytes_, data, byte_size);
  }
  record.offset = used_bytes_;
  record.byte_size = byte_size;
  records_.push_back(record);
  used_bytes_ = SharedChannel::Aligned(used_bytes_ + byte_size);
  return Status();
}

}  // namespace nereid
