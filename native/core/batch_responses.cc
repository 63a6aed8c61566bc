// The part of an execution that only decoupled models have: many responses to one request.
#include "base/tensor.h"
#include "core/batch_execution.h"

namespace nereid {
namespace {

// Empties the outputs whichever way a response goes, for the next one.
class OutputsDropper {
 public:
  explicit OutputsDropper(nrd_request& record) : record_(record) {}
  ~OutputsDropper() {
    DropTensors(record_.outputs, record_.output_count);
    for (uint32_t i = 0; i < record_.output_count; ++i) {
      record_.outputs[i].byte_size = 0;
    }
  }
  OutputsDropper(const OutputsDropper&) = delete;
  OutputsDropper& operator=(const OutputsDropper&) = delete;

 private:
  nrd_request& record_;
};

}  // namespace

Status BatchExecution::Respond(uint32_t request_index) {
  if (!config_.decoupled) {
    return Status(NRD_FAILED_PRECONDITION,
                  "model '" + config_.name + "' is not decoupled: its requests have one response");
  }
  if (request_index >= requests_.size()) {
    return Status::InvalidArgument("backend named request " + std::to_string(request_index) +
                                   ", the batch has " + std::to_string(requests_.size()));
  }
  nrd_request& record = requests_[request_index]->record;
  const OutputsDropper dropper(record);
  NRD_RETURN_IF_ERROR(CheckSender(request_index));
  for (uint32_t i = 0; i < record.output_count; ++i) {
    if (!IsSelected(record.outputs[i])) {
      DropTensors(&record.outputs[i], 1);
      continue;
    }
    if (record.outputs[i].data == nullptr) {
      return MissingOutput(i);
    }
    NRD_RETURN_IF_ERROR(CheckBytesOutput(i, record.outputs[i]));
  }
  if (responder_ != nullptr) {
    responder_->respond(responder_->context, record.tag, record.outputs, record.output_count);
  }
  return Status();
}

// Whether somebody still waits for responses. That nobody does fails the request too: one that
// lacks a response must not look complete.
Status BatchExecution::CheckSender(uint32_t request_index) {
  Request& request = *requests_[request_index];
  const nrd_request& record = request.record;
  const bool cancelled = request.cancelled.load(std::memory_order_acquire);
  if (cancelled || (record.deadline_ns > 0 && record.deadline_ns <= MonotonicNowNs())) {
    const char* const why = cancelled ? "Request was cancelled while it was executing"
                                      : "Request deadline expired while it was executing";
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

// The last response may be missing, but not a part of it.
void BatchExecution::CheckLastResponses() {
  for (Request* request : requests_) {
    const nrd_request& record = request->record;
    bool some = false;
    uint32_t missing = record.output_count;
    for (uint32_t i = record.output_count; i-- > 0;) {
      if (IsSelected(record.outputs[i])) {
        some |= record.outputs[i].data != nullptr;
        missing = record.outputs[i].data == nullptr ? i : missing;
      }
    }
    if (record.status == NRD_OK && some && missing < record.output_count) {
      SetFailure(*request, NRD_INTERNAL, MissingOutput(missing).message());
    }
  }
}

}  // namespace nereid
