// Counters that are read while they are written.
#ifndef NEREID_BASE_COUNTER_H_
#define NEREID_BASE_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace nereid {

// Adds to a counter that only one thread writes at a time: cheaper than a locked instruction, and
// readers still see whole values.
inline void AddSingleWriter(std::atomic<uint64_t>* counter, uint64_t amount) {
  counter->store(counter->load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

inline void SubtractSingleWriter(std::atomic<uint64_t>* counter, uint64_t amount) {
  AddSingleWriter(counter, ~amount + 1);
}

inline void AddShared(std::atomic<uint64_t>* counter, uint64_t amount) {
  counter->fetch_add(amount, std::memory_order_relaxed);
}

inline uint64_t ReadCounter(const std::atomic<uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace nereid

#endif  // NEREID_BASE_COUNTER_H_
