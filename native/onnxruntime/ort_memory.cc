#include "onnxruntime/ort_memory.h"

#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace nereid {
namespace {

uint64_t Number(const char* text) {
  uint64_t value = 0;
  if (text != nullptr) {
    std::from_chars(text, text + std::strlen(text), value);  // 0 if it is no number
  }
  return value;
}

}  // namespace

OrtMemory::OrtMemory(const OrtLibrary& library)
    : library_(library), allocator_(nullptr, library.api().ReleaseAllocator) {}

void OrtMemory::Open(const OrtSession* session, const std::string& model_path) {
  const OrtFunctions& api = library_.api();
  OrtAllocator* allocator = nullptr;
  if (api.AllocatorGetStats != nullptr &&
      library_.Check(api.CreateAllocator(session, library_.cpu_memory(), &allocator), "memory")
          .ok()) {
    allocator_.reset(allocator);
    loaded_bytes_ = ReadCounts().used_bytes;
  }
  std::error_code error;
  const uintmax_t file_bytes = std::filesystem::file_size(model_path, error);
  weight_bytes_ = std::max<uint64_t>(loaded_bytes_, error ? 0 : file_bytes);
}

void OrtMemory::Read(uint64_t* weight_bytes_out, uint64_t* working_bytes_out) const {
  const uint64_t reserved_bytes = allocator_ == nullptr ? 0 : ReadCounts().reserved_bytes;
  *weight_bytes_out = weight_bytes_;
  *working_bytes_out = reserved_bytes > loaded_bytes_ ? reserved_bytes - loaded_bytes_ : 0;
}

OrtMemory::Counts OrtMemory::ReadCounts() const {
  const OrtFunctions& api = library_.api();
  OrtKeyValuePairs* pairs = nullptr;
  if (OrtStatus* const failure = api.AllocatorGetStats(allocator_.get(), &pairs)) {
    api.ReleaseStatus(failure);
    return {};
  }
  const OrtOwned<OrtKeyValuePairs> owned(pairs, api.ReleaseKeyValuePairs);
  return {.used_bytes = Number(api.GetKeyValue(pairs, "InUse")),
          .reserved_bytes = Number(api.GetKeyValue(pairs, "TotalAllocated"))};
}

void GiveBackFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace nereid
