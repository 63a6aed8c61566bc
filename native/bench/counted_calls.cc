#include "counted_calls.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

constexpr size_t kPageBytes = 4096;

std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> copied_bytes{0};

void CountAllocation() { allocations.fetch_add(1, std::memory_order_relaxed); }

void CountCopy(size_t size) {
  if (size >= kPageBytes) {
    copied_bytes.fetch_add(size, std::memory_order_relaxed);
  }
}

}  // namespace

namespace nereid {

CallCounts CallsSoFar() { return {allocations.load(), copied_bytes.load()}; }

}  // namespace nereid

// glibc's own functions, under their other names.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  CountAllocation();
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  CountAllocation();
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  CountAllocation();
  return __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  CountAllocation();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory_out, size_t alignment, size_t size) {
  CountAllocation();
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) {
    return ENOMEM;
  }
  *memory_out = memory;
  return 0;
}

// Copies with one instruction, the same on every processor, so that the count does not depend on
// which variant the C library chooses.
void* memcpy(void* to, const void* from, size_t size) {
  CountCopy(size);
  void* to_left = to;
  asm volatile("rep movsb" : "+D"(to_left), "+S"(from), "+c"(size) : : "memory");
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  if (target <= source || target >= source + size) {
    return memcpy(to, from, size);
  }
  CountCopy(size);
  void* last_to = target + size - 1;
  const void* last_from = source + size - 1;
  asm volatile("std\n\trep movsb\n\tcld" : "+D"(last_to), "+S"(last_from), "+c"(size) : : "memory");
  return to;
}
}
