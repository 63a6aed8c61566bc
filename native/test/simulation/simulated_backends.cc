// Backends of a simulated ensemble's steps: when they answer, and with which values.
#include "core/request/store_answer.h"
#include "test/simulation/simulated_ensemble.h"

namespace nereid::simulation {

int32_t SimulatedEnsemble::Submit(uint32_t step, Request& request) {
  Chance& chance = world_.chance;
  if (chance.OneIn(60)) {
    request.state = RequestState::kDone;
    SetFailure(request, NRD_UNAVAILABLE, "Exceeds maximum queue size");
    return NRD_UNAVAILABLE;
  }
  const bool may_run_inline = (request.record.flags & NRD_REQUEST_NO_INLINE) == 0;
  if (may_run_inline && !steps_[step].decoupled && chance.OneIn(3)) {
    Execute(step, request, 0);
    Keep(request);
    request.state = RequestState::kDone;
    return request.record.status;
  }
  if (unused_parts_.empty()) {
    unused_parts_.push_back(&parts_.emplace_back());
  }
  Part& part = *unused_parts_.back();
  unused_parts_.pop_back();
  part = {.request = &request, .step = step, .number = ++last_number_};
  if (steps_[step].decoupled) {
    const auto input = *static_cast<const int64_t*>(request.record.inputs[0].data);
    part.responses = ResponsesFor(input);
    part.has_last = part.responses > 0 && chance.OneIn(2);
    part.responses -= part.has_last ? 1 : 0;
  }
  request.runner_state = &part;
  request.record.status = NRD_PENDING;
  request.state = RequestState::kQueued;
  ++CallOf(request).parts;
  GoOnSoon(part);
  return NRD_PENDING;
}

void SimulatedEnsemble::GoOnSoon(Part& part) {
  world_.In(world_.chance.Spread(100, execution_ns_), Happening::kStep, this,
            reinterpret_cast<uint64_t>(&part), part.number);
}

int32_t SimulatedEnsemble::CancelPart(Request& request) {
  request.cancelled = true;
  if (request.state != RequestState::kQueued) {
    return NRD_FAILED_PRECONDITION;
  }
  SetFailure(request, NRD_CANCELLED, "Request was cancelled while it waited in the queue");
  AnswerPart(*static_cast<Part*>(request.runner_state));
  return NRD_OK;
}

// A part begins; a decoupled one then sends its responses; at last it answers.
void SimulatedEnsemble::GoOn(Part& part) {
  Request& request = *part.request;
  if (request.state == RequestState::kQueued) {
    request.state = RequestState::kExecuting;
    request.record.status = NRD_OK;
    GoOnSoon(part);
    return;
  }
  if (request.cancelled && world_.chance.OneIn(2)) {
    SetFailure(request, NRD_CANCELLED, "Request was cancelled while it was executing");
    AnswerPart(part);
  } else if (part.sent < part.responses) {
    SendNext(part);
  } else {
    if (part.has_last || !steps_[part.step].decoupled) {
      Execute(part.step, request, part.sent);
    }
    AnswerPart(part);
  }
}

void SimulatedEnsemble::SendNext(Part& part) {
  Request& request = *part.request;
  if (!request.sink->HasRoom()) {
    stalled_.push_back(&part);
    return;
  }
  if (!request.sink->AwaitRoom()) {
    SetFailure(request, NRD_CANCELLED, "Request was cancelled while it was executing");
    AnswerPart(part);
    return;
  }
  Execute(part.step, request, part.sent);
  if (request.record.status != NRD_OK) {
    AnswerPart(part);
    return;
  }
  ++part.sent;
  SimulatedCall& call = CallOf(request);
  ++call.sent;
  request.sink->Respond(request.record.outputs, 1, nullptr);
  DropTensors(request.record.outputs, 1);
  Require(
      decoupled_ > 1 || most_inflight_ == 0 || call.sent - call.received.size() <= most_inflight_,
      "more responses are on their way through an ensemble than may be");
  GoOnSoon(part);
}

void SimulatedEnsemble::AnswerPart(Part& part) {
  Request& request = *part.request;
  Keep(request);
  --CallOf(request).parts;
  request.runner_state = nullptr;
  part.request = nullptr;
  unused_parts_.push_back(&part);
  RequestList answered;
  answered.Append(&request);
  (void)runtime_->completion().Deliver(answered);
}

void SimulatedEnsemble::Keep(const Request& request) {
  if (request.cacheable) {
    StoreAnswer(*runtime_->cache(), stats_, request);
  }
}

// The backend computes, or fails.
void SimulatedEnsemble::Execute(uint32_t step, Request& request, uint32_t response) {
  ++executed_;
  nrd_request& record = request.record;
  record.executed_batch_size = 1;
  if (world_.chance.OneIn(60)) {
    SetFailure(request, NRD_INTERNAL, "the backend fails");
    return;
  }
  std::vector<int64_t> values;
  for (uint32_t i = 0; i < record.input_count; ++i) {
    values.push_back(*static_cast<const int64_t*>(record.inputs[i].data));
  }
  void* buffer = nullptr;
  Require(runtime_->pool().Allocate(sizeof(int64_t), &buffer).ok(), "there is memory");
  *static_cast<int64_t*>(buffer) = Compute(step, values, response);
  AsOneNumber(&record.outputs[0], buffer);
  record.outputs[0].slab = buffer;
  record.status = NRD_OK;
}

}  // namespace nereid::simulation
