// Clients of a simulated model: their requests, cancels and answers, and the loading and warming up
// of the model.
#include <algorithm>

#include "test/simulation/simulated_model.h"

namespace nereid::simulation {

void SimulatedModel::Arrive() {
  if (calm_ || closing_) {
    return;
  }
  world_.In(world_.chance.Spread(1, arrival_gap_ns_), Happening::kArrival, this, 0, generation_);
  SimulatedRequest* const request = NewRequest();
  if (config_.sequences && !config_.sequences->iterative) {
    request->sequence = ChooseSequence(request);
    if (request->sequence == nullptr) {
      request->in_flight = false;
      unused_.push_back(request);
      return;
    }
  }
  if (world_.chance.OneIn(10)) {
    world_.In(world_.chance.Spread(1, execution_ns_ * 10), Happening::kCancel, this,
              reinterpret_cast<uint64_t>(request), request->generation);
  }
  Submit(request);
}

SimulatedRequest* SimulatedModel::NewRequest() {
  if (unused_.empty()) {
    memory_.push_back(std::make_unique<SimulatedRequest>());
    unused_.push_back(memory_.back().get());
  }
  SimulatedRequest* const made = unused_.back();
  unused_.pop_back();
  Chance& chance = world_.chance;
  ++made->generation;
  made->in_flight = true;
  made->executing = false;
  made->sequence = nullptr;
  made->earlier = made->later = nullptr;
  made->input = nrd_tensor{};
  made->input.flags = NRD_TENSOR_SELECTED;
  made->input.rank = 2;
  made->input.shape[1] = config_.uniform || !chance.OneIn(4) ? 4 : 5;
  Request& request = made->request;
  request.rows = 1;
  if (config_.batched() && !config_.sequences) {
    request.rows =
        1 + static_cast<int64_t>(chance.Below(static_cast<uint64_t>(config_.max_batch_size)));
    request.rows = chance.OneIn(2) ? 1 : request.rows;
  }
  made->input.shape[0] = request.rows;
  request.submit_ns = SimulatedWorld::Now();
  request.state = RequestState::kIdle;
  request.cancelled = chance.OneIn(500);
  request.sequence = nullptr;
  request.continuation = nullptr;
  nrd_request& record = request.record;
  record = nrd_request{};
  record.tag = reinterpret_cast<uint64_t>(made);
  record.inputs = &made->input;
  record.input_count = 1;
  record.error = &request.error;
  record.flags = chance.OneIn(4) ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
  record.priority = static_cast<uint32_t>(chance.Below(5));
  record.timeout_ns =
      chance.OneIn(8) ? static_cast<uint64_t>(chance.Spread(1'000, execution_ns_ * 100)) : 0;
  record.deadline_ns =
      chance.OneIn(8) ? SimulatedWorld::Now() - 1'000 + chance.Spread(1, execution_ns_ * 100) : 0;
  return made;
}

// Clients continue an open sequence or begin another, without waiting for answers.
ClientSequence* SimulatedModel::ChooseSequence(SimulatedRequest* request) {
  Chance& chance = world_.chance;
  nrd_request& record = request->request.record;
  const size_t wanted = 2 * config_.sequences->slots * config_.instance_count + 1;
  ClientSequence* sequence = nullptr;
  if (open_.size() < wanted && !finishing_ && chance.OneIn(4)) {
    auto made = std::make_unique<ClientSequence>();
    made->id = next_sequence_++;
    sequence = made.get();
    sequences_.emplace(made->id, std::move(made));
    open_.push_back(sequence);
    record.flags |= NRD_REQUEST_SEQUENCE_START;
  } else if (!open_.empty()) {
    sequence = open_[chance.Below(open_.size())];
    record.flags |= chance.OneIn(50) ? uint32_t{NRD_REQUEST_SEQUENCE_START} : 0U;
  } else {
    return nullptr;
  }
  if (chance.OneIn(8)) {
    record.flags |= NRD_REQUEST_SEQUENCE_END;
  }
  if (chance.OneIn(12) || (record.flags & NRD_REQUEST_SEQUENCE_END) != 0) {
    std::erase(open_, sequence);  // the sequence ends, or its client abandons it
  }
  record.sequence_id = sequence->id;
  return sequence;
}

void SimulatedModel::Submit(SimulatedRequest* request) {
  const bool was_known =
      request->sequence != nullptr && dispatcher_->KnowsSequence(request->sequence->id, {});
  Instance* borrowed = nullptr;
  const Status status = dispatcher_->Enter(request->request, &borrowed);
  if (!status.ok()) {
    Refused(request, status, was_known);
    return;
  }
  Accepted(request, was_known);
  ++unanswered_;
  Wait(request);
  if (borrowed == nullptr) {
    return;
  }
  Seat& seat = seats_[borrowed->index()];
  Require(seat.phase == Phase::kWaiting, "an instance is lent that has work of its own");
  seat.phase = Phase::kBorrowed;
  if (!config_.sequences) {
    borrowed->batch.assign(1, &request->request);
  }
  Require(borrowed->batch.size() == 1 && borrowed->batch.front() == &request->request,
          "a thread that borrows an instance executes its own request");
  Begin(borrowed->index(), Happening::kInlineEnd);
}

void SimulatedModel::Refused(SimulatedRequest* request, const Status& status, bool was_known) {
  const bool starts = (request->request.record.flags & NRD_REQUEST_SEQUENCE_START) != 0;
  switch (status.code()) {
    case NRD_CANCELLED:
      Require(request->request.cancelled, "a request is cancelled that nobody gave up");
      break;
    case NRD_DEADLINE_EXCEEDED:
      Require(config_.objective || request->request.record.deadline_ns <= SimulatedWorld::Now(),
              "a deadline expires before its time");
      break;
    case NRD_INVALID_ARGUMENT:
      Require(request->sequence != nullptr && !starts && !was_known,
              "a request of a known sequence is refused");
      CheckUnknown(*request->sequence);
      break;
    default:
      Require(status.code() == NRD_UNAVAILABLE, "a request is refused without a reason");
      CheckFull();
      break;
  }
  ++answered_;
  request->in_flight = false;
  unused_.push_back(request);
}

void SimulatedModel::Accepted(SimulatedRequest* request, bool was_known) {
  ClientSequence* const sequence = request->sequence;
  if (sequence == nullptr) {
    return;
  }
  const uint32_t flags = request->request.record.flags;
  Require(was_known || (flags & NRD_REQUEST_SEQUENCE_START) != 0,
          "a sequence goes on that nobody began");
  if (!was_known) {
    // Earlier requests belong to a previous sequence of the same id, which ends by itself.
    sequence->instance = -1;
    sequence->row = -1;
  }
  sequence->begun = true;
  sequence->ended = (flags & NRD_REQUEST_SEQUENCE_END) != 0;
  sequence->active_ns = SimulatedWorld::Now();
  request->number = sequence->sent++;
  sequence->outstanding.push_back(request->number);
}

void SimulatedModel::Cancel(SimulatedRequest* request) {
  RemovedRequests removed;
  const RequestState state = dispatcher_->Withdraw(request->request, &removed);
  Require(state != RequestState::kQueued || removed.culprits.head == &request->request,
          "who gives up a request that waits gets its answer");
  Require(state == RequestState::kQueued || removed.empty(),
          "a request is taken out that does not wait");
  AnswerRemoved(removed);
}

void SimulatedModel::Answer(SimulatedRequest* request) {
  Require(request->in_flight, "a request is answered twice");
  Require(request->request.state == RequestState::kDone, "an answer is not marked as one");
  Require(request->earlier == nullptr && request->later == nullptr && oldest_ != request,
          "a request is answered while it waits");
  if (request->executing && config_.preserve_ordering) {
    Require(request->batch >= last_answered_batch_, "answers come in another order than requests");
    last_answered_batch_ = request->batch;
  }
  ++answered_;
  --unanswered_;
  request->in_flight = false;
  unused_.push_back(request);
}

// ---- Warm-ups ----

void SimulatedModel::BeginWarmUp() {
  warm_up_.record = nrd_request{};
  warm_up_.submit_ns = SimulatedWorld::Now();
  warm_up_.cancelled = false;
  Require(dispatcher_->BeginWarmUp(warm_up_).ok(), "a model without requests can be warmed up");
  warming_up_ = true;
  next_to_warm_up_ = 0;
  world_.In(1, Happening::kWarmUp, this, 0, generation_);
}

// The loader waits for one instance after another, until the model is closed.
void SimulatedModel::WarmUpNext() {
  Require(dispatcher_->IsWarmedUp(), "an instance's turn to warm up ends before it did");
  if (next_to_warm_up_ < seats_.size() &&
      dispatcher_->TryWarmUp(*seats_[next_to_warm_up_].instance, warm_up_)) {
    ++next_to_warm_up_;
    return;
  }
  warming_up_ = false;
  dispatcher_->EndWarmUp();
}

void SimulatedModel::ExecuteWarmUp(uint64_t index) {
  Seat& seat = seats_[index];
  Require(warming_up_ && index + 1 == next_to_warm_up_, "an instance warms up out of turn");
  seat.warms_up = true;
  seat.phase = Phase::kLimited;
  if (limits_->MayExecute(static_cast<uint32_t>(index), true)) {
    seat.phase = Phase::kExecuting;
    world_.In(world_.chance.Spread(100, execution_ns_), Happening::kExecuted, this, index,
              generation_);
  }
}

void SimulatedModel::EndWarmUp(uint64_t index) {
  Seat& seat = seats_[index];
  seat.warms_up = false;
  seat.outcome.warmed_up = true;
  Come(index);
}

}  // namespace nereid::simulation
