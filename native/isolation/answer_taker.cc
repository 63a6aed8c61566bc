#include "isolation/answer_taker.h"

#include <cstring>
#include <string>

#include "isolation/request_message.h"

namespace nereid {
namespace {

// Returns a copy, which the child cannot change.
std::string TextOf(const Record& record, const SharedChannel& channel) {
  return {reinterpret_cast<const char*>(channel.outputs() + record.offset), record.byte_size};
}

}  // namespace

Status AnswerTaker::Take(const Record& record, const SharedChannel& channel, nrd_batch* batch) {
  if (record.kind == RecordKind::kComputed) {
    nrd_batch_computed(batch, record.number, record.other);
    return Status();
  }
  if (record.kind == RecordKind::kForward) {
    const int32_t code = nrd_batch_output_forward(batch, record.index,
                                                  static_cast<uint32_t>(record.number), &error_);
    return StatusFromCallback(code, error_, "forwarding an output");
  }
  if (record.request == 0) {
    return TakeOutput(record, channel, batch);
  }
  TakeOfRequest(record, channel, batch);
  return Status();
}

Status AnswerTaker::TakeOutput(const Record& record, const SharedChannel& channel,
                               nrd_batch* batch) {
  void* data = nullptr;
  const int32_t code =
      record.request == 0
          ? nrd_batch_output(batch, record.index, record.datatype, record.rank, record.shape,
                             record.byte_size, &data, &error_)
          : nrd_batch_request_output(batch, record.request - 1, record.index, record.datatype,
                                     record.rank, record.shape, record.byte_size, &data, &error_);
  if (code == NRD_OK && record.byte_size > 0) {
    std::memcpy(data, channel.outputs() + record.offset, record.byte_size);
  }
  return StatusFromCallback(code, error_, "allocating an output");
}

int32_t AnswerTaker::TakeValue(const Record& record, const SharedChannel& channel,
                               nrd_batch* batch) {
  const std::string body = TextOf(record, channel);
  MessageReader reader(body);
  const nrd_value value = ReadValue(&reader);
  if (!reader.ok() || value.kind < NRD_VALUE_STRING || value.kind > NRD_VALUE_DOUBLE) {
    WriteError(&error_, NRD_INTERNAL, "a value of the response is none");
    return NRD_INTERNAL;
  }
  return nrd_batch_request_value(batch, record.request - 1, &value, &error_);
}

void AnswerTaker::TakeOfRequest(const Record& record, const SharedChannel& channel,
                                nrd_batch* batch) {
  const uint32_t index = record.request - 1;
  Status taken;
  switch (record.kind) {
    case RecordKind::kOutput:
      taken = TakeOutput(record, channel, batch);
      break;
    case RecordKind::kValue:
      taken = StatusFromCallback(TakeValue(record, channel, batch), error_, "taking a value");
      break;
    case RecordKind::kRespond:
      taken = StatusFromCallback(nrd_batch_request_respond(batch, index, &error_), error_,
                                 "sending a response");
      break;
    case RecordKind::kRespondError: {
      const std::string message = TextOf(record, channel);
      taken = StatusFromCallback(
          nrd_batch_request_respond_error(batch, index, record.datatype, message.data(),
                                          message.size(), &error_),
          error_, "sending an error");
      break;
    }
    case RecordKind::kReschedule:
      taken = StatusFromCallback(nrd_batch_request_reschedule(batch, index, &error_), error_,
                                 "giving a request back");
      break;
    default:
      taken = Status(record.datatype, TextOf(record, channel));
      break;
  }
  if (taken.code() == NRD_CANCELLED && record.kind != RecordKind::kFail) {
    channel.control()->Cancel(index);  // as the child was told
  } else if (!taken.ok()) {
    nrd_batch_request_fail(batch, index, taken.code(), taken.message().data(),
                           taken.message().size());
  }
}

}  // namespace nereid
