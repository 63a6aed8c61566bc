#include "core/sequence_queue.h"

#include <algorithm>

#include "core/request_check.h"
#include "core/request_queue.h"

namespace nereid {
namespace {

bool Has(const Request& request, uint32_t flag) { return (request.record.flags & flag) != 0; }

// The sequence as people are told of it.
std::string Named(const Request& request) {
  const std::string_view name = View(request.record.sequence_name);
  return name.empty() ? std::to_string(request.record.sequence_id) : std::string(name);
}

}  // namespace

void SequenceList::InsertAfter(Sequence* place, Sequence* sequence) {
  Sequence* const following = place == nullptr ? head : place->next;
  sequence->previous = place;
  sequence->next = following;
  (place == nullptr ? head : place->next) = sequence;
  (following == nullptr ? tail : following->previous) = sequence;
}

void SequenceList::Remove(Sequence* sequence) {
  (sequence->previous == nullptr ? head : sequence->previous->next) = sequence->next;
  (sequence->next == nullptr ? tail : sequence->next->previous) = sequence->previous;
  sequence->previous = nullptr;
  sequence->next = nullptr;
}

SequenceQueue::SequenceQueue(const ModelConfig& config)
    : config_(config),
      sequences_(*config.sequences),
      expiries_(NRD_DEFAULT_MAX_QUEUE_SIZE),
      slots_(config.instance_count),
      ready_(config.instance_count),
      is_roused_(config.instance_count) {
  for (Slots& slots : slots_) {
    slots.taken.resize(sequences_.slots);
  }
  seen_.reserve(sequences_.slots);
  candidates_.reserve(sequences_.slots);
  chosen_.reserve(sequences_.slots);
  roused_.reserve(config.instance_count);
}

SequenceQueue::~SequenceQueue() { DropStates(); }

void SequenceQueue::DropStates() {
  for (const auto& sequence : all_) {
    sequences_.DropStates(sequence->states);
  }
}

// ---- Which sequence a request belongs to ----

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
  return Status::InvalidArgument("inference request for sequence " + Named(request) +
                                 " to model '" + config_.name + "' " + std::string(rule));
}

// What may throw comes first: nothing has changed then.
Sequence* SequenceQueue::Start(const Request& request) {
  if (unused_ == nullptr) {
    all_.push_back(std::make_unique<Sequence>());
    all_.back()->states.resize(sequences_.states.size());
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
  if (!goes_on && !sequences_.iterative && !Has(request, NRD_REQUEST_SEQUENCE_START)) {
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
  sequence->closed = sequences_.iterative || Has(request, NRD_REQUEST_SEQUENCE_END);
  ++size_;
  sequence->waiting.Append(&request);
  if (sequence->state == SequenceState::kIdle) {
    idle_.Remove(sequence);
    MakeReady(sequence);
  }
  return Status();
}

// ---- Slots ----

// The lowest free slot of all instances, so that batches stay small and work is spread.
bool SequenceQueue::AssignSlot(Sequence* sequence) {
  const auto lowest =
      std::min_element(slots_.begin(), slots_.end(),
                       [](const Slots& a, const Slots& b) { return a.first_free < b.first_free; });
  if (lowest->first_free == lowest->taken.size()) {
    return false;
  }
  sequence->instance = static_cast<uint32_t>(lowest - slots_.begin());
  sequence->slot = lowest->first_free;
  lowest->taken[sequence->slot] = true;
  while (lowest->first_free < lowest->taken.size() && lowest->taken[lowest->first_free]) {
    ++lowest->first_free;
  }
  ++active_;
  ++started_;
  // It has no requests yet, or comes out of the backlog with some.
  sequence->state = SequenceState::kIdle;
  if (sequence->waiting.empty()) {
    idle_.Append(sequence);
  } else {
    MakeReady(sequence);
  }
  return true;
}

// Whoever waits longest gets the slot.
void SequenceQueue::FreeSlot(const Sequence& sequence) {
  Slots& slots = slots_[sequence.instance];
  slots.taken[sequence.slot] = false;
  slots.first_free = std::min(slots.first_free, sequence.slot);
  --active_;
  if (Sequence* const next = backlog_.head; next != nullptr) {
    backlog_.Remove(next);
    --waiting_for_slot_;
    AssignSlot(next);
  }
}

// The end of a sequence that is in no list.
void SequenceQueue::Forget(Sequence* sequence) {
  if (!sequence->name.empty()) {
    by_name_.erase(sequence->name);
  } else if (!sequences_.iterative) {
    by_number_.erase(sequence->number);
  }
  sequences_.DropStates(sequence->states);
  state_bytes_ -= sequence->state_bytes;
  sequence->state_bytes = 0;
  sequence->next = unused_;
  unused_ = sequence;
}

void SequenceQueue::End(Sequence* sequence) {
  Forget(sequence);
  FreeSlot(*sequence);
}

// ---- What runs ----

void SequenceQueue::MakeReady(Sequence* sequence) {
  sequence->state = SequenceState::kReady;
  SequenceList& ready = ready_[sequence->instance];
  // Looks from behind: what comes now is seldom older than what is there.
  Sequence* place = ready.tail;
  while (place != nullptr && place->waiting.head->enqueue_ns > sequence->waiting.head->enqueue_ns) {
    place = place->previous;
  }
  ready.InsertAfter(place, sequence);
  if (!is_roused_[sequence->instance]) {
    is_roused_[sequence->instance] = true;
    roused_.push_back(sequence->instance);
  }
}

uint32_t SequenceQueue::TakeRoused() {
  if (roused_.empty()) {
    return kNone;
  }
  const uint32_t instance = roused_.back();
  roused_.pop_back();
  is_roused_[instance] = false;
  return instance;
}

// Whether the next requests of both find states of the same shape. Neither is running.
bool SequenceQueue::SameStates(const Sequence& a, const Sequence& b) const {
  const auto kept = [](const Sequence& sequence, size_t index) -> const nrd_tensor* {
    const bool starts = Has(*sequence.waiting.head, NRD_REQUEST_SEQUENCE_START);
    const nrd_tensor& state = sequence.states[index];
    return starts || state.data == nullptr ? nullptr : &state;
  };
  for (size_t i = 0; i < sequences_.states.size(); ++i) {
    const std::vector<int64_t>& initial = sequences_.states[i].dims;
    const nrd_tensor* const left = kept(a, i);
    const nrd_tensor* const right = kept(b, i);
    for (size_t dim = 0; dim < initial.size(); ++dim) {
      const size_t place = dim + (config_.batched() ? 1 : 0);
      if ((left == nullptr ? initial[dim] : left->shape[place]) !=
          (right == nullptr ? initial[dim] : right->shape[place])) {
        return false;
      }
    }
  }
  return true;
}

// Whether the caller's batcher, if there is one, lets the request join those that were chosen.
bool SequenceQueue::Includes(const Request& request) const {
  return !config_.batcher ||
         config_.batcher->includes(config_.batcher->context, chosen_.data(),
                                   static_cast<uint32_t>(chosen_.size()), &request.record) != 0;
}

// Those that cannot share a batch with the oldest one are left out, or end it where order counts.
// Looks only as far as one batch can reach, and one further to see that it ends there.
BatchDecision SequenceQueue::Decide(uint32_t instance, int64_t now_ns) {
  seen_.clear();
  candidates_.clear();
  chosen_.clear();
  const Sequence* const first = ready_[instance].head;
  const size_t reach = config_.max_batch_requests() + 1;
  for (Sequence* sequence = ready_[instance].head; sequence != nullptr && seen_.size() < reach;
       sequence = sequence->next) {
    const Request& request = *sequence->waiting.head;
    const bool joins =
        sequence == first ||
        ((config_.uniform || SameShapes(config_, *first->waiting.head, request)) &&
         (!sequences_.states_vary || SameStates(*first, *sequence)) && Includes(request));
    if (!joins && sequences_.direct) {
      continue;
    }
    seen_.push_back({.rows = request.rows, .enqueue_ns = request.enqueue_ns, .joins = joins});
    candidates_.push_back(sequence);
    if (config_.batcher && joins) {
      chosen_.push_back(&request.record);
    }
  }
  if (sequences_.direct) {
    return DecideSlots({.slots = sequences_.slots,
                        .minimum_utilization = sequences_.minimum_utilization,
                        .max_queue_delay_ns = config_.batch_policy.max_queue_delay_ns},
                       seen_, now_ns);
  }
  return DecideBatch(config_.batch_policy, seen_, now_ns);
}

int64_t SequenceQueue::Take(uint32_t instance, int64_t now_ns, std::vector<Request*>* batch) {
  if (ready_[instance].empty()) {
    return kNever;
  }
  const BatchDecision decision = Decide(instance, now_ns);
  if (decision.take == 0) {
    return decision.wake_ns;
  }
  candidates_.resize(decision.take);
  if (sequences_.rows_are_slots) {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Sequence* a, const Sequence* b) { return a->slot < b->slot; });
  }
  for (Sequence* const sequence : candidates_) {
    TakeHead(sequence, batch);
  }
  return decision.wake_ns;
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
      !sequence->started || (Has(*request, NRD_REQUEST_SEQUENCE_START) && !sequences_.iterative);
  sequence->started = true;
  batch->push_back(request);
}

void SequenceQueue::Finish(std::vector<Request*>* batch, int64_t now_ns) {
  size_t kept = 0;
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
    }
    Rest(sequence, now_ns);
  }
  batch->resize(kept);
}

// What becomes of a sequence of which nothing executes any more, and which is in no list.
void SequenceQueue::Rest(Sequence* sequence, int64_t now_ns) {
  if (!sequence->waiting.empty()) {
    MakeReady(sequence);
  } else if (sequence->closed) {
    ++ended_;
    End(sequence);
  } else {
    sequence->state = SequenceState::kIdle;
    sequence->idle_since_ns = now_ns;
    idle_.Append(sequence);
  }
}

// ---- What does not run ----

void SequenceQueue::RemoveWaiting(Sequence* sequence, Request* request) {
  sequence->waiting.Remove(request);
  expiries_.Remove(request);
  --size_;
}

void SequenceQueue::Remove(Request& request, RemovedRequests* removed, int64_t now_ns) {
  Sequence* const sequence = request.sequence;
  bool lost_start = false;
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
    lost_start |= Has(*waiting, NRD_REQUEST_SEQUENCE_START);
    RemoveWaiting(sequence, waiting);
    (waiting == &request ? removed->culprits : removed->abandoned).Append(waiting);
  }
  SettleEmpty(sequence, lost_start, now_ns);
}

// Without its first request there is no sequence: what comes later has to start it anew.
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

int64_t SequenceQueue::next_event_ns() const {
  const Request* const first = expiries_.First();
  const int64_t expiry_ns = first == nullptr ? kNever : first->NextExpiryNs();
  const int64_t idle_ns =
      idle_.head == nullptr
          ? kNever
          : AddDelay(idle_.head->idle_since_ns, static_cast<uint64_t>(sequences_.max_idle_ns));
  return std::min(expiry_ns, idle_ns);
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
