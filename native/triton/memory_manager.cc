#include "triton/memory_manager.h"

#include <cstdlib>
#include <string>

#include "triton/core/tritonbackend.h"
#include "triton/errors.h"
#include "triton/host.h"

namespace nereid::triton {

namespace {

// No machine has a larger block.
constexpr uint64_t kMostBytes = uint64_t{1} << 39;

Status Unavailable(std::string_view what, uint64_t byte_size, std::string_view why) {
  return Status::Unavailable(std::to_string(byte_size) + " bytes of " + std::string(what) +
                             " cannot be allocated now: " + std::string(why));
}

// Allocates from the pool, which is pinned once there is a device.
Status AllocatePinned(uint64_t byte_size, void** out) {
  nrd_error error{sizeof(nrd_error), 0, 0, 0, {}};
  return nrd_buffer_alloc(TheHost().runtime, byte_size, out, &error) == NRD_OK
             ? Status()
             : Unavailable("pinned memory", byte_size, {error.message, error.message_size});
}

Status AllocateOnDevice(int64_t device, uint64_t byte_size, void** out) {
  const nrt_host& host = TheHost();
  if (host.device_allocate == nullptr) {
    return Status(NRD_UNIMPLEMENTED, "GPU memory allocation not supported");
  }
  nrd_error error{sizeof(nrd_error), 0, 0, 0, {}};
  const int32_t code =
      host.device_allocate(host.context, static_cast<int32_t>(device), byte_size, out, &error);
  return code == NRD_OK ? Status()
                        : Unavailable("memory of device " + std::to_string(device), byte_size,
                                      {error.message, error.message_size});
}

}  // namespace

bool PoolIsPinned() {
  nrd_pool_stats stats{};
  stats.struct_size = sizeof(stats);
  nrd_runtime_pool_stats(TheHost().runtime, &stats);
  return stats.locked_bytes > 0 && stats.locked_bytes == stats.reserved_bytes;
}

Status MemoryManager::Allocate(TRITONSERVER_MemoryType type, int64_t id, uint64_t byte_size,
                               void** out) {
  *out = nullptr;
  if (type == TRITONSERVER_MEMORY_GPU) {
    NRD_RETURN_IF_ERROR(AllocateOnDevice(id, byte_size, out));
  } else if (type == TRITONSERVER_MEMORY_CPU_PINNED) {
    NRD_RETURN_IF_ERROR(AllocatePinned(byte_size, out));
  } else if (type != TRITONSERVER_MEMORY_CPU) {
    return Status::InvalidArgument("there is no memory of type " + std::to_string(type));
  } else if (*out = byte_size > kMostBytes ? nullptr : std::malloc(byte_size > 0 ? byte_size : 1);
             *out == nullptr) {
    return Unavailable("memory", byte_size, "the process has no more");
  }
  owner_.Count(Kind::kMemory, 1);
  const MutexLock lock(mutex_);
  blocks_[*out] = {type, id};
  return Status();
}

Status MemoryManager::Free(void* block, TRITONSERVER_MemoryType type, int64_t id) {
  if (block == nullptr) {
    return Status();
  }
  {
    const MutexLock lock(mutex_);
    const auto found = blocks_.find(block);
    if (found == blocks_.end() || found->second.type != type || found->second.id != id) {
      return Status::InvalidArgument(owner_.name() + " frees memory of type " +
                                     TRITONSERVER_MemoryTypeString(type) + " and id " +
                                     std::to_string(id) + " that it does not have");
    }
    blocks_.erase(found);
  }
  owner_.Count(Kind::kMemory, -1);
  if (type == TRITONSERVER_MEMORY_GPU) {
    TheHost().device_free(TheHost().context, static_cast<int32_t>(id), block);
  } else if (type == TRITONSERVER_MEMORY_CPU_PINNED) {
    nrd_buffer_release(block);
  } else {
    std::free(block);
  }
  return Status();
}

}  // namespace nereid::triton

using nereid::triton::MemoryManager;
using nereid::triton::Serve;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager* manager,
                                                        void** buffer,
                                                        const TRITONSERVER_MemoryType type,
                                                        const int64_t id,
                                                        const uint64_t byte_size) {
  return Serve<MemoryManager>(NRT_SITE, manager, [&](MemoryManager& known) {
    return known.Allocate(type, id, byte_size, buffer);
  });
}

TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager* manager,
                                                    void* buffer,
                                                    const TRITONSERVER_MemoryType type,
                                                    const int64_t id) {
  return Serve<MemoryManager>(NRT_SITE, manager,
                              [&](MemoryManager& known) { return known.Free(buffer, type, id); });
}

}  // extern "C"
