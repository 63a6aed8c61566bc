#include "base/tensor.h"

#include <cstring>
#include <iterator>

namespace nereid {
namespace {

struct DataTypeInfo {
  std::string_view name;
  uint64_t byte_size;
};

// NRD_TYPE_* is the index.
constexpr DataTypeInfo kDataTypes[] = {
    {"INVALID", 0}, {"BOOL", 1}, {"UINT8", 1}, {"UINT16", 2}, {"UINT32", 4},
    {"UINT64", 8},  {"INT8", 1}, {"INT16", 2}, {"INT32", 4},  {"INT64", 8},
    {"FP16", 2},    {"FP32", 4}, {"FP64", 8},  {"BYTES", 0},  {"BF16", 2},
};
constexpr int32_t kDataTypeCount = static_cast<int32_t>(std::size(kDataTypes));
static_assert(kDataTypeCount == NRD_TYPE_BF16 + 1);

constexpr uint64_t kMaxCount = static_cast<uint64_t>(INT64_MAX);
constexpr uint64_t kLengthBytes = 4;

const DataTypeInfo& InfoOf(int32_t datatype) {
  return kDataTypes[IsDataType(datatype) ? datatype : NRD_TYPE_INVALID];
}

uint32_t ReadLength(const uint8_t* at) {
  uint32_t length;
  std::memcpy(&length, at, sizeof(length));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  length = __builtin_bswap32(length);
#endif
  return length;
}

// Walks up to `count` elements from `offset` on, stops in front of the first that is incomplete,
// and returns how many it walked.
uint64_t WalkElements(const uint8_t* data, uint64_t byte_size, uint64_t count, uint64_t* offset) {
  uint64_t walked = 0;
  uint64_t at = *offset;
  while (walked < count && byte_size - at >= kLengthBytes) {
    const uint64_t length = ReadLength(data + at);
    if (length > byte_size - at - kLengthBytes) {
      break;
    }
    at += kLengthBytes + length;
    ++walked;
  }
  *offset = at;
  return walked;
}

std::string Joined(std::string_view first, std::string_view second) {
  return std::string(first).append(second);
}

Status CheckRank(uint32_t rank, std::string_view what) {
  if (rank > NRD_MAX_RANK) [[unlikely]] {
    return Status::InvalidArgument(Joined(what, " has ") + std::to_string(rank) +
                                   " dimensions, at most " + std::to_string(NRD_MAX_RANK) +
                                   " are supported");
  }
  return Status();
}

// The first thing wrong behind `walked` complete elements, which end at `offset`.
Status DescribeBadBytes(const uint8_t* data, uint64_t byte_size, uint64_t element_count,
                        uint64_t walked, uint64_t offset, std::string_view what) {
  const uint64_t left = byte_size - offset;
  if (left == 0) {
    return Status::InvalidArgument("expected " + std::to_string(element_count) +
                                   Joined(" string elements for ", what) + ", got " +
                                   std::to_string(walked));
  }
  if (left < kLengthBytes) {
    return Status::InvalidArgument(Joined("incomplete string length indicator for ", what) +
                                   ", expecting 4 bytes but only " + std::to_string(left) +
                                   " bytes available");
  }
  if (walked == element_count) {
    return Status::InvalidArgument("unexpected number of string elements " +
                                   std::to_string(walked + 1) + Joined(" for ", what) +
                                   ", expecting " + std::to_string(element_count));
  }
  return Status::InvalidArgument(Joined("incomplete string data for ", what) +
                                 ", expecting string of length " +
                                 std::to_string(ReadLength(data + offset)) + " but only " +
                                 std::to_string(left - kLengthBytes) + " bytes available");
}

}  // namespace

uint64_t DataTypeByteSize(int32_t datatype) { return InfoOf(datatype).byte_size; }

std::string_view DataTypeName(int32_t datatype) { return InfoOf(datatype).name; }

bool IsDataType(int32_t datatype) {
  return datatype > NRD_TYPE_INVALID && datatype < kDataTypeCount;
}

Status ElementCount(uint32_t rank, const int64_t* shape, uint64_t* count_out,
                    std::string_view what) {
  NRD_RETURN_IF_ERROR(CheckRank(rank, what));
  uint64_t count = 1;
  bool overflow = false;
  bool is_empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    if (shape[i] < 0) [[unlikely]] {
      return Status::InvalidArgument(Joined(what, " has shape ") + ShapeToString(rank, shape) +
                                     ": dimensions must not be negative");
    }
    const uint64_t dim = static_cast<uint64_t>(shape[i]);
    is_empty |= dim == 0;
    // Meaningless after an overflow, which stays noted: a later zero can still make it irrelevant.
    overflow |= __builtin_mul_overflow(count, dim, &count) || count > kMaxCount;
  }
  if (overflow && !is_empty) [[unlikely]] {
    return Status::InvalidArgument("shape " + ShapeToString(rank, shape) + Joined(" of ", what) +
                                   " causes total element count to exceed maximum size of " +
                                   std::to_string(kMaxCount));
  }
  *count_out = is_empty ? 0 : count;
  return Status();
}

Status TensorByteSize(int32_t datatype, uint32_t rank, const int64_t* shape,
                      uint64_t* byte_size_out, std::string_view what) {
  const uint64_t element_bytes = DataTypeByteSize(datatype);
  if (element_bytes == 0) [[unlikely]] {
    return Status::InvalidArgument(Joined("the byte size of ", what) +
                                   " does not follow from its shape, its datatype is " +
                                   std::string(DataTypeName(datatype)));
  }
  uint64_t count;
  NRD_RETURN_IF_ERROR(ElementCount(rank, shape, &count, what));
  uint64_t byte_size;
  if (__builtin_mul_overflow(count, element_bytes, &byte_size) || byte_size > kMaxCount)
      [[unlikely]] {
    return Status::InvalidArgument(
        Joined("byte size overflow for ", what) + ": shape " + ShapeToString(rank, shape) + " of " +
        std::string(DataTypeName(datatype)) + " exceeds " + std::to_string(kMaxCount) + " bytes");
  }
  *byte_size_out = byte_size;
  return Status();
}

uint64_t EmptyRowBytes(const nrd_tensor& row) {
  if (row.datatype != NRD_TYPE_BYTES) {
    return row.byte_size;
  }
  uint64_t count = 0;
  static_cast<void>(ElementCount(row.rank, row.shape, &count));
  return count * kLengthBytes;
}

std::string ShapeToString(uint32_t rank, const int64_t* shape) {
  std::string text = "[";
  for (uint32_t i = 0; i < rank; ++i) {
    if (i > 0) {
      text += ',';
    }
    text += std::to_string(shape[i]);
  }
  text += ']';
  return text;
}

std::string SpecShapeToString(const nrd_tensor_spec& spec, bool has_batch_dimension) {
  std::string text = ShapeToString(spec.rank, spec.dims);
  if (has_batch_dimension) {
    text.insert(1, spec.rank == 0 ? "-1" : "-1,");
  }
  return text;
}

Status ValidateBytes(const void* data, uint64_t byte_size, uint64_t element_count,
                     std::string_view what) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint64_t offset = 0;
  const uint64_t walked = WalkElements(bytes, byte_size, element_count, &offset);
  if (walked == element_count && offset == byte_size) [[likely]] {
    return Status();
  }
  return DescribeBadBytes(bytes, byte_size, element_count, walked, offset, what);
}

bool SkipBytesElements(const void* data, uint64_t byte_size, uint64_t count,
                       uint64_t* skipped_bytes_out) {
  uint64_t offset = 0;
  if (WalkElements(static_cast<const uint8_t*>(data), byte_size, count, &offset) != count) {
    return false;
  }
  *skipped_bytes_out = offset;
  return true;
}

}  // namespace nereid
