// A malloc and memcpy that count calls. They replace those of the C library in every shared library
// of the program, including libnereid.so.
#ifndef NEREID_BENCH_COUNTED_CALLS_H_
#define NEREID_BENCH_COUNTED_CALLS_H_

#include <cstdint>

namespace nereid {

struct CallCounts {
  uint64_t allocations;
  uint64_t copied_bytes;  // by copies of a page or more: those of tensors
};

// Counts the calls of all threads since the program began.
CallCounts CallsSoFar();

}  // namespace nereid

#endif  // NEREID_BENCH_COUNTED_CALLS_H_
