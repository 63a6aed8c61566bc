// The sizes of small buffers: multiples of 64 bytes up to 512, then four per doubling up to 64 KiB.
// Rounding up wastes less than a fifth above 256 bytes.
#ifndef NEREID_MEMORY_SIZE_CLASS_H_
#define NEREID_MEMORY_SIZE_CLASS_H_

#include <bit>
#include <cstdint>

namespace nereid {

constexpr uint32_t kSizeClassCount = 36;
constexpr uint64_t kMaxSmallBytes = uint64_t{64} << 10;

namespace size_class_internal {
constexpr uint64_t kLinearBytes = 512;
constexpr uint32_t kLinearClasses = 8;
constexpr uint32_t kLinearBits = 9;
}  // namespace size_class_internal

// For byte_size <= kMaxSmallBytes.
constexpr uint32_t SizeClassOf(uint64_t byte_size) {
  using namespace size_class_internal;
  if (byte_size <= kLinearBytes) {
    return byte_size == 0 ? 0 : static_cast<uint32_t>((byte_size - 1) / 64);
  }
  const uint64_t last = byte_size - 1;
  const auto exponent = static_cast<uint32_t>(std::bit_width(last)) - 1;
  const uint32_t quarter = static_cast<uint32_t>(last >> (exponent - 2)) & 3U;
  return kLinearClasses + (exponent - kLinearBits) * 4 + quarter;
}

// The largest size that the class holds.
constexpr uint64_t SizeClassBytes(uint32_t size_class) {
  using namespace size_class_internal;
  if (size_class < kLinearClasses) {
    return (size_class + 1) * uint64_t{64};
  }
  const uint32_t exponent = (size_class - kLinearClasses) / 4 + kLinearBits;
  const uint64_t quarters = (size_class - kLinearClasses) % 4 + 1;
  return (uint64_t{1} << exponent) + (quarters << (exponent - 2));
}

static_assert(SizeClassOf(kMaxSmallBytes) == kSizeClassCount - 1);
static_assert(SizeClassBytes(kSizeClassCount - 1) == kMaxSmallBytes);

}  // namespace nereid

#endif  // NEREID_MEMORY_SIZE_CLASS_H_
