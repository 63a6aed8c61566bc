// The part of shared memory that a child writes its outputs into.
#ifndef NEREID_ISOLATION_CHILD_OUTPUT_AREA_H_
#define NEREID_ISOLATION_CHILD_OUTPUT_AREA_H_

#include <algorithm>
#include <cstdint>

#include "isolation/shared_channel.h"

namespace nereid {

// Places follow each other; when all are free, allocation begins at the start again. Used by one
// thread at a time.
class OutputArea {
 public:
  explicit OutputArea(uint64_t area_bytes) : area_bytes_(area_bytes) {}

  // Takes a place; false: there is no room.
  bool Take(uint64_t byte_size, uint64_t* offset_out) {
    if (byte_size > area_bytes_ - used_bytes_) {
      return false;
    }
    *offset_out = used_bytes_;
    used_bytes_ = std::min(SharedChannel::Aligned(used_bytes_ + byte_size), area_bytes_);
    ++taken_;
    return true;
  }
  // Frees so many of the places that were taken.
  void Give(uint32_t count) {
    taken_ -= count;
    used_bytes_ = taken_ == 0 ? 0 : used_bytes_;
  }
  void GiveAll() { Give(taken_); }

 private:
  const uint64_t area_bytes_;
  uint64_t used_bytes_ = 0;
  uint32_t taken_ = 0;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_OUTPUT_AREA_H_
