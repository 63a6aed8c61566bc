#include "core/sequence/sequence_slots.h"

#include <algorithm>

namespace nereid {

SequenceSlots::SequenceSlots(uint32_t instances, uint32_t slots)
    : instances_(instances, Slots{.taken = std::vector<bool>(slots)}) {}

bool SequenceSlots::Take(uint32_t* instance_out, uint32_t* slot_out) {
  const auto lowest =
      std::min_element(instances_.begin(), instances_.end(),
                       [](const Slots& a, const Slots& b) { return a.first_free < b.first_free; });
  if (lowest->first_free == lowest->taken.size()) {
    return false;
  }
  *instance_out = static_cast<uint32_t>(lowest - instances_.begin());
  *slot_out = lowest->first_free;
  lowest->taken[lowest->first_free] = true;
  while (lowest->first_free < lowest->taken.size() && lowest->taken[lowest->first_free]) {
    ++lowest->first_free;
  }
  return true;
}

void SequenceSlots::GiveBack(uint32_t instance, uint32_t slot) {
  Slots& slots = instances_[instance];
  slots.taken[slot] = false;
  slots.first_free = std::min(slots.first_free, slot);
}

}  // namespace nereid
