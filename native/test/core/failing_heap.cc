#include "test/core/failing_heap.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> heap_fails{false};
std::atomic<bool> failure_lasts{false};
std::atomic<int64_t> allocations_left{0};  // until the one that fails

bool MayAllocate() {
  if (!heap_fails.load(std::memory_order_acquire)) {
    return true;
  }
  const int64_t left = allocations_left.fetch_sub(1, std::memory_order_relaxed);
  return left > 1 || (left < 1 && !failure_lasts.load(std::memory_order_relaxed));
}

}  // namespace

// Replace those of the whole test program. Inlined, they look to the compiler as if they did not
// belong together.
[[gnu::noinline]] void* operator new(size_t byte_size) {
  void* const memory = MayAllocate() ? std::malloc(byte_size == 0 ? 1 : byte_size) : nullptr;
  return memory != nullptr ? memory : throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t byte_size, const std::nothrow_t& /*tag*/) noexcept {
  return MayAllocate() ? std::malloc(byte_size == 0 ? 1 : byte_size) : nullptr;
}
[[gnu::noinline]] void* operator new(size_t byte_size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  void* const memory =
      MayAllocate() ? std::aligned_alloc(align, (byte_size + align - 1) / align * align) : nullptr;
  return memory != nullptr ? memory : throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*byte_size*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*byte_size*/) noexcept {
  std::free(memory);
}

namespace nereid::test {

FailingAllocation::FailingAllocation(int64_t number, bool lasting) {
  allocations_left = number;
  failure_lasts = lasting;
  heap_fails = true;
}

FailingAllocation::~FailingAllocation() { heap_fails = false; }

bool FailingAllocation::happened() const { return allocations_left < 1; }

}  // namespace nereid::test
