#include "core/request/decoupled_responses.h"

#include <utility>

#include "base/tensor.h"
#include "core/request/response_values.h"

namespace nereid {
namespace {

constexpr char kCancelled[] = "Request was cancelled while it was executing";

void DropOutputs(nrd_request& record) {
  DropTensors(record.outputs, record.output_count);
  for (uint32_t i = 0; i < record.output_count; ++i) {
    record.outputs[i].byte_size = 0;
  }
}

// Empties the outputs for the next response, on every return path.
class OutputsDropper {
 public:
  explicit OutputsDropper(Request& request) : request_(request) {}
  ~OutputsDropper() {
    DropOutputs(request_.record);
    ClearResponseValues(request_);
  }
  OutputsDropper(const OutputsDropper&) = delete;
  OutputsDropper& operator=(const OutputsDropper&) = delete;

 private:
  Request& request_;
};

// Fails the request, and returns the reason, if its responses are not wanted any more.
Status CheckSender(Request& request, uint32_t request_index) {
  const nrd_request& record = request.record;
  const bool cancelled = request.cancelled.load(std::memory_order_acquire);
  if (cancelled || (record.deadline_ns > 0 && record.deadline_ns <= MonotonicNowNs())) {
    const char* const why =
        cancelled ? kCancelled : "Request deadline expired while it was executing";
    if (record.status == NRD_OK) {
      SetFailure(request, cancelled ? NRD_CANCELLED : NRD_DEADLINE_EXCEEDED, why);
    }
    return Status(NRD_CANCELLED, why);
  }
  if (record.status != NRD_OK) {
    return Status::InvalidArgument("backend sent a response for request " +
                                   std::to_string(request_index) + ", which had failed already");
  }
  return Status();
}

}  // namespace

void Responder::Respond(Request& request, nrd_tensor* outputs, uint32_t count) const {
  if (const nrd_receiver* const receiver = request.receiver; receiver != nullptr) {
    receiver->respond(receiver->context, &request.record, outputs, count);
  } else {
    respond(context, request.record.tag, outputs, count);
  }
}

Status DecoupledResponses::Send(Request& request, uint32_t request_index,
                                const Responder* responder) const {
  nrd_request& record = request.record;
  const OutputsDropper dropper(request);
  NRD_RETURN_IF_ERROR(CheckSender(request, request_index));
  for (uint32_t i = 0; i < record.output_count; ++i) {
    if (!IsSelected(record.outputs[i])) {
      DropTensors(&record.outputs[i], 1);
      continue;
    }
    NRD_RETURN_IF_ERROR(record.outputs[i].data == nullptr
                            ? maker_.Missing(i)
                            : maker_.CheckBytes(i, record.outputs[i]));
  }
  if (request.sink != nullptr) {
    const bool wanted = request.sink->AwaitRoom();
    NRD_RETURN_IF_ERROR(CheckSender(request, request_index));
    if (!wanted) {
      SetFailure(request, NRD_CANCELLED, kCancelled);
      return Status(NRD_CANCELLED, kCancelled);
    }
    request.sink->Respond(record.outputs, record.output_count, TakeResponseValues(request));
  } else if (responder != nullptr) {
    responder->Respond(request, record.outputs, record.output_count);
  }
  return Status();
}

Status DecoupledResponses::SendError(Request& request, uint32_t request_index,
                                     const Responder* responder, int32_t code,
                                     std::string_view message) const {
  nrd_request& record = request.record;
  const OutputsDropper dropper(request);
  NRD_RETURN_IF_ERROR(CheckSender(request, request_index));
  SetFailure(request, code, message);
  if (request.sink != nullptr || responder == nullptr) {
    return Status(NRD_CANCELLED, "the request has failed with this error");
  }
  DropOutputs(record);
  responder->Respond(request, record.outputs, 0);
  record.status = NRD_OK;
  WriteError(&request.error, NRD_OK, "");
  return Status();
}

void DecoupledResponses::CheckLast(Request& request) const {
  const nrd_request& record = request.record;
  bool some = false;
  uint32_t missing = record.output_count;
  for (uint32_t i = record.output_count; i-- > 0;) {
    if (IsSelected(record.outputs[i])) {
      some |= record.outputs[i].data != nullptr;
      missing = record.outputs[i].data == nullptr ? i : missing;
    }
  }
  if (record.status == NRD_OK && some && missing < record.output_count) {
    if (const Status status = maker_.Missing(missing); !status.ok()) {
      SetFailure(request, status.code(), status.message());
    }
  }
}

}  // namespace nereid
