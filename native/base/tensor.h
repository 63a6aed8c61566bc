// Datatypes, shapes and the BYTES encoding: arithmetic that cannot overflow and checks of what a
// client sent. Nothing here allocates unless it fails.
#ifndef NEREID_BASE_TENSOR_H_
#define NEREID_BASE_TENSOR_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {

// True if a request gives this input, or wants this output.
inline bool IsSelected(const nrd_tensor& tensor) {
  return (tensor.flags & NRD_TENSOR_SELECTED) != 0;
}

// True if the tensor lies, or is wanted, in the memory of a device.
inline bool IsOnDevice(const nrd_tensor& tensor) { return (tensor.flags & NRD_TENSOR_DEVICE) != 0; }

// A tensor without memory, as a backend describes an output. A rank above NRD_MAX_RANK stays for
// the check to find.
inline nrd_tensor DescribedTensor(int32_t datatype, uint32_t rank, const int64_t* shape,
                                  uint64_t byte_size) {
  nrd_tensor tensor{};
  tensor.datatype = datatype;
  tensor.rank = rank;
  tensor.byte_size = byte_size;
  if (rank <= NRD_MAX_RANK && rank > 0) {
    std::memcpy(tensor.shape, shape, rank * sizeof(int64_t));
  }
  return tensor;
}

// Bytes of one element; 0 for BYTES, whose elements differ in size, and for other numbers.
uint64_t DataTypeByteSize(int32_t datatype);

// The protocol's name ("INT32", "FP32", "BYTES"); "INVALID" for other numbers.
std::string_view DataTypeName(int32_t datatype);

bool IsDataType(int32_t datatype);

// The product of the dimensions; 1 for rank 0. A zero dimension makes it 0 whatever the others are,
// because the tensor is empty then. INVALID_ARGUMENT for a rank above NRD_MAX_RANK, a negative
// dimension, or a product above 2^63 - 1. `what` names the tensor in the message ("input 'X' for
// model 'm'").
Status ElementCount(uint32_t rank, const int64_t* shape, uint64_t* count_out,
                    std::string_view what = "input");

// ElementCount times the element's size, at most 2^63 - 1. INVALID_ARGUMENT for BYTES too, whose
// size does not follow from the shape.
Status TensorByteSize(int32_t datatype, uint32_t rank, const int64_t* shape,
                      uint64_t* byte_size_out, std::string_view what = "input");

// The bytes of a row of a batch that has no request, beside this one that has: zeros, which for
// BYTES are empty strings.
uint64_t EmptyRowBytes(const nrd_tensor& row);

// "[-1,16]"
std::string ShapeToString(uint32_t rank, const int64_t* shape);

// The shape that requests must give: `spec.dims`, after -1 when the model has a batch dimension.
std::string SpecShapeToString(const nrd_tensor_spec& spec, bool has_batch_dimension);

// Checks that `data` holds exactly `element_count` elements, each a complete little-endian uint32
// length followed by that many bytes. `what` names the tensor in the message ("inference input 'X'
// for model 'm'").
Status ValidateBytes(const void* data, uint64_t byte_size, uint64_t element_count,
                     std::string_view what);

// Finds the byte where the element after the first `count` begins. False when `data` ends earlier;
// then nothing is written.
bool SkipBytesElements(const void* data, uint64_t byte_size, uint64_t count,
                       uint64_t* skipped_bytes_out);

}  // namespace nereid

#endif  // NEREID_BASE_TENSOR_H_
