#include "value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rehearsal::trt {

namespace {

// A floating-point format by the bits of its exponent and its fraction. FP8 is E4M3: it has no
// infinity, and only the number with all bits set is none.
struct Format {
  int exponent;
  int fraction;
  bool has_infinity;
};

constexpr Format kHalf{5, 10, true};
constexpr Format kBf16{8, 7, true};
constexpr Format kFp8{4, 3, false};

const Format& FormatOf(DataType type) {
  return type == DataType::kHalf ? kHalf : type == DataType::kBf16 ? kBf16 : kFp8;
}

int Bias(const Format& format) { return (1 << (format.exponent - 1)) - 1; }

// The exponent field of the largest numbers.
int LargestExponent(const Format& format) {
  return (1 << format.exponent) - (format.has_infinity ? 2 : 1);
}

float Decode(const Format& format, unsigned bits) {
  unsigned fraction_mask = (1U << format.fraction) - 1;
  unsigned fraction = bits & fraction_mask;
  int exponent = static_cast<int>(bits >> format.fraction) & ((1 << format.exponent) - 1);
  float sign = ((bits >> (format.exponent + format.fraction)) & 1U) != 0 ? -1.0F : 1.0F;
  bool all_set = exponent == (1 << format.exponent) - 1;
  if (all_set && format.has_infinity) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  }
  if (all_set && fraction == fraction_mask) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  auto digits = static_cast<float>(exponent == 0 ? fraction : fraction | (fraction_mask + 1));
  return sign * std::ldexp(digits, std::max(exponent, 1) - Bias(format) - format.fraction);
}

unsigned Encode(const Format& format, float value) {
  unsigned sign = std::signbit(value) ? 1U << (format.exponent + format.fraction) : 0;
  unsigned fraction_mask = (1U << format.fraction) - 1;
  unsigned infinity = ((1U << format.exponent) - 1) << format.fraction;
  if (std::isnan(value)) {
    return sign | infinity | fraction_mask;
  }
  if (value == 0) {
    return sign;
  }
  int power = 0;
  std::frexp(value, &power);  // the value lies in [2^(power-1), 2^power)
  int exponent = std::max(power - 1 + Bias(format), 1);
  float digits =
      std::nearbyint(std::ldexp(std::fabs(value), Bias(format) + format.fraction - exponent));
  // What rounds up to the next power of two carries into the exponent by itself.
  double bits = static_cast<double>(digits) + std::ldexp(exponent - 1, format.fraction);
  unsigned largest = (static_cast<unsigned>(LargestExponent(format)) << format.fraction) |
                     (format.has_infinity ? fraction_mask : fraction_mask - 1);
  if (std::isinf(value) || bits > largest) {
    return sign | (format.has_infinity ? infinity : largest);
  }
  return sign | static_cast<unsigned>(bits);
}

template <typename T>
void ReadIntegers(const void* bytes, std::vector<std::int64_t>* to) {
  for (std::size_t i = 0; i < to->size(); ++i) {
    T one;
    std::memcpy(&one, static_cast<const std::byte*>(bytes) + i * sizeof(T), sizeof(T));
    (*to)[i] = static_cast<std::int64_t>(one);
  }
}

template <typename T>
void WriteIntegers(const std::vector<std::int64_t>& from, void* bytes) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    T one = static_cast<T>(from[i]);
    std::memcpy(static_cast<std::byte*>(bytes) + i * sizeof(T), &one, sizeof(T));
  }
}

}  // namespace

Shape ShapeOf(const Dims& dims) {
  if (dims.count < 0 || dims.count > kMostDims) {
    throw Refusal("expected 0 to 8 dimensions, got " + std::to_string(dims.count));
  }
  return {dims.sizes, dims.sizes + dims.count};
}

Dims DimsOf(const Shape& shape) {
  Dims dims;
  dims.count = static_cast<std::int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), dims.sizes);
  return dims;
}

std::string Text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  }
  return text + "]";
}

bool IsKnown(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](std::int64_t size) { return size >= 0; });
}

std::int64_t Elements(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      throw Refusal("the shape " + Text(shape) + " has more elements than can be counted");
    }
  }
  return count;
}

std::size_t BytesOf(DataType type) {
  switch (type) {
    case DataType::kInt64:
      return 8;
    case DataType::kFloat:
    case DataType::kInt32:
      return 4;
    case DataType::kHalf:
    case DataType::kBf16:
      return 2;
    case DataType::kInt8:
    case DataType::kBool:
    case DataType::kUint8:
    case DataType::kFp8:
      return 1;
  }
  throw Refusal("there is no type " + std::to_string(static_cast<int>(type)));
}

const char* NameOf(DataType type) {
  static constexpr std::array<const char*, 9> kNames = {"Float", "Half", "Int8", "Int32", "Bool",
                                                        "UInt8", "FP8",  "BF16", "Int64"};
  auto index = static_cast<std::size_t>(type);
  return index < kNames.size() ? kNames[index] : "of no type";
}

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kHalf || type == DataType::kBf16 ||
         type == DataType::kFp8;
}

float Rounded(DataType type, float value) {
  if (type == DataType::kFloat) {
    return value;
  }
  const Format& format = FormatOf(type);
  auto bits = std::bit_cast<std::uint32_t>(value);
  int exponent = static_cast<int>((bits >> 23) & 0xFF) - 127 + Bias(format);
  if (exponent > 0 && exponent < LargestExponent(format)) {  // nearly all numbers, and quick
    unsigned dropped = 23 - static_cast<unsigned>(format.fraction);
    bits += (1U << (dropped - 1)) - 1 + ((bits >> dropped) & 1U);
    return std::bit_cast<float>(bits >> dropped << dropped);
  }
  return Decode(format, Encode(format, value));
}

std::int64_t Wrapped(DataType type, std::int64_t value) {
  switch (type) {
    case DataType::kInt32:
      return static_cast<std::int32_t>(value);
    case DataType::kInt8:
      return static_cast<std::int8_t>(value);
    case DataType::kUint8:
      return static_cast<std::uint8_t>(value);
    case DataType::kBool:
      return value != 0 ? 1 : 0;
    default:
      return value;
  }
}

Value Value::Of(DataType type, const Shape& shape) {
  Value value;
  value.type = type;
  value.shape = shape;
  auto count = static_cast<std::size_t>(Elements(shape));
  if (IsReal(type)) {
    value.reals.resize(count);
  } else {
    value.integers.resize(count);
  }
  return value;
}

Value Value::Read(DataType type, const Shape& shape, const void* bytes) {
  Value value = Of(type, shape);
  switch (type) {
    case DataType::kFloat:
      if (!value.reals.empty()) {
        std::memcpy(value.reals.data(), bytes, value.reals.size() * sizeof(float));
      }
      break;
    case DataType::kInt64:
      ReadIntegers<std::int64_t>(bytes, &value.integers);
      break;
    case DataType::kInt32:
      ReadIntegers<std::int32_t>(bytes, &value.integers);
      break;
    case DataType::kInt8:
      ReadIntegers<std::int8_t>(bytes, &value.integers);
      break;
    case DataType::kBool:
    case DataType::kUint8:
      ReadIntegers<std::uint8_t>(bytes, &value.integers);
      break;
    default: {
      Value bits = Of(DataType::kInt64, shape);
      if (BytesOf(type) == 2) {
        ReadIntegers<std::uint16_t>(bytes, &bits.integers);
      } else {
        ReadIntegers<std::uint8_t>(bytes, &bits.integers);
      }
      std::transform(
          bits.integers.begin(), bits.integers.end(), value.reals.begin(),
          [type](std::int64_t one) { return Decode(FormatOf(type), static_cast<unsigned>(one)); });
    }
  }
  return value;
}

void Value::Write(void* bytes) const {
  switch (type) {
    case DataType::kFloat:
      if (!reals.empty()) {
        std::memcpy(bytes, reals.data(), reals.size() * sizeof(float));
      }
      return;
    case DataType::kInt64:
      return WriteIntegers<std::int64_t>(integers, bytes);
    case DataType::kInt32:
      return WriteIntegers<std::int32_t>(integers, bytes);
    case DataType::kInt8:
    case DataType::kBool:
    case DataType::kUint8:
      return WriteIntegers<std::uint8_t>(integers, bytes);
    default: {
      std::vector<std::int64_t> bits(reals.size());
      std::transform(reals.begin(), reals.end(), bits.begin(), [this](float one) {
        return static_cast<std::int64_t>(Encode(FormatOf(type), one));
      });
      return BytesOf(type) == 2 ? WriteIntegers<std::uint16_t>(bits, bytes)
                                : WriteIntegers<std::uint8_t>(bits, bytes);
    }
  }
}

void Value::Settle() {
  if (type == DataType::kFloat || type == DataType::kInt64) {
    return;
  }
  for (float& one : reals) {
    one = Rounded(type, one);
  }
  for (std::int64_t& one : integers) {
    one = Wrapped(type, one);
  }
}

std::size_t Value::ByteSize() const { return static_cast<std::size_t>(Count()) * BytesOf(type); }

}  // namespace rehearsal::trt
