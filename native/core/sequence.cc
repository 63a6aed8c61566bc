#include "core/sequence.h"

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

}  // namespace nereid
