// Time in the core. Policies take `now_ns` as a parameter; only the threads that drive them read
// it.
#ifndef NEREID_BASE_CLOCK_H_
#define NEREID_BASE_CLOCK_H_

#include <time.h>

#include <chrono>
#include <cstdint>
#include <limits>

namespace nereid {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// CLOCK_MONOTONIC, which is also what std::chrono::steady_clock reads here.
inline int64_t MonotonicNowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// `start_ns + delay_ns`, or kNever when that does not fit.
inline int64_t AddDelay(int64_t start_ns, uint64_t delay_ns) {
  const uint64_t room = static_cast<uint64_t>(kNever - start_ns);
  return delay_ns >= room ? kNever : start_ns + static_cast<int64_t>(delay_ns);
}

// An absolute time as a condition variable takes it.
inline std::chrono::steady_clock::time_point AsTimePoint(int64_t time_ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(time_ns));
}

inline uint64_t ElapsedNs(int64_t from_ns, int64_t to_ns) {
  return to_ns > from_ns ? static_cast<uint64_t>(to_ns - from_ns) : 0;
}

}  // namespace nereid

#endif  // NEREID_BASE_CLOCK_H_
