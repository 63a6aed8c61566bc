// libcudart.so: memory.
#include "copy.h"
#include "runtime.h"

namespace runtime = rehearsal::runtime;
using rehearsal::Address;
using rehearsal::Code;
using rehearsal::Direction;

namespace {

Address AddressOf(void* memory) { return reinterpret_cast<Address>(memory); }

bool IsDirection(int kind) {
  return kind >= static_cast<int>(Direction::kHostToHost) &&
         kind <= static_cast<int>(Direction::kAsAddressesTell);
}

}  // namespace

// ---- Of devices ---------------------------------------------------------------------------------

REHEARSAL_API int cudaMalloc(void** memory, std::size_t bytes) {
  return runtime::CallUncaptured("cudaMalloc", [&] {
    Address address = 0;
    const Code code =
        bytes == 0 ? Code::kSuccess
                   : rehearsal::Allocate(rehearsal::CurrentDevice(), bytes, "cudaMalloc", &address);
    if (code == Code::kSuccess) {
      *memory = reinterpret_cast<void*>(address);
    }
    return code;
  });
}

REHEARSAL_API int cudaFree(void* memory) {
  return runtime::End("cudaFree", [&] {
    const Code forbidden = rehearsal::ForbiddenInCapture();
    if (forbidden != Code::kSuccess || memory == nullptr) {
      return forbidden;
    }
    return rehearsal::Free(AddressOf(memory), "cudaFree");
  });
}

REHEARSAL_API int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return runtime::Call("cudaMemGetInfo", [&] {
    const rehearsal::MemoryInfo info = rehearsal::MemoryOf(rehearsal::CurrentDevice());
    *free = info.free;
    *total = info.total;
    return Code::kSuccess;
  });
}

// ---- Of the processor ---------------------------------------------------------------------------

REHEARSAL_API int cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return runtime::CallUncaptured(
      "cudaHostAlloc", [&] { return rehearsal::AllocateHost(bytes, "cudaHostAlloc", memory); });
}

REHEARSAL_API int cudaFreeHost(void* memory) {
  return runtime::End("cudaFreeHost", [&] {
    return memory == nullptr ? Code::kSuccess : rehearsal::FreeHost(memory, "cudaFreeHost");
  });
}

// ---- Copies -------------------------------------------------------------------------------------

REHEARSAL_API int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return runtime::CallUncaptured("cudaMemcpy", [&] {
    return IsDirection(kind)
               ? rehearsal::CopyNow(rehearsal::FindStream(nullptr, "cudaMemcpy"), to, from, bytes,
                                    static_cast<Direction>(kind), "cudaMemcpy")
               : Code::kInvalidValue;
  });
}

REHEARSAL_API int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                  void* stream) {
  return runtime::CallOnStream("cudaMemcpyAsync", stream, [&](const auto& found) {
    return IsDirection(kind) ? rehearsal::Copy(found, to, from, bytes, static_cast<Direction>(kind),
                                               "cudaMemcpyAsync")
                             : Code::kInvalidValue;
  });
}

REHEARSAL_API int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return runtime::CallOnStream("cudaMemsetAsync", stream, [&](const auto& found) {
    return rehearsal::Fill(found, to, value, bytes, "cudaMemsetAsync");
  });
}
