// The rules of scheduling, checked from outside: requests sent against answers received.
#include <algorithm>

#include "core/request/request_check.h"
#include "core/sequence/sequence.h"
#include "test/simulation/simulated_model.h"

namespace nereid::simulation {
namespace {

// Time from the moment at which something is due until a thread has looked.
constexpr int64_t kSlackNs = 1;

}  // namespace

// ---- What waits ----

void SimulatedModel::Wait(SimulatedRequest* request) {
  request->executing = false;
  request->earlier = newest_;
  request->later = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->later) = request;
  newest_ = request;
  ++waiting_;
  waiting_rows_ += request->request.rows;
}

void SimulatedModel::WaitNoMore(SimulatedRequest* request) {
  Require(request->earlier != nullptr || request->later != nullptr || oldest_ == request,
          "a request is taken that does not wait");
  (request->earlier == nullptr ? oldest_ : request->earlier->later) = request->later;
  (request->later == nullptr ? newest_ : request->later->earlier) = request->earlier;
  request->earlier = request->later = nullptr;
  --waiting_;
  waiting_rows_ -= request->request.rows;
}

// ---- What runs ----

void SimulatedModel::CheckBatch(uint64_t index) {
  const std::vector<Request*>& batch = seats_[index].instance->batch;
  Require(!warming_up_, "a request is executed while the model warms up");
  const BatchPolicy& policy = config_.batch_policy;
  int64_t rows = 0;
  const SimulatedRequest* expected = oldest_;
  const bool in_order = !config_.sequences && !config_.objective &&
                        config_.queue_policies.size() == 1 &&
                        !config_.queue_policies.front().delay_on_timeout;
  for (size_t i = 0; i < batch.size(); ++i) {
    rows += batch[i]->rows;
    Require(batch[i]->state == RequestState::kExecuting, "what executes is marked as executing");
    Require(config_.uniform || SameShapes(config_, *batch.front(), *batch[i]),
            "requests of a batch have one shape");
    if (in_order) {
      Require(expected != nullptr && &expected->request == batch[i],
              "requests are taken in the order in which they came");
      expected = expected->later;
    }
    for (size_t j = 0; j < i; ++j) {
      Require(batch[i] != batch[j], "a request is in a batch once");
      Require(!config_.sequences || batch[i]->sequence != batch[j]->sequence,
              "a batch has one request of a sequence");
    }
  }
  if (config_.objective) {
    CheckDue(*batch.back());
  }
  Require(rows <= std::max<int64_t>(policy.max_batch_size, 1), "a batch is larger than allowed");
  Require(policy.dynamic || batch.size() == 1, "requests share a batch without batching");
  if (in_order && policy.dynamic && config_.uniform && policy.preferred_sizes.empty() &&
      seats_[index].phase == Phase::kExecuting && expected != nullptr) {
    Require(rows + expected->request.rows > policy.max_batch_size,
            "a batch is smaller than it could be");
  }
}

// No waiting request is more urgent than the last of a batch and must be answered before it.
void SimulatedModel::CheckDue(const Request& last) {
  for (const SimulatedRequest* waiting = oldest_; waiting != nullptr; waiting = waiting->later) {
    const Request& request = waiting->request;
    Require(request.level > last.level ||
                (request.level == last.level && request.due_ns >= last.due_ns) ||
                request.state != RequestState::kQueued,
            "a request that is due later is executed first");
  }
}

void SimulatedModel::CheckTaken(SimulatedRequest* request, uint64_t index) {
  WaitNoMore(request);
  Require(request->in_flight, "a request is executed after its answer");
  if (config_.sequences && config_.sequences->rows_are_slots) {
    Require(request->request.sequence->slot < config_.sequences->slots, "a row beyond the slots");
  }
  ClientSequence* const sequence = request->sequence;
  if (sequence == nullptr) {
    return;
  }
  const auto slot = static_cast<int64_t>(request->request.sequence->slot);
  Require(!sequence->running, "two requests of a sequence execute at once");
  Require(!sequence->outstanding.empty() && sequence->outstanding.front() == request->number,
          "requests of a sequence are executed in order");
  Require(sequence->instance < 0 || sequence->instance == static_cast<int64_t>(index),
          "a sequence stays with its instance");
  Require(sequence->row < 0 || sequence->row == slot, "a sequence keeps its slot");
  sequence->instance = static_cast<int64_t>(index);
  sequence->row = slot;
  sequence->running = true;
}

void SimulatedModel::Executed(SimulatedRequest* request, bool is_lost) {
  request->request.record.status = is_lost ? NRD_UNAVAILABLE : NRD_OK;
  request->request.record.executed_batch_size = 1;
  executed_requests_ += is_lost ? 0 : 1;
  if (request->sequence != nullptr) {
    if (request->request.cancelled && world_.chance.OneIn(2)) {
      request->request.record.executed_batch_size = 0;  // its batch had left it out
      request->sequence->begun &= !request->request.Has(NRD_REQUEST_SEQUENCE_START);
    }
    request->sequence->running = false;
    request->sequence->active_ns = SimulatedWorld::Now();
    // An executed request does not hold up its successors, even if its answer comes late.
    std::erase(request->sequence->outstanding, request->number);
  }
}

std::vector<nrd_cost_point> SimulatedModel::Costs() {
  std::vector<nrd_cost_point> points(dispatcher_->ReadCostCurve(nullptr, 0));
  dispatcher_->ReadCostCurve(points.data(), static_cast<uint32_t>(points.size()));
  return points;
}

void SimulatedModel::CheckRemoved(SimulatedRequest* request) {
  Require(!request->executing, "a request is taken out while it executes");
  WaitNoMore(request);
  ClientSequence* const sequence = request->sequence;
  if (sequence == nullptr) {
    return;
  }
  sequence->active_ns = SimulatedWorld::Now();
  std::erase(sequence->outstanding, request->number);
  if ((request->request.record.flags & NRD_REQUEST_SEQUENCE_START) != 0) {
    sequence->begun = false;
  }
}

// No request waits any more in a sequence that lost one.
void SimulatedModel::CheckGap(const ClientSequence& sequence) {
  Require(sequence.outstanding.size() == (sequence.running ? 1U : 0U),
          "a request waits behind one that was taken out of its sequence");
}

// ---- Who should do something ----

void SimulatedModel::CheckQueue() {
  uint64_t pending = 0;
  uint64_t executing = 0;
  dispatcher_->ReadCounts(&pending, &executing);
  Require(pending == waiting_, "the queue counts what waits");
  if (waiting_ == 0) {
    return;
  }
  int64_t first_expiry_ns = kNever;
  for (const SimulatedRequest* waiting = oldest_; waiting != nullptr; waiting = waiting->later) {
    first_expiry_ns = std::min(first_expiry_ns, waiting->request.NextExpiryNs());
  }
  Require(alarm_ns_ <= first_expiry_ns, "nobody will tell a request that its time is up");
  if (warming_up_) {
    CheckWarmUp();
    return;
  }
  if (config_.sequences) {
    CheckSequences();
  } else {
    CheckSharedQueue();
  }
}

// Requests wait for the warm-up's end: some event must be about to bring it nearer.
void SimulatedModel::CheckWarmUp() {
  for (const Seat& seat : seats_) {
    Require(seat.phase != Phase::kBorrowed,
            "a thread borrows an instance of a model that warms up");
  }
  Require(dispatcher_->IsWarmedUp() || next_to_warm_up_ == 0 ||
              seats_[next_to_warm_up_ - 1].phase != Phase::kWaiting,
          "an instance that is to warm up waits for requests");
}

// A thread is on its way to look, or waits for more until a time that the policy allows.
void SimulatedModel::CheckSharedQueue() {
  bool some_idle = false;
  bool some_come = false;
  const Instance* armed = nullptr;
  for (const Seat& seat : seats_) {
    if (seat.phase == Phase::kWaiting) {
      const bool waits = dispatcher_->WaitsUntilNs(*seat.instance) != kNever;
      armed = waits ? seat.instance.get() : armed;
      some_idle |= !waits;
    }
    some_come |= seat.phase == Phase::kComing || seat.phase == Phase::kLimited;
  }
  if (some_come || (!some_idle && armed == nullptr)) {
    return;
  }
  Require(armed != nullptr, "requests wait while an instance is idle");
  int64_t promised_ns =
      AddDelay(oldest_->request.enqueue_ns, config_.batch_policy.max_queue_delay_ns);
  if (config_.objective) {
    promised_ns = oldest_->request.due_ns;
  }
  Require(dispatcher_->WaitsUntilNs(*armed) <= promised_ns + kSlackNs,
          "a request waits for longer than the delay");
  if (config_.objective) {
    return;
  }
  if (config_.uniform) {
    CheckCompany(waiting_rows_);
  }
}

// Checks an instance that waits for more while `rows` rows fit together.
void SimulatedModel::CheckCompany(int64_t rows) {
  const BatchPolicy& policy = config_.batch_policy;
  const std::vector<int64_t>& preferred = policy.preferred_sizes;
  Require(rows < policy.max_batch_size, "a full batch waits");
  Require(!std::binary_search(preferred.begin(), preferred.end(), rows),
          "a batch of a preferred size waits");
  Require(preferred.empty() || rows < preferred.back(), "a batch beyond all preferred sizes waits");
}

void SimulatedModel::CheckSequences() {
  const SequenceConfig& sequences = *config_.sequences;
  nrd_sequence_stats stats{};
  dispatcher_->ReadSequenceStats(&stats);
  std::array<int64_t, 8> ready{};
  for (const SimulatedRequest* waiting = oldest_; waiting != nullptr; waiting = waiting->later) {
    const Sequence& sequence = *waiting->request.sequence;
    if (sequence.state == SequenceState::kBacklog) {
      Require(stats.active == stats.slots, "a sequence waits for a slot while one is free");
    }
    if (sequence.state != SequenceState::kReady || sequence.waiting.head != &waiting->request) {
      continue;
    }
    const Seat& home = seats_[sequence.instance];
    ++ready[sequence.instance];
    if (home.phase != Phase::kWaiting) {
      continue;
    }
    const int64_t until_ns = dispatcher_->WaitsUntilNs(*home.instance);
    Require(until_ns != kNever, "a sequence waits while its instance is idle");
    const int64_t promised_ns =
        AddDelay(waiting->request.enqueue_ns, config_.batch_policy.max_queue_delay_ns);
    Require(until_ns <= promised_ns + kSlackNs, "a sequence waits for longer than the delay");
    if (config_.uniform && sequences.direct) {
      Require(static_cast<double>(ready[sequence.instance]) <
                  sequences.minimum_utilization * sequences.slots,
              "slots that are full enough wait");
    } else if (config_.uniform) {
      CheckCompany(ready[sequence.instance]);
    }
  }
}

// ---- Ends ----

uint32_t SimulatedModel::HeldCount() const {
  uint32_t held = 0;
  for (size_t i = 0; i < seats_.size() && !config_.instances.empty(); ++i) {
    if (seats_[i].phase == Phase::kExecuting || seats_[i].phase == Phase::kBorrowed) {
      for (const ResourceCount& resource : config_.instances[i].resources) {
        held += resource.count;
      }
    }
  }
  return held;
}

bool SimulatedModel::SomebodyWaitsForLimits() const {
  for (uint32_t i = 0; limits_ != nullptr && i < seats_.size(); ++i) {
    if (seats_[i].phase == Phase::kLimited && limits_->Waits(i)) {
      return true;
    }
  }
  return false;
}

// True if a thread is on its way to look, or has just received the resource it waited for.
bool SimulatedModel::SomebodyLooks() const {
  for (uint32_t i = 0; limits_ != nullptr && i < seats_.size(); ++i) {
    if (seats_[i].phase == Phase::kComing ||
        (seats_[i].phase == Phase::kLimited && !limits_->Waits(i))) {
      return true;
    }
  }
  return false;
}

void SimulatedModel::CheckUnknown(const ClientSequence& sequence) {
  Require(!sequence.begun || sequence.ended ||
              SimulatedWorld::Now() - sequence.active_ns >= config_.sequences->max_idle_ns,
          "a sequence is forgotten before its time");
  Require(sequence.ended || !sequence.begun || sequence.outstanding.empty(),
          "a sequence is forgotten while it has requests");
}

void SimulatedModel::CheckFull() {
  Require(closing_ || finishing_ || config_.objective ||
              waiting_ >= config_.queue_policies.front().max_queue_size,
          "a request is refused although there is room");
}

void SimulatedModel::CheckFinished() {
  nrd_sequence_stats stats{};
  dispatcher_->ReadSequenceStats(&stats);
  Require(stats.active == 0 && stats.backlog == 0,
          "a sequence does not end, though nobody goes on with it");
}

void SimulatedModel::CheckRest() {
  uint64_t pending = 0;
  uint64_t executing = 0;
  dispatcher_->ReadCounts(&pending, &executing);
  Require(pending == 0 && executing == 0 && waiting_ == 0, "something is left of no request");
  Require(dispatcher_->IsIdle(), "an answer was not counted");
  if (nrd_objective_stats objective{}; dispatcher_->ReadObjective(&objective)) {
    Require(objective.kept + objective.late == executed_requests_,
            "an answer is neither in time nor late");
    Require(objective.backlog == 0 && objective.refused_deadline <= objective.refused_backlog +
                                                                        objective.refused_cost +
                                                                        objective.refused_waiting,
            "refusals are miscounted");
  }
  nrd_sequence_stats stats{};
  dispatcher_->ReadSequenceStats(&stats);
  Require(stats.backlog == 0, "a sequence without requests waits for a slot");
  Require(stats.started >= stats.ended + stats.idle_ended, "more sequences end than began");
}

}  // namespace nereid::simulation
