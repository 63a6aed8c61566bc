// Tells AddressSanitizer, which sees the pool as a few big mappings, which bytes are in use.
// Without it these functions are empty.
#ifndef NEREID_MEMORY_MEMORY_MARKS_H_
#define NEREID_MEMORY_MEMORY_MARKS_H_

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace nereid {

inline void MarkUsable([[maybe_unused]] void* memory, [[maybe_unused]] uint64_t byte_size) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(memory, byte_size);
#endif
}

inline void MarkUnusable([[maybe_unused]] void* memory, [[maybe_unused]] uint64_t byte_size) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(memory, byte_size);
#endif
}

}  // namespace nereid

#endif  // NEREID_MEMORY_MEMORY_MARKS_H_
