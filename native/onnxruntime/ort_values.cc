#include "onnxruntime/ort_values.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/tensor.h"

namespace nereid {
namespace {

constexpr uint64_t kLengthBytes = sizeof(uint32_t);  // in front of each element of BYTES

Status Malformed() { return Status::InvalidArgument("a BYTES tensor ends inside an element"); }

Status FillStrings(const OrtLibrary& library, const nrd_tensor& tensor, uint64_t count,
                   OrtValue* value) {
  const char* at = static_cast<const char*>(tensor.data);
  const char* const end = at + tensor.byte_size;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    if (static_cast<uint64_t>(end - at) < kLengthBytes) {
      return Malformed();
    }
    std::memcpy(&size, at, kLengthBytes);
    at += kLengthBytes;
    if (static_cast<uint64_t>(end - at) < size) {
      return Malformed();
    }
    char* text = nullptr;
    NRD_RETURN_IF_ERROR(library.Check(
        library.api().GetResizedStringTensorElementBuffer(value, i, size, &text), "string tensor"));
    std::copy_n(at, size, text);
    at += size;
  }
  return Status();
}

}  // namespace

Status OrtViewCache::View(void* data, uint64_t byte_size, uint32_t rank, const int64_t* shape,
                          const OrtValue** value_out) {
  if (entries_.empty()) {
    entries_.reserve(1U << kEntryBits);
    for (uint32_t i = 0; i < 1U << kEntryBits; ++i) {
      entries_.emplace_back(library_);
    }
  }
  // Fibonacci hashing: addresses of buffers mostly differ in their middle bits.
  const uint64_t hash = reinterpret_cast<uintptr_t>(data) * 0x9E3779B97F4A7C15U;
  Entry& entry = entries_[hash >> (64U - kEntryBits)];
  if (entry.value == nullptr || entry.data != data || entry.rank != rank ||
      !std::equal(shape, shape + rank, entry.shape.begin())) {
    OrtValue* value = nullptr;
    NRD_RETURN_IF_ERROR(
        library_.Check(library_.api().CreateTensorWithDataAsOrtValue(
                           library_.cpu_memory(), data, byte_size, shape, rank, type_, &value),
                       "tensor"));
    entry.value.reset(value);
    entry.data = data;
    entry.rank = rank;
    std::copy_n(shape, rank, entry.shape.begin());
  }
  *value_out = entry.value.get();
  return Status();
}

Status MakeStringTensor(const OrtLibrary& library, const nrd_tensor& tensor,
                        OrtOwned<OrtValue>* value_out) {
  uint64_t count = 0;
  NRD_RETURN_IF_ERROR(ElementCount(tensor.rank, tensor.shape, &count));
  OrtValue* value = nullptr;
  NRD_RETURN_IF_ERROR(library.Check(
      library.api().CreateTensorAsOrtValue(library.allocator(), tensor.shape, tensor.rank,
                                           OrtElementType::kString, &value),
      "string tensor"));
  value_out->reset(value);
  return FillStrings(library, tensor, count, value);
}

Status StringTensorByteSize(const OrtLibrary& library, const OrtValue* value, uint64_t count,
                            uint64_t* byte_size_out) {
  size_t text_bytes = 0;
  NRD_RETURN_IF_ERROR(
      library.Check(library.api().GetStringTensorDataLength(value, &text_bytes), "string tensor"));
  *byte_size_out = text_bytes + count * kLengthBytes;
  return Status();
}

Status WriteStringTensor(const OrtLibrary& library, const OrtValue* value, uint64_t count,
                         uint64_t byte_size, std::vector<size_t>* offsets, char* target) {
  if (count == 0) {
    return Status();
  }
  // The library writes all texts one after another: into the end of the target, from where each
  // moves forward behind its length. No move overwrites a later text, because element i ends at or
  // before the begin of the text of element i + 1.
  char* const texts = target + count * kLengthBytes;
  const uint64_t text_bytes = byte_size - count * kLengthBytes;
  offsets->resize(count);
  NRD_RETURN_IF_ERROR(library.Check(
      library.api().GetStringTensorContent(value, texts, text_bytes, offsets->data(), count),
      "string tensor"));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = (*offsets)[i];
    const uint64_t end = i + 1 < count ? (*offsets)[i + 1] : text_bytes;
    if (end - begin > std::numeric_limits<uint32_t>::max()) {
      return Status::Internal("a string of the output is longer than BYTES can say");
    }
    const auto size = static_cast<uint32_t>(end - begin);
    std::memmove(target + kLengthBytes, texts + begin, size);
    std::memcpy(target, &size, kLengthBytes);
    target += kLengthBytes + size;
  }
  return Status();
}

}  // namespace nereid
