#include <sys/uio.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "fixture.h"

namespace rehearsal {
namespace {

// Asks the kernel, which answers instead of ending the process.
bool IsReadable(const void* address) {
  char byte;
  iovec here{&byte, 1};
  iovec there{const_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "memory: the processor cannot reach it, its backing has the bytes") {
  const Memory memory(100);
  CHECK(IsOnDevice(memory.address));
  CHECK(memory.address % 512 == 0);
  CHECK_FALSE(IsReadable(memory.pointer()));
  std::byte* const backing = Backing(memory.address, 100, "test");
  REQUIRE(backing != nullptr);
  CHECK(IsReadable(backing));
  float poison;
  std::memcpy(&poison, backing, sizeof(poison));
  CHECK(std::isnan(poison));
  CHECK(Backing(memory.address + 40, 60, "test") == backing + 40);
}

TEST_CASE_FIXTURE(Fixture, "memory: a range that is not in one live allocation is a misuse") {
  Address freed;
  {
    const Memory memory(100);
    const Memory next(4096);
    freed = memory.address;
    CHECK(Backing(memory.address + 1, 100, "test") == nullptr);
    CHECK(Backing(memory.address, next.address - memory.address + 1, "test") == nullptr);
    CHECK(Backing(memory.address - 1, 1, "test") == nullptr);
  }
  CHECK(Backing(freed, 1, "test") == nullptr);
  CHECK(Backing(&freed, 1, "test") == nullptr);
  CHECK(TakeMisuses() == 5);
}

TEST_CASE_FIXTURE(Fixture, "memory: freed twice, or in the middle, is a misuse") {
  Address freed;
  {
    const Memory memory(4096);
    freed = memory.address;
    CHECK(Free(freed + 8, "test") == Code::kInvalidValue);
  }
  CHECK(Free(freed, "test") == Code::kInvalidValue);
  CHECK(TakeMisuses() == 2);
}

TEST_CASE_FIXTURE(Fixture, "memory: it runs out where it is said to, and comes back") {
  const std::uint64_t total = MemoryOf(0).total;
  LimitMemory(0, 1 << 20);
  {
    const Memory half(1 << 19);
    CHECK(MemoryOf(0).free == 1 << 19);
    Address address;
    CHECK(Allocate(0, (1 << 19) + 1, "test", &address) == Code::kOutOfMemory);
    CHECK(Allocate(0, ~std::uint64_t{0}, "test", &address) == Code::kOutOfMemory);
  }
  CHECK(MemoryOf(0).free == 1 << 20);
  CHECK(MemoryOf(1).total == total);
  LimitMemory(0, total);
}

TEST_CASE_FIXTURE(Fixture, "memory: each device has its own") {
  REQUIRE(DeviceCount() == 2);
  Address address;
  REQUIRE(Allocate(1, 512, "test", &address) == Code::kSuccess);
  Range range;
  REQUIRE(FindRange(address + 511, &range));
  CHECK(range.base == address);
  CHECK(range.bytes == 512);
  CHECK(range.device == 1);
  CHECK_FALSE(FindRange(address + 512, &range));
  CHECK(MemoryOf(0).free == MemoryOf(0).total);
  CHECK(MemoryOf(1).free < MemoryOf(1).total);
  CHECK(Free(address, "test") == Code::kSuccess);
}

TEST_CASE_FIXTURE(Fixture, "page locks: what overlaps is refused, what is unlocked can be locked") {
  std::vector<char> memory(8192);
  REQUIRE(LockPages(memory.data(), 4096, "test") == Code::kSuccess);
  CHECK(LockPages(memory.data() + 4095, 10, "test") == Code::kHostAlreadyRegistered);
  CHECK(LockPages(memory.data() + 4096, 10, "test") == Code::kSuccess);
  CHECK(UnlockPages(memory.data() + 4096, "test") == Code::kSuccess);
  CHECK(UnlockPages(memory.data(), "test") == Code::kSuccess);
  CHECK(UnlockPages(memory.data(), "test") == Code::kHostNotRegistered);
  CHECK(TakeMisuses() == 1);
}

TEST_CASE_FIXTURE(Fixture, "page locks: memory that a copy still needs is a misuse to give back") {
  const Memory memory(64);
  const TestStream stream;
  void* host;
  REQUIRE(AllocateHost(64, "test", &host) == Code::kSuccess);
  CHECK(Copy(stream.stream(), memory.pointer(), host, 64, Direction::kHostToDevice, "test") ==
        Code::kSuccess);
  CHECK(FreeHost(host, "test") == Code::kSuccess);
  CHECK(TakeMisuses() == 1);
}

}  // namespace rehearsal
