// Keeps the free slots of each instance.
#ifndef NEREID_CORE_SEQUENCE_SEQUENCE_SLOTS_H_
#define NEREID_CORE_SEQUENCE_SEQUENCE_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nereid {

class SequenceSlots {
 public:
  SequenceSlots(uint32_t instances, uint32_t slots);

  // Takes the lowest free slot of all instances, so that batches stay small and work is spread.
  // False: there is none.
  bool Take(uint32_t* instance_out, uint32_t* slot_out);
  void GiveBack(uint32_t instance, uint32_t slot);

 private:
  struct Slots {
    std::vector<bool> taken;
    uint32_t first_free = 0;  // the lowest one; taken.size(): none
  };

  std::vector<Slots> instances_;
};

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_SEQUENCE_SLOTS_H_
