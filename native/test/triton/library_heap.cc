// Lets allocations of libnereid.so and libtritonserver.so fail, for the tests of plug-ins.
#include <link.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "test/core/failing_heap.h"

extern "C" void* __libc_malloc(size_t byte_size);                 // NOLINT: glibc's names
extern "C" void* __libc_memalign(size_t alignment, size_t size);  // NOLINT

namespace {

using nereid::test::FailingAllocation;

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

int Note(dl_phdr_info* info, size_t /*size*/, void* ranges) {
  const std::string_view path = info->dlpi_name;
  const bool is_core = path.ends_with("/libnereid.so");
  if (is_core || path.ends_with("/libtritonserver.so")) {
    Range& range = (*static_cast<std::array<Range, 2>*>(ranges))[is_core ? 0 : 1];
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
        range.begin = info->dlpi_addr + segment.p_vaddr;
        range.end = range.begin + segment.p_memsz;
      }
    }
  }
  return 0;
}

bool MayAllocate(const void* caller) {
  if (!FailingAllocation::HeapFails()) {
    return true;
  }
  static const std::array<Range, 2> kLibraries = [] {
    std::array<Range, 2> ranges;
    dl_iterate_phdr(Note, &ranges);
    return ranges;
  }();
  const auto address = reinterpret_cast<uintptr_t>(caller);
  for (const Range& range : kLibraries) {
    if (address >= range.begin && address < range.end) {
      return FailingAllocation::MayAllocate();
    }
  }
  return true;
}

}  // namespace

// Replace the C library's functions for the whole process.
extern "C" void* malloc(size_t byte_size) {
  if (MayAllocate(__builtin_return_address(0))) {
    return __libc_malloc(byte_size);
  }
  errno = ENOMEM;
  return nullptr;
}

extern "C" void* aligned_alloc(size_t alignment, size_t byte_size) {
  if (MayAllocate(__builtin_return_address(0))) {
    return __libc_memalign(alignment, byte_size);
  }
  errno = ENOMEM;
  return nullptr;
}
