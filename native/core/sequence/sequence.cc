#include "core/sequence/sequence.h"

#include "base/status.h"

namespace nereid {

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

std::string SequenceText(const Request& request) {
  const std::string_view name = View(request.record.sequence_name);
  return name.empty() ? std::to_string(request.record.sequence_id) : std::string(name);
}

void DropStates(const SequenceConfig& config, std::span<nrd_tensor> kept) {
  if (config.release_state != nullptr) {
    for (nrd_tensor& state : kept) {
      if (state.data != nullptr) {
        config.release_state(config.model_state, &state);
      }
    }
  }
  DropTensors(kept.data(), static_cast<uint32_t>(kept.size()));
}

}  // namespace nereid
