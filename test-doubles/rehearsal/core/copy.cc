#include "copy.h"

#include <array>
#include <atomic>
#include <cstring>

#include "device.h"

namespace rehearsal {
namespace {

std::array<std::atomic<std::uint64_t>, 4> copied;  // by direction

bool IsOnDevice(const void* address) {
  return rehearsal::IsOnDevice(reinterpret_cast<Address>(address));
}

bool Fits(Direction direction, const void* to, const void* from) {
  if (direction == Direction::kAsAddressesTell) {
    return true;
  }
  const bool to_device =
      direction == Direction::kHostToDevice || direction == Direction::kDeviceToDevice;
  const bool from_device =
      direction == Direction::kDeviceToHost || direction == Direction::kDeviceToDevice;
  return IsOnDevice(to) == to_device && IsOnDevice(from) == from_device;
}

// Where the processor finds a range, be it a device's or its own; null: nowhere, which was told.
std::byte* Reachable(const void* address, std::uint64_t bytes, const char* call) {
  return IsOnDevice(address) ? Backing(address, bytes, call)
                             : static_cast<std::byte*>(const_cast<void*>(address));
}

Code Move(void* to, const void* from, std::uint64_t bytes, const char* call) {
  std::byte* const target = Reachable(to, bytes, call);
  const std::byte* const source = Reachable(from, bytes, call);
  if (target == nullptr || source == nullptr) {
    return Code::kIllegalAddress;
  }
  std::memmove(target, source, bytes);
  const int direction = (IsOnDevice(from) ? 2 : 0) + (IsOnDevice(to) ? 1 : 0);
  copied.at(static_cast<std::size_t>(direction)).fetch_add(bytes, std::memory_order_relaxed);
  return Code::kSuccess;
}

}  // namespace

Code Copy(const std::shared_ptr<Stream>& stream, void* to, const void* from, std::uint64_t bytes,
          Direction direction, const char* call) {
  if (bytes == 0) {
    return Code::kSuccess;
  }
  if (!Fits(direction, to, from) || Reachable(to, bytes, call) == nullptr ||
      Reachable(from, bytes, call) == nullptr) {
    return Code::kInvalidValue;
  }
  Work work;
  work.call = call;
  work.run = [=] { return Move(to, from, bytes, call); };
  if (!IsOnDevice(to)) {
    work.host = {to, bytes};
  } else if (!IsOnDevice(from)) {
    work.host = {from, bytes};
  }
  return Enqueue(stream, std::move(work));
}

Code CopyNow(const std::shared_ptr<Stream>& stream, void* to, const void* from, std::uint64_t bytes,
             Direction direction, const char* call) {
  const Code code = Copy(stream, to, from, bytes, direction, call);
  return code == Code::kSuccess ? Synchronize(*stream) : code;
}

std::uint64_t Copied(Direction direction) {
  return copied.at(static_cast<std::size_t>(direction)).load(std::memory_order_relaxed);
}

Code Fill(const std::shared_ptr<Stream>& stream, void* to, int value, std::uint64_t bytes,
          const char* call) {
  if (bytes == 0) {
    return Code::kSuccess;
  }
  if (Backing(to, bytes, call) == nullptr) {
    return Code::kInvalidValue;
  }
  Work work;
  work.call = call;
  work.run = [=] {
    std::byte* const target = Backing(to, bytes, call);
    if (target == nullptr) {
      return Code::kIllegalAddress;
    }
    std::memset(target, value, bytes);
    return Code::kSuccess;
  };
  return Enqueue(stream, std::move(work));
}

}  // namespace rehearsal
