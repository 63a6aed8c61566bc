// libcuda.so.1: memory of devices, of other processes and of the processor. A CUdeviceptr is a
// number, as in cuda.h.
#include "copy.h"
#include "driver.h"
#include "stream.h"

namespace driver = rehearsal::driver;
using rehearsal::Address;
using rehearsal::Code;
using rehearsal::Direction;

namespace {

using Copier = Code (*)(const std::shared_ptr<rehearsal::Stream>&, void*, const void*,
                        std::uint64_t, Direction, const char*);

int Copied(Copier copy, const char* call, void* to, const void* from, std::size_t bytes,
           Direction direction, void* stream) {
  return driver::CallInContext(call, [&] {
    const auto found = rehearsal::FindStream(stream, call);
    return found == nullptr ? Code::kInvalidHandle : copy(found, to, from, bytes, direction, call);
  });
}

void* Pointer(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace

// ---- Memory of devices --------------------------------------------------------------------------

REHEARSAL_API int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  return driver::CallInContext("cuMemAlloc_v2", [&] {
    const Code forbidden = rehearsal::ForbiddenInCapture();
    return forbidden != Code::kSuccess
               ? forbidden
               : rehearsal::Allocate(rehearsal::CurrentDevice(), bytes, "cuMemAlloc_v2", address);
  });
}

REHEARSAL_API int cuMemFree_v2(Address address) {
  return driver::EndInContext("cuMemFree_v2",
                              [&] { return rehearsal::Free(address, "cuMemFree_v2"); });
}

REHEARSAL_API int cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address address) {
  return driver::CallInContext("cuMemGetAddressRange_v2", [&] {
    rehearsal::Range range;
    if (!rehearsal::FindRange(address, &range)) {
      return Code::kInvalidValue;
    }
    if (base != nullptr) {
      *base = range.base;
    }
    if (bytes != nullptr) {
      *bytes = range.bytes;
    }
    return Code::kSuccess;
  });
}

REHEARSAL_API int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return Copied(rehearsal::CopyNow, "cuMemcpyHtoD_v2", Pointer(to), from, bytes,
                Direction::kHostToDevice, nullptr);
}

REHEARSAL_API int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  return Copied(rehearsal::CopyNow, "cuMemcpyDtoH_v2", to, Pointer(from), bytes,
                Direction::kDeviceToHost, nullptr);
}

REHEARSAL_API int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes,
                                       void* stream) {
  return Copied(rehearsal::Copy, "cuMemcpyHtoDAsync_v2", Pointer(to), from, bytes,
                Direction::kHostToDevice, stream);
}

REHEARSAL_API int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
  return Copied(rehearsal::Copy, "cuMemcpyDtoHAsync_v2", to, Pointer(from), bytes,
                Direction::kDeviceToHost, stream);
}

// ---- Memory of other processes ------------------------------------------------------------------

REHEARSAL_API int cuIpcGetMemHandle(rehearsal::IpcHandle* handle, Address address) {
  return driver::CallInContext("cuIpcGetMemHandle", [&] {
    return rehearsal::ExportIpc(address, "cuIpcGetMemHandle", handle);
  });
}

REHEARSAL_API int cuIpcOpenMemHandle_v2(Address* address, rehearsal::IpcHandle handle,
                                        unsigned flags) {
  return driver::CallInContext("cuIpcOpenMemHandle_v2", [&] {
    // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS is all that there is.
    return flags != 1 ? Code::kInvalidValue
                      : rehearsal::OpenIpc(rehearsal::CurrentDevice(), handle,
                                           "cuIpcOpenMemHandle_v2", address);
  });
}

REHEARSAL_API int cuIpcCloseMemHandle(Address address) {
  return driver::EndInContext("cuIpcCloseMemHandle",
                              [&] { return rehearsal::CloseIpc(address, "cuIpcCloseMemHandle"); });
}

// ---- Memory of the processor --------------------------------------------------------------------

REHEARSAL_API int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  return driver::CallInContext("cuMemHostRegister_v2", [&] {
    return rehearsal::LockPages(memory, bytes, "cuMemHostRegister_v2");
  });
}

REHEARSAL_API int cuMemHostUnregister(void* memory) {
  return driver::EndInContext(
      "cuMemHostUnregister", [&] { return rehearsal::UnlockPages(memory, "cuMemHostUnregister"); });
}
