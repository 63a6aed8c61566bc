#ifndef NEREID_TRITON_MEMORY_MANAGER_H_
#define NEREID_TRITON_MEMORY_MANAGER_H_

#include <cstdint>
#include <unordered_map>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"

namespace nereid::triton {

// True if the pool's memory is locked, so that a device can access it directly.
bool PoolIsPinned();

// Memory that backends take from the server: behind TRITONBACKEND_MemoryManager. Belongs to a
// backend. Knows each block, so that a foreign pointer is not freed.
class MemoryManager : public Handle {
 public:
  static constexpr Kind kKind = Kind::kMemoryManager;

  explicit MemoryManager(Owner& owner) : owner_(owner) { Open(kKind, nullptr); }

  // NRD_UNIMPLEMENTED: no such memory exists; NRD_UNAVAILABLE: too little of it is free.
  Status Allocate(TRITONSERVER_MemoryType type, int64_t id, uint64_t byte_size, void** out);
  Status Free(void* block, TRITONSERVER_MemoryType type, int64_t id);

 private:
  struct Block {
    TRITONSERVER_MemoryType type;
    int64_t id;
  };

  Owner& owner_;
  Mutex mutex_;
  std::unordered_map<void*, Block> blocks_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_MEMORY_MANAGER_H_
