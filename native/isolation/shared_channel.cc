#include "isolation/shared_channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace nereid {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kControlBytes = (sizeof(ChannelControl) + kPageBytes - 1) & ~(kPageBytes - 1);

Status Failed(const std::string& what) {
  return Status(NRD_RESOURCE_EXHAUSTED, what + " for an isolated model: " + std::strerror(errno));
}

Status MapPart(int descriptor, uint64_t offset, uint64_t byte_size, int protection,
               void** memory_out) {
  void* const memory = mmap(nullptr, byte_size, protection, MAP_SHARED | MAP_NORESERVE, descriptor,
                            static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    return Failed("cannot map " + std::to_string(byte_size) + " bytes of shared memory");
  }
  *memory_out = memory;
  return Status();
}

}  // namespace

Status SharedChannel::Create(uint64_t area_bytes, std::unique_ptr<SharedChannel>* channel_out) {
  const int descriptor = memfd_create("nereid-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) {
    return Failed("cannot make shared memory");
  }
  std::unique_ptr<SharedChannel> channel(new SharedChannel(descriptor, area_bytes));
  if (ftruncate(descriptor, static_cast<off_t>(kControlBytes + 2 * area_bytes)) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return Failed("cannot size shared memory");
  }
  NRD_RETURN_IF_ERROR(channel->MapAll(PROT_READ | PROT_WRITE, PROT_READ));
  *channel_out = std::move(channel);
  return Status();
}

Status SharedChannel::Map(int descriptor, uint64_t area_bytes,
                          std::unique_ptr<SharedChannel>* channel_out) {
  std::unique_ptr<SharedChannel> channel(new SharedChannel(descriptor, area_bytes));
  NRD_RETURN_IF_ERROR(channel->MapAll(PROT_READ, PROT_READ | PROT_WRITE));
  *channel_out = std::move(channel);
  return Status();
}

Status SharedChannel::MapAll(int inputs_protection, int outputs_protection) {
  NRD_RETURN_IF_ERROR(MapPart(descriptor_, 0, kControlBytes, PROT_READ | PROT_WRITE, &control_));
  NRD_RETURN_IF_ERROR(
      MapPart(descriptor_, kControlBytes, area_bytes_, inputs_protection, &inputs_));
  return MapPart(descriptor_, kControlBytes + area_bytes_, area_bytes_, outputs_protection,
                 &outputs_);
}

SharedChannel::~SharedChannel() {
  if (outputs_ != nullptr) {
    munmap(outputs_, area_bytes_);
  }
  if (inputs_ != nullptr) {
    munmap(inputs_, area_bytes_);
  }
  if (control_ != nullptr) {
    munmap(control_, kControlBytes);
  }
  close(descriptor_);
}

}  // namespace nereid
