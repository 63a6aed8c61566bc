#include "test/core/failing_heap.h"

#include <cstdlib>
#include <new>

namespace {

bool MayAllocate() { return nereid::test::FailingAllocation::MayAllocate(); }

}  // namespace

// These replace the operators of the whole test program. If inlined, the compiler would think that
// they mismatch.
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
