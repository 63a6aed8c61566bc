#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "device.h"
#include "handles.h"
#include "stream.h"

namespace rehearsal {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kAddressesOfDevice = 256 * kGiB;
constexpr std::uint64_t kMemoryOfDevice = 8 * kGiB;  // unless said; takes only what is written
constexpr std::uint64_t kPage = 4096;
// So much of what is allocated has bytes that make no sense: NaN, or -1.
constexpr std::uint64_t kPoisoned = std::uint64_t{1} << 20;
constexpr int kPoison = 0xff;

constexpr const char* kOwn = "device memory";
constexpr const char* kOfOthers = "device memory of another process";

struct Allocation {
  std::uint64_t bytes;
  int device;
  int file;
  std::byte* backing;
  int opened = 0;  // how often, for memory of another process
  ino_t inode;     // of the file, which nothing else in this system has
};

struct Device {
  Address next;  // from here on nothing was given out
  Address end;
  std::uint64_t used = 0;
  std::uint64_t total;
};

// For the life of the process: threads of streams come here until its end.
struct Memory {
  std::mutex mutex;
  Address begin = 0;
  Address end = 0;
  std::vector<Device> devices;
  std::map<Address, Allocation> live;

  Memory();
  std::map<Address, Allocation>::iterator Find(Address address);
};

std::uint64_t RoundedToPage(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint64_t TotalOf(int device) {
  const char* const text = std::getenv("REHEARSAL_MEMORY");
  if (text == nullptr) {
    return kMemoryOfDevice;
  }
  std::istringstream all(text);
  std::string number;
  for (int i = 0; i <= device && std::getline(all, number, ','); ++i) {
  }
  return std::strtoull(number.c_str(), nullptr, 10);
}

Memory::Memory() {
  const auto count = static_cast<std::uint64_t>(DeviceCount());
  if (count == 0) {
    return;
  }
  void* const reserved = mmap(nullptr, count * kAddressesOfDevice, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    std::perror("rehearsal: no addresses for the memory of devices");
    std::_Exit(2);
  }
  begin = reinterpret_cast<Address>(reserved);
  end = begin + count * kAddressesOfDevice;
  for (int device = 0; device < DeviceCount(); ++device) {
    const Address first = begin + static_cast<std::uint64_t>(device) * kAddressesOfDevice;
    devices.push_back({first, first + kAddressesOfDevice, 0, TotalOf(device)});
  }
}

Memory& TheMemory() {
  static Memory* const memory = new Memory();
  return *memory;
}

// The live allocation that begins at or before the address and may hold it.
std::map<Address, Allocation>::iterator Memory::Find(Address address) {
  auto found = live.upper_bound(address);
  if (found == live.begin()) {
    return live.end();
  }
  --found;
  // One byte past its end still belongs to an empty range there.
  return address - found->first <= found->second.bytes ? found : live.end();
}

const void* HandleOf(Address address) { return reinterpret_cast<const void*>(address); }

// Maps the bytes and takes addresses for them; the file belongs to the allocation from here on.
Code Map(Memory& memory, int device, int file, std::uint64_t bytes, Address* address,
         Allocation* allocation) {
  Device& owner = memory.devices[static_cast<std::size_t>(device)];
  const std::uint64_t mapped = RoundedToPage(bytes);
  if (mapped + kPage > owner.end - owner.next) {
    close(file);
    return Code::kOutOfMemory;
  }
  struct stat status;
  void* const backing = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (backing == MAP_FAILED || fstat(file, &status) != 0) {
    close(file);
    return Code::kOutOfMemory;
  }
  *address = owner.next;
  owner.next += mapped + kPage;
  *allocation = {bytes, device, file, static_cast<std::byte*>(backing), 0, status.st_ino};
  return Code::kSuccess;
}

void Unmap(const Allocation& allocation) {
  munmap(allocation.backing, RoundedToPage(allocation.bytes));
  close(allocation.file);
}

// What names memory to other processes, in the first of the 64 bytes of a handle.
struct IpcName {
  std::uint64_t mark;
  std::uint64_t bytes;
  std::uint64_t inode;
  std::int32_t process;
  std::int32_t file;
  std::int32_t device;
};
static_assert(sizeof(IpcName) <= sizeof(IpcHandle));
constexpr std::uint64_t kMark = 0x6c61737261656872;

// The file that a handle names; -1: it is not there, or not any more.
int OpenFile(const IpcName& name) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", name.process, name.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (file >= 0 && (fstat(file, &status) != 0 || status.st_ino != name.inode ||
                    static_cast<std::uint64_t>(status.st_size) < name.bytes)) {
    close(file);
    return -1;
  }
  return file;
}

}  // namespace

MemoryInfo MemoryOf(int device) {
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  const Device& owner = memory.devices[static_cast<std::size_t>(device)];
  return {owner.total > owner.used ? owner.total - owner.used : 0, owner.total};
}

void LimitMemory(int device, std::uint64_t bytes) {
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  memory.devices[static_cast<std::size_t>(device)].total = bytes;
}

Code Allocate(int device, std::uint64_t bytes, const char* call, Address* address) {
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  Device& owner = memory.devices[static_cast<std::size_t>(device)];
  if (bytes == 0) {
    return Code::kInvalidValue;
  }
  const std::uint64_t taken = RoundedToPage(bytes);
  if (taken < bytes || owner.used + taken > owner.total || owner.used + taken < taken) {
    return Code::kOutOfMemory;
  }
  const int file = memfd_create("rehearsal", MFD_CLOEXEC);
  if (file < 0) {
    return Code::kOutOfMemory;
  }
  if (ftruncate(file, static_cast<off_t>(taken)) != 0) {
    close(file);
    return Code::kOutOfMemory;
  }
  Allocation allocation;
  const Code code = Map(memory, device, file, bytes, address, &allocation);
  if (code != Code::kSuccess) {
    return code;
  }
  std::memset(allocation.backing, kPoison, std::min(bytes, kPoisoned));
  owner.used += taken;
  memory.live.emplace(*address, allocation);
  handles::Open(HandleOf(*address), kOwn, call);
  return Code::kSuccess;
}

Code Free(Address address, const char* call) {
  Range range;
  if (FindRange(address, &range)) {
    Drain(range.device);
  }
  if (!handles::Close(HandleOf(address), kOwn, call)) {
    return Code::kInvalidValue;
  }
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  const auto found = memory.live.find(address);
  memory.devices[static_cast<std::size_t>(found->second.device)].used -=
      RoundedToPage(found->second.bytes);
  Unmap(found->second);
  memory.live.erase(found);
  return Code::kSuccess;
}

std::byte* Backing(Address address, std::uint64_t bytes, const char* call) {
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  const auto found = memory.Find(address);
  if (found != memory.live.end() && bytes <= found->second.bytes - (address - found->first)) {
    return found->second.backing + (address - found->first);
  }
  char text[256];
  std::snprintf(text, sizeof(text),
                "%s used %" PRIu64 " bytes at 0x%" PRIx64 ", which do not lie in memory that is %s",
                call, bytes, address,
                address < memory.begin || address >= memory.end ? "a device's" : "allocated");
  handles::Misuse(text);
  return nullptr;
}

std::byte* Backing(const void* address, std::uint64_t bytes, const char* call) {
  return Backing(reinterpret_cast<Address>(address), bytes, call);
}

bool IsOnDevice(Address address) {
  const Memory& memory = TheMemory();
  return address >= memory.begin && address < memory.end;
}

bool FindRange(Address address, Range* range) {
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  const auto found = memory.Find(address);
  if (found == memory.live.end() || address - found->first == found->second.bytes) {
    return false;
  }
  *range = {found->first, found->second.bytes, found->second.device};
  return true;
}

// ---- Memory that processes share ----------------------------------------------------------------

Code ExportIpc(Address address, const char* call, IpcHandle* handle) {
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  const auto found = memory.Find(address);
  if (found == memory.live.end() || found->second.opened > 0) {
    handles::Misuse(std::string(call) + " got an address that is not in memory of this process");
    return Code::kInvalidValue;
  }
  const Allocation& allocation = found->second;
  const IpcName name{kMark,    allocation.bytes, allocation.inode,
                     getpid(), allocation.file,  allocation.device};
  *handle = {};
  std::memcpy(handle->bytes, &name, sizeof(name));
  return Code::kSuccess;
}

Code OpenIpc(int device, const IpcHandle& handle, const char* call, Address* address) {
  IpcName name;
  std::memcpy(&name, handle.bytes, sizeof(name));
  if (name.mark != kMark) {
    return Code::kInvalidValue;
  }
  if (name.process == getpid()) {
    return Code::kInvalidContext;
  }
  if (name.device != device) {
    return Code::kMapFailed;
  }
  Memory& memory = TheMemory();
  const std::lock_guard lock(memory.mutex);
  for (auto& [open, allocation] : memory.live) {
    if (allocation.opened > 0 && allocation.inode == name.inode) {
      ++allocation.opened;
      *address = open;
      return Code::kSuccess;
    }
  }
  const int file = OpenFile(name);
  if (file < 0) {
    return Code::kInvalidHandle;
  }
  Allocation allocation;
  const Code code = Map(memory, device, file, name.bytes, address, &allocation);
  if (code == Code::kSuccess) {
    allocation.opened = 1;
    memory.live.emplace(*address, allocation);
    handles::Open(HandleOf(*address), kOfOthers, call);
  }
  return code;
}

Code CloseIpc(Address address, const char* call) {
  if (!handles::Check(HandleOf(address), kOfOthers, call)) {
    return Code::kInvalidValue;
  }
  Memory& memory = TheMemory();
  Allocation closed;
  {
    const std::lock_guard lock(memory.mutex);
    const auto found = memory.live.find(address);
    if (found == memory.live.end() || --found->second.opened > 0) {
      return Code::kSuccess;
    }
    handles::Close(HandleOf(address), kOfOthers, call);
    closed = found->second;
    memory.live.erase(found);
  }
  // Unlike Free this does not wait for what is in streams: work that comes later finds nothing.
  AwaitRunning(closed.device);
  Unmap(closed);
  return Code::kSuccess;
}

}  // namespace rehearsal
