#include "triton/buffer_attributes.h"

#include "triton/errors.h"

using nereid::triton::BufferAttributes;
using nereid::triton::Serve;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(TRITONSERVER_BufferAttributes** attributes) {
  return Serve(NRT_SITE, [&] {
    auto* const made = new BufferAttributes;
    made->OpenFor(&nereid::triton::Owner::Current());
    *attributes = nereid::triton::Give<TRITONSERVER_BufferAttributes>(made);
  });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(TRITONSERVER_BufferAttributes* attributes) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [](BufferAttributes& known) { delete &known; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryTypeId(
    TRITONSERVER_BufferAttributes* attributes, int64_t id) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { known.id = id; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryType(
    TRITONSERVER_BufferAttributes* attributes, TRITONSERVER_MemoryType type) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { known.type = type; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    TRITONSERVER_BufferAttributes* attributes, void* handle) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { known.cuda_ipc_handle = handle; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* attributes, size_t byte_size) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { known.byte_size = byte_size; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* attributes, int64_t* id) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { *id = known.id; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    TRITONSERVER_BufferAttributes* attributes, TRITONSERVER_MemoryType* type) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { *type = known.type; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* attributes, void** handle) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { *handle = known.cuda_ipc_handle; });
}

TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(TRITONSERVER_BufferAttributes* attributes,
                                                          size_t* byte_size) {
  return Serve<BufferAttributes>(NRT_SITE, attributes,
                                 [&](BufferAttributes& known) { *byte_size = known.byte_size; });
}

}  // extern "C"
