#include "request.h"

#include "buffer_pool.h"
#include "status.h"

namespace nereid {

void DropTensors(nrd_tensor* tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (tensors[i].slab != nullptr) {
      BufferPool::Release(tensors[i].slab);
      tensors[i].slab = nullptr;
    }
    tensors[i].data = nullptr;
  }
}

void SetFailure(Request& request, int32_t code, std::string_view message) {
  request.record.status = code;
  WriteError(&request.error, code, message);
}

}  // namespace nereid
