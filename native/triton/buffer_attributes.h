// Attributes of a buffer, such as size and place: behind TRITONSERVER_BufferAttributes.
#ifndef NEREID_TRITON_BUFFER_ATTRIBUTES_H_
#define NEREID_TRITON_BUFFER_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>

#include "triton/core/tritonserver.h"
#include "triton/handle.h"

namespace nereid::triton {

class BufferAttributes : public Handle {
 public:
  static constexpr Kind kKind = Kind::kBufferAttributes;

  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* cuda_ipc_handle = nullptr;
  size_t byte_size = 0;

  // `owner` deletes the attributes; null: they belong to another object.
  void OpenFor(Owner* owner) { Open(kKind, owner); }
  void End() { ClosePart(); }
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_BUFFER_ATTRIBUTES_H_
