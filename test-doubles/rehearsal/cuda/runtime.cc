// libcudart.so: errors and devices. Types of the CUDA runtime appear as what they are for a
// caller: cudaError_t as int, handles as void*.
#include "runtime.h"

namespace rehearsal::runtime {
namespace {

thread_local int last = 0;

}  // namespace

int Told(Code code) {
  if (code != Code::kSuccess) {
    last = static_cast<int>(code);
  }
  return static_cast<int>(code);
}

}  // namespace rehearsal::runtime

namespace runtime = rehearsal::runtime;
using rehearsal::Code;

REHEARSAL_API const char* cudaGetErrorName(int code) {
  const rehearsal::CodeText* const text = rehearsal::TextOf(code);
  return text == nullptr ? "unrecognized error code" : text->runtime_name;
}

REHEARSAL_API const char* cudaGetErrorString(int code) {
  const rehearsal::CodeText* const text = rehearsal::TextOf(code);
  return text == nullptr ? "unrecognized error code" : text->text;
}

REHEARSAL_API int cudaGetLastError() {
  const int code = runtime::last;
  // That of a broken device stays.
  runtime::last = static_cast<int>(rehearsal::Broken(rehearsal::CurrentDevice()));
  return code;
}

REHEARSAL_API int cudaGetDeviceCount(int* count) {
  *count = rehearsal::DeviceCount();
  return runtime::Call("cudaGetDeviceCount", [] { return Code::kSuccess; });
}

REHEARSAL_API int cudaSetDevice(int device) {
  return runtime::Call("cudaSetDevice", [&] { return rehearsal::SetDevice(device); });
}

REHEARSAL_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return runtime::Call("cudaDeviceGetStreamPriorityRange", [&] {
    *least = rehearsal::kLeastPriority;
    *greatest = rehearsal::kGreatestPriority;
    return Code::kSuccess;
  });
}
