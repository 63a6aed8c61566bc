#include "core/sequence/sequence_picker.h"

#include <algorithm>

#include "core/request/request_check.h"

namespace nereid {

SequencePicker::SequencePicker(const ModelConfig& config)
    : config_(config), sequences_(*config.sequences) {
  seen_.reserve(sequences_.slots);
  candidates_.reserve(sequences_.slots);
  chosen_.reserve(sequences_.slots);
}

// True if the states of both sequences, neither of which runs, have the same shapes.
bool SequencePicker::SameStates(const Sequence& a, const Sequence& b) const {
  const auto kept = [this](const Sequence& sequence, size_t index) -> const nrd_tensor* {
    const bool starts =
        sequence.waiting.head->Has(NRD_REQUEST_SEQUENCE_START) && !sequences_.iterative;
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

// True if the caller's batcher, if there is one, lets the request join those that were chosen.
bool SequencePicker::Includes(const Request& request) const {
  return !config_.batcher ||
         config_.batcher->includes(config_.batcher->context, chosen_.data(),
                                   static_cast<uint32_t>(chosen_.size()), &request.record) != 0;
}

// Leaves out sequences that cannot share a batch with the oldest one, or ends the batch there if
// order counts. Looks only at the requests of one batch, and at one more to see that it ends there.
BatchDecision SequencePicker::Pick(const SequenceList& ready, int64_t now_ns) {
  seen_.clear();
  candidates_.clear();
  chosen_.clear();
  const Sequence* const first = ready.head;
  const size_t reach = config_.max_batch_requests() + 1;
  for (Sequence* sequence = ready.head; sequence != nullptr && seen_.size() < reach;
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

std::span<Sequence* const> SequencePicker::Picked(size_t count) {
  candidates_.resize(count);
  if (sequences_.rows_are_slots) {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Sequence* a, const Sequence* b) { return a->slot < b->slot; });
  }
  return candidates_;
}

}  // namespace nereid
