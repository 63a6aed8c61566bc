#include "core/sequence/sequence_queue.h"

#include <algorithm>

#include "core/queue/request_queue.h"

namespace nereid {

SequenceQueue::SequenceQueue(const ModelConfig& config)
    : config_(config),
      sequences_(*config.sequences),
      expiries_(NRD_DEFAULT_MAX_QUEUE_SIZE),
      slots_(config.instance_count, sequences_.slots),
      ready_(config.instance_count),
      picker_(config),
      is_roused_(config.instance_count) {
  roused_.reserve(config.instance_count);
}

SequenceQueue::~SequenceQueue() { DropStates(); }

void SequenceQueue::DropStates() {
  for (const auto& sequence : all_) {
    nereid::DropStates(sequences_, sequence->states);
  }
}

// ---- The sequence of a request ----

Sequence* SequenceQueue::Find(uint64_t number, std::string_view name) const {
  if (!name.empty()) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second;
}

bool SequenceQueue::Knows(uint64_t number, std::string_view name) const {
  const Sequence* const sequence = Find(number, name);
  return sequence != nullptr && !sequence->closed;
}

Status SequenceQueue::Refuse(const Request& request, std::string_view rule) const {
  return Status::InvalidArgument("inference request for sequence " + SequenceText(request) +
                                 " to model '" + config_.name + "' " + std::string(rule));
}

// Allocation, which may throw, comes first: nothing has changed then.
Sequence* SequenceQueue::Start(const Request& request) {
  if (unused_ == nullptr) {
    all_.push_back(std::make_unique<Sequence>());
    all_.back()->states.resize(sequences_.states.size());
    expiries_.Reserve(all_.capacity());  // Finish puts back at most one request of each
    unused_ = all_.back().get();
  }
  Sequence* const sequence = unused_;
  sequence->name = View(request.record.sequence_name);
  sequence->number = sequence->name.empty() ? request.record.sequence_id : 0;
  if (sequences_.iterative) {
    sequence->number =
        sequence->name.empty() && sequence->number == 0 ? ++last_number_ : sequence->number;
  } else if (sequence->name.empty()) {
    by_number_.emplace(sequence->number, sequence);
  } else {
    by_name_.emplace(sequence->name, sequence);
  }
  unused_ = sequence->next;
  sequence->next = nullptr;
  sequence->started = false;
  if (!AssignSlot(sequence)) {
    sequence->state = SequenceState::kBacklog;
    backlog_.Append(sequence);
    ++waiting_for_slot_;
  }
  return sequence;
}

Status SequenceQueue::Push(Request& request, int64_t now_ns) {
  const QueuePolicy& policy = config_.queue_policies.front();
  if (size_ >= policy.max_queue_size) {
    return QueueFull(policy);
  }
  Sequence* sequence = sequences_.iterative
                           ? nullptr
                           : Find(request.record.sequence_id, View(request.record.sequence_name));
  const bool goes_on = sequence != nullptr && !sequence->closed;
  if (!goes_on && !sequences_.iterative && !request.Has(NRD_REQUEST_SEQUENCE_START)) {
    return Refuse(request, "must specify the START flag on the first request of the sequence");
  }
  if (!goes_on && finishing_) {
    return Status::Unavailable("model '" + config_.name + "' version " + config_.version +
                               " is being unloaded: no sequence starts any more");
  }
  request.enqueue_ns = now_ns;
  request.level = 0;
  request.delayed = false;
  request.rescheduled = false;
  SetExpiries(policy, request);
  expiries_.Add(&request);
  try {
    sequence = sequence == nullptr ? Start(request) : sequence;
  } catch (...) {
    expiries_.Remove(&request);
    throw;
  }
  request.sequence = sequence;
  sequence->closed = sequences_.iterative || request.Has(NRD_REQUEST_SEQUENCE_END);
  ++size_;
  sequence->waiting.Append(&request);
  if (sequence->state == SequenceState::kIdle) {
    idle_.Remove(sequence);
    MakeReady(sequence);
  }
  return Status();
}

// ---- Slots ----

bool SequenceQueue::AssignSlot(Sequence* sequence) {
  if (!slots_.Take(&sequence->instance, &sequence->slot)) {
    return false;
  }
  ++active_;
  // The sequence has no requests yet, or comes out of the backlog with some.
  sequence->state = SequenceState::kIdle;
  if (sequence->waiting.empty()) {
    idle_.Append(sequence);
  } else {
    MakeReady(sequence);
  }
  return true;
}

// Gives the slot to the sequence that waits longest.
void SequenceQueue::FreeSlot(const Sequence& sequence) {
  slots_.GiveBack(sequence.instance, sequence.slot);
  --active_;
  if (Sequence* const next = backlog_.head; next != nullptr) {
    backlog_.Remove(next);
    --waiting_for_slot_;
    AssignSlot(next);
  }
}

// Ends a sequence that is in no list.
void SequenceQueue::Forget(Sequence* sequence) {
  if (!sequence->name.empty()) {
    by_name_.erase(sequence->name);
  } else if (!sequences_.iterative) {
    by_number_.erase(sequence->number);
  }
  nereid::DropStates(sequences_, sequence->states);
  state_bytes_ -= sequence->state_bytes;
  sequence->state_bytes = 0;
  sequence->next = unused_;
  unused_ = sequence;
}

void SequenceQueue::End(Sequence* sequence) {
  Forget(sequence);
  FreeSlot(*sequence);
}

// ---- Execution ----

void SequenceQueue::MakeReady(Sequence* sequence) {
  sequence->state = SequenceState::kReady;
  SequenceList& ready = ready_[sequence->instance];
  // Searches from the end: a new one is seldom older than the others.
  Sequence* place = ready.tail;
  while (place != nullptr && place->waiting.head->enqueue_ns > sequence->waiting.head->enqueue_ns) {
    place = place->previous;
  }
  ready.InsertAfter(place, sequence);
  Rouse(sequence->instance);
}

void SequenceQueue::Rouse(uint32_t instance) {
  if (!is_roused_[instance]) {
    is_roused_[instance] = true;
    roused_.push_back(instance);
  }
}

BatchDecision SequenceQueue::Decide(uint32_t instance, int64_t now_ns) {
  return ready_[instance].empty() ? BatchDecision() : picker_.Pick(ready_[instance], now_ns);
}

void SequenceQueue::Take(size_t count, std::vector<Request*>* batch) {
  for (Sequence* const sequence : picker_.Picked(count)) {
    TakeHead(sequence, batch);
  }
}

void SequenceQueue::TakeHead(Sequence* sequence, std::vector<Request*>* batch) {
  ready_[sequence->instance].Remove(sequence);
  sequence->state = SequenceState::kRunning;
  Request* const request = sequence->waiting.head;
  RemoveWaiting(sequence, request);
  request->record.first_row =
      sequences_.rows_are_slots ? sequence->slot : static_cast<uint32_t>(batch->size());
  request->record.sequence_id = sequence->number;
  request->record.sequence_name = AsNrdString(sequence->name);
  request->starts =
      !sequence->started || (request->Has(NRD_REQUEST_SEQUENCE_START) && !sequences_.iterative);
  started_ += sequence->started ? 0 : 1;
  sequence->started = true;
  batch->push_back(request);
}

RequestList SequenceQueue::Finish(std::vector<Request*>* batch, int64_t now_ns) {
  size_t kept = 0;
  RemovedRequests removed;
  for (Request* const request : *batch) {
    Sequence* const sequence = request->sequence;
    uint64_t state_bytes = 0;
    for (const nrd_tensor& state : sequence->states) {
      state_bytes += state.data == nullptr ? 0 : state.byte_size;
    }
    state_bytes_ += state_bytes - sequence->state_bytes;
    sequence->state_bytes = state_bytes;
    if (request->rescheduled) {
      request->rescheduled = false;
      request->enqueue_ns = now_ns;
      expiries_.Add(request);
      ++size_;
      sequence->waiting.Append(request);
      request->state.store(RequestState::kQueued, std::memory_order_relaxed);
    } else {
      (*batch)[kept++] = request;
      if (request->record.executed_batch_size == 0) {
        Remove(*request, &removed, now_ns);
      }
      if (request->Has(NRD_REQUEST_SEQUENCE_END)) {  // what waits begins another sequence
        ++ended_;
        sequence->started = false;
      }
    }
    Rest(sequence, now_ns);
  }
  batch->resize(kept);
  return removed.abandoned;
}

// Decides the next state of a sequence without an executing request, and in no list.
void SequenceQueue::Rest(Sequence* sequence, int64_t now_ns) {
  if (!sequence->waiting.empty()) {
    MakeReady(sequence);
  } else if (sequence->closed) {
    ended_ += sequence->started ? 1 : 0;
    End(sequence);
  } else {
    sequence->state = SequenceState::kIdle;
    sequence->idle_since_ns = now_ns;
    idle_.Append(sequence);
  }
}

// ---- Removal ----

void SequenceQueue::RemoveWaiting(Sequence* sequence, Request* request) {
  sequence->waiting.Remove(request);
  expiries_.Remove(request);
  --size_;
}

// The request waits, or was taken into a batch and never ran.
void SequenceQueue::Remove(Request& request, RemovedRequests* removed, int64_t now_ns) {
  Sequence* const sequence = request.sequence;
  bool lost_start = request.Has(NRD_REQUEST_SEQUENCE_START);
  switch (sequence->state) {
    case SequenceState::kBacklog:
      backlog_.Remove(sequence);
      --waiting_for_slot_;
      break;
    case SequenceState::kReady:
      ready_[sequence->instance].Remove(sequence);
      break;
    case SequenceState::kRunning:
    case SequenceState::kIdle:
      break;
  }
  while (Request* const waiting = sequence->waiting.head) {
    lost_start |= waiting->Has(NRD_REQUEST_SEQUENCE_START);
    RemoveWaiting(sequence, waiting);
    (waiting == &request ? removed->culprits : removed->abandoned).Append(waiting);
  }
  SettleEmpty(sequence, lost_start, now_ns);
}

// Settles a sequence without requests; one that lost its first request must be started anew.
void SequenceQueue::SettleEmpty(Sequence* sequence, bool lost_start, int64_t now_ns) {
  sequence->closed = sequence->closed || lost_start;
  if (sequence->state == SequenceState::kBacklog) {
    Forget(sequence);
  } else if (sequence->state == SequenceState::kReady) {
    Rest(sequence, now_ns);
  }
}

void SequenceQueue::TakeExpired(int64_t now_ns, RemovedRequests* removed) {
  for (Request* request = expiries_.First();
       request != nullptr && request->NextExpiryNs() <= now_ns; request = expiries_.First()) {
    Remove(*request, removed, now_ns);
  }
  while (idle_.head != nullptr && now_ns - idle_.head->idle_since_ns >= sequences_.max_idle_ns) {
    Sequence* const sequence = idle_.head;
    idle_.Remove(sequence);
    ++idle_ended_;
    End(sequence);
  }
}

RequestList SequenceQueue::TakeAll() {
  finishing_ = true;
  RequestList all;
  for (const auto& sequence : all_) {
    RemovedRequests removed;
    if (sequence->waiting.head != nullptr) {
      Remove(*sequence->waiting.head, &removed, 0);
    }
    while (Request* const request = removed.culprits.TakeFirst()) {
      all.Append(request);
    }
    while (Request* const request = removed.abandoned.TakeFirst()) {
      all.Append(request);
    }
  }
  return all;
}

int64_t SequenceQueue::NextEventNs() const {
  const Request* const first = expiries_.First();
  const int64_t expiry_ns = first == nullptr ? kNever : first->NextExpiryNs();
  const int64_t idle_ns =
      idle_.head == nullptr
          ? kNever
          : AddDelay(idle_.head->idle_since_ns, static_cast<uint64_t>(sequences_.max_idle_ns));
  return std::min(expiry_ns, idle_ns);
}

// ---- Waking ----

// An idle instance had nothing to execute before, so it executes this request next.
WaitingInstance* SequenceQueue::HomeOf(const Request& request,
                                       const WaitingInstances& waiting) const {
  const Sequence& sequence = *request.sequence;
  return sequence.state == SequenceState::kReady ? &waiting.At(sequence.instance) : nullptr;
}

// Chooses the roused instances; notifies all but the last, which it returns.
WaitingInstance* SequenceQueue::ChooseRoused(WaitingInstances& waiting) {
  WaitingInstance* chosen = nullptr;
  for (const uint32_t roused : roused_) {
    is_roused_[roused] = false;
    if (WaitingInstance* const instance = waiting.Choose(waiting.At(roused)); instance != nullptr) {
      if (chosen != nullptr) {
        chosen->wake.NotifyOne();
      }
      chosen = instance;
    }
  }
  roused_.clear();
  return chosen;
}

// Looks anew, because sequences that became ready while the instance was busy woke no thread.
WaitingInstance* SequenceQueue::ChooseForRest(const WaitingInstance& instance,
                                              WaitingInstances& waiting) {
  if (!ready_[instance.index()].empty()) {
    Rouse(instance.index());
  }
  return ChooseRoused(waiting);
}

WaitingInstance* SequenceQueue::ChooseForChange(WaitingInstances& waiting) {
  for (uint32_t instance = 0; instance < config_.instance_count; ++instance) {
    if (!ready_[instance].empty()) {
      Rouse(instance);
    }
  }
  return ChooseRoused(waiting);
}

void SequenceQueue::BeginToWait(WaitingInstance& instance, int64_t wake_ns,
                                WaitingInstances& waiting) {
  // The slot of a sequence that ended by idle time may have gone to a sequence of another instance.
  if (WaitingInstance* const other = ChooseRoused(waiting); other != nullptr) {
    other->wake.NotifyOne();
  }
  if (ready_[instance.index()].empty()) {
    waiting.BecomeIdle(instance);
  } else {
    waiting.BecomeArmed(instance, wake_ns);
  }
}

void SequenceQueue::ReadStats(nrd_sequence_stats* stats_out) const {
  stats_out->slots = uint64_t{sequences_.slots} * config_.instance_count;
  stats_out->active = active_;
  stats_out->backlog = waiting_for_slot_;
  stats_out->started = started_;
  stats_out->ended = ended_;
  stats_out->idle_ended = idle_ended_;
  stats_out->state_bytes = state_bytes_;
}

}  // namespace nereid
