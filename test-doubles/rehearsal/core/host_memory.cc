#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "device.h"
#include "handles.h"
#include "stream.h"

namespace rehearsal {
namespace {

constexpr const char* kAllocated = "page-locked memory";
constexpr const char* kRegistered = "page lock";

// For the life of the process.
struct HostMemory {
  std::mutex mutex;
  std::map<std::uintptr_t, std::uint64_t> locked;  // bytes by address

  bool Overlaps(std::uintptr_t begin, std::uint64_t bytes) const {
    const auto after = locked.lower_bound(begin + bytes);
    if (after == locked.begin()) {
      return false;
    }
    const auto& [address, size] = *std::prev(after);
    return address + size > begin;
  }
};

HostMemory& TheHostMemory() {
  static HostMemory* const memory = new HostMemory();
  return *memory;
}

// Takes memory out of the table once nothing uses it; 0: it was not there, which was told.
std::uint64_t Remove(void* memory, const char* kind, const char* call) {
  if (!handles::Close(memory, kind, call)) {
    return 0;
  }
  HostMemory& host = TheHostMemory();
  std::uint64_t bytes = 0;
  {
    const std::lock_guard lock(host.mutex);
    const auto found = host.locked.find(reinterpret_cast<std::uintptr_t>(memory));
    bytes = found->second;
    host.locked.erase(found);
  }
  if (IsInUse(memory, bytes)) {
    handles::Misuse(std::string(call) + " took memory that work in a stream still uses");
    for (int device = 0; device < DeviceCount(); ++device) {
      Drain(device);
    }
  }
  return bytes;
}

}  // namespace

Code AllocateHost(std::uint64_t bytes, const char* call, void** memory) {
  void* const mapped =
      bytes == 0 ? MAP_FAILED
                 : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return Code::kOutOfMemory;
  }
  HostMemory& host = TheHostMemory();
  const std::lock_guard lock(host.mutex);
  host.locked.emplace(reinterpret_cast<std::uintptr_t>(mapped), bytes);
  handles::Open(mapped, kAllocated, call);
  *memory = mapped;
  return Code::kSuccess;
}

Code FreeHost(void* memory, const char* call) {
  const std::uint64_t bytes = Remove(memory, kAllocated, call);
  if (bytes == 0) {
    return Code::kInvalidValue;
  }
  munmap(memory, bytes);
  return Code::kSuccess;
}

Code LockPages(void* memory, std::uint64_t bytes, const char* call) {
  if (memory == nullptr || bytes == 0) {
    return Code::kInvalidValue;
  }
  HostMemory& host = TheHostMemory();
  const std::lock_guard lock(host.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (host.Overlaps(address, bytes)) {
    return Code::kHostAlreadyRegistered;
  }
  host.locked.emplace(address, bytes);
  handles::Open(memory, kRegistered, call);
  return Code::kSuccess;
}

Code UnlockPages(void* memory, const char* call) {
  return Remove(memory, kRegistered, call) == 0 ? Code::kHostNotRegistered : Code::kSuccess;
}

}  // namespace rehearsal
