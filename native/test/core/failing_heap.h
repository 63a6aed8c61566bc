// The heap of the test program, whose allocations fail when a test wants it.
#ifndef NEREID_TEST_CORE_FAILING_HEAP_H_
#define NEREID_TEST_CORE_FAILING_HEAP_H_

#include <atomic>
#include <cstdint>

#include "doctest/doctest.h"

namespace nereid::test {

// Makes the allocation of this number fail, counted from 1 over all threads while the object lives;
// with `lasting`, all later ones too. Nothing that allocates, such as an assertion, may happen on
// the test's thread meanwhile.
class FailingAllocation {
 public:
  explicit FailingAllocation(int64_t number, bool lasting = false) {
    left = number;
    lasts = lasting;
    fails = true;
  }
  ~FailingAllocation() { fails = false; }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  // True if so many allocations were made.
  [[nodiscard]] bool happened() const { return left < 1; }

  // For the functions that allocate: counts an allocation, and returns whether it may succeed.
  static bool MayAllocate() {
    if (!fails.load(std::memory_order_acquire)) {
      return true;
    }
    const int64_t before = left.fetch_sub(1, std::memory_order_relaxed);
    return before > 1 || (before < 1 && !lasts.load(std::memory_order_relaxed));
  }
  [[nodiscard]] static bool HeapFails() { return fails.load(std::memory_order_acquire); }

 private:
  inline static std::atomic<bool> fails{false};
  inline static std::atomic<bool> lasts{false};
  inline static std::atomic<int64_t> left{0};  // until the one that fails
};

// Every allocation fails.
struct EmptyHeap : FailingAllocation {
  EmptyHeap() : FailingAllocation(1, true) {}
};

// Runs a scenario with each of its allocations failing in turn, alone and with all that follow. The
// scenario gets the number and whether the failure lasts, and returns whether it made so many
// allocations. Returns how many it made.
template <typename Scenario>
int64_t ForEachAllocation(const Scenario& scenario) {
  int64_t number = 0;
  for (const bool lasting : {false, true}) {
    CAPTURE(lasting);
    number = 0;
    for (bool happened = true; happened;) {
      ++number;
      CAPTURE(number);
      happened = scenario(number, lasting);
    }
  }
  return number - 1;
}

}  // namespace nereid::test

#endif  // NEREID_TEST_CORE_FAILING_HEAP_H_
