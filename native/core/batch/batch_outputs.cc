#include "core/batch/batch_outputs.h"

#include "core/batch/batch_inputs.h"
#include "core/batch/scattered_outputs.h"

namespace nereid {

BatchOutputs::BatchOutputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account)
    : config_(config),
      maker_(config, pool, account),
      responses_(maker_),
      whole_(config.outputs.size()) {}

// Counts the bytes that `count` rows of an output take, beginning at `byte_offset`.
Status BatchOutputs::BytesOfRows(uint32_t index, uint64_t byte_offset, int64_t count, int64_t rows,
                                 uint64_t* bytes_out) const {
  const nrd_tensor& whole = whole_[index];
  if (whole.datatype != NRD_TYPE_BYTES) {
    *bytes_out = whole.byte_size / static_cast<uint64_t>(rows) * static_cast<uint64_t>(count);
    return Status();
  }
  uint64_t elements = 0;
  NRD_RETURN_IF_ERROR(ElementCount(whole.rank, whole.shape, &elements));
  elements = elements / static_cast<uint64_t>(rows) * static_cast<uint64_t>(count);
  if (!SkipBytesElements(static_cast<const char*>(whole.data) + byte_offset,
                         whole.byte_size - byte_offset, elements, bytes_out)) {
    return Status::Internal(maker_.Name(index) + " holds malformed elements");
  }
  return Status();
}

// Points one request's output at its rows of the batch's. `end` is where the rows of the request
// before it end; rows between them are empty, or of a request that was answered before.
Status BatchOutputs::Slice(Request& request, uint32_t index, int64_t rows, End* end) {
  const nrd_tensor& whole = whole_[index];
  nrd_tensor& part = request.record.outputs[index];
  if (config_.scatters && config_.outputs[index].scattered_by) [[unlikely]] {
    return SliceByShape(config_, whole, request, index, &end->byte_offset);
  }
  uint64_t byte_size = whole.byte_size;
  if (request.rows != rows) {
    NRD_RETURN_IF_ERROR(maker_.CheckRows(index, whole, rows));
    uint64_t between = 0;
    const int64_t first_row = request.record.first_row;
    NRD_RETURN_IF_ERROR(BytesOfRows(index, end->byte_offset, first_row - end->row, rows, &between));
    end->byte_offset += between;
    end->row = first_row + request.rows;
    NRD_RETURN_IF_ERROR(BytesOfRows(index, end->byte_offset, request.rows, rows, &byte_size));
  }
  const uint32_t flags = part.flags;
  if (IsSelected(part) && part.data == nullptr && !IsOnDevice(part)) {
    part = whole;
    part.flags = flags;
    part.data = static_cast<char*>(whole.data) + end->byte_offset;
    part.byte_size = byte_size;
    if (config_.batched() && request.rows != rows) {
      part.shape[0] = request.rows;
    }
    BufferPool::Retain(part.slab);
  }
  end->byte_offset += byte_size;
  return Status();
}

void BatchOutputs::HandOut(std::span<Request* const> requests, int64_t rows) {
  for (uint32_t i = 0; i < config_.visible_outputs; ++i) {
    if (!IsSelected(whole_[i])) {
      continue;
    }
    Status status = maker_.CheckBytes(i, whole_[i]);
    End end;
    for (Request* request : requests) {
      if (status.ok() && whole_[i].data != nullptr) {
        status = Slice(*request, i, rows, &end);
      }
      if (request->record.status != NRD_OK || request->rescheduled ||
          !IsSelected(request->record.outputs[i])) {
        continue;
      }
      const nrd_tensor& part = request->record.outputs[i];
      Status own = status.Clone();
      if (own.ok() && part.data == nullptr) {
        if (config_.decoupled) {
          continue;  // DecoupledResponses::CheckLast decides
        }
        own = maker_.Missing(i);
      } else if (own.ok() && part.slab != whole_[i].slab) {  // the backend made it for this request
                                                             // alone
        own = maker_.CheckBytes(i, part);
      }
      if (!own.ok()) {
        SetFailure(*request, own.code(), own.message());
      }
    }
  }
  if (config_.decoupled) {
    for (Request* request : requests) {
      if (!request->rescheduled) {
        responses_.CheckLast(*request);
      }
    }
  }
}

void BatchOutputs::CheckOwn(Request& request) const {
  const nrd_request& record = request.record;
  for (uint32_t i = 0; i < record.output_count && record.status == NRD_OK; ++i) {
    const nrd_tensor& output = record.outputs[i];
    if (!IsSelected(output) || (output.data == nullptr && config_.decoupled)) {
      continue;
    }
    const Status status = output.data == nullptr ? maker_.Missing(i) : maker_.CheckBytes(i, output);
    if (!status.ok()) {
      SetFailure(request, status.code(), status.message());
    }
  }
  if (config_.decoupled) {
    responses_.CheckLast(request);
  }
}

}  // namespace nereid
