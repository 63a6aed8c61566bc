// Converts tensors for ONNX Runtime: views of the core's memory, and strings as its objects.
#ifndef NEREID_ONNXRUNTIME_ORT_VALUES_H_
#define NEREID_ONNXRUNTIME_ORT_VALUES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "nereid/nereid.h"
#include "onnxruntime/ort_library.h"

namespace nereid {

// Views of one input's or output's buffers. Making a view costs as much as running a tiny node, and
// buffers are reused, so the last few views are kept. A view of a freed buffer is harmless: it is
// only used for a tensor with the same address and shape.
class OrtViewCache {
 public:
  OrtViewCache(const OrtLibrary& library, OrtElementType type) : library_(library), type_(type) {}

  // The view is valid until the next call.
  Status View(void* data, uint64_t byte_size, uint32_t rank, const int64_t* shape,
              const OrtValue** value_out);

 private:
  static constexpr uint32_t kEntryBits = 3;

  struct Entry {
    explicit Entry(const OrtLibrary& library) : value(nullptr, library.api().ReleaseValue) {}

    void* data = nullptr;
    uint32_t rank = 0;
    std::array<int64_t, NRD_MAX_RANK> shape{};
    OrtOwned<OrtValue> value;
  };

  const OrtLibrary& library_;
  const OrtElementType type_;
  std::vector<Entry> entries_;  // filled at the first use
};

// A string tensor with the elements of `tensor`, which is BYTES. Elements may hold any bytes.
Status MakeStringTensor(const OrtLibrary& library, const nrd_tensor& tensor,
                        OrtOwned<OrtValue>* value_out);

// Bytes that the `count` elements of a string tensor take as BYTES.
Status StringTensorByteSize(const OrtLibrary& library, const OrtValue* value, uint64_t count,
                            uint64_t* byte_size_out);

// Writes a string tensor as BYTES to `target`, which has the size from StringTensorByteSize.
// `offsets` is the caller's scratch memory.
Status WriteStringTensor(const OrtLibrary& library, const OrtValue* value, uint64_t count,
                         uint64_t byte_size, std::vector<size_t>* offsets, char* target);

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_VALUES_H_
