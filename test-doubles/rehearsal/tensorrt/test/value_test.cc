// Numbers of fewer bits.
#include "value.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace rehearsal::trt {

TEST_CASE("values: all numbers of few bits are what they are after reading and writing") {
  for (const DataType type : {DataType::kHalf, DataType::kBf16}) {
    std::vector<std::uint16_t> bits(1U << 16U);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits[i] = static_cast<std::uint16_t>(i);
    }
    const Value value = Value::Read(type, {static_cast<std::int64_t>(bits.size())}, bits.data());
    std::vector<std::uint16_t> written(bits.size());
    value.Write(written.data());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const bool same = written[i] == bits[i] || std::isnan(value.reals[i]);
      REQUIRE_MESSAGE(same, NameOf(type), " ", i, " ", written[i]);
    }
  }
}

TEST_CASE("values: numbers are rounded to the nearest, and to even ones between two") {
  CHECK(Rounded(DataType::kHalf, 1.0F + 1.0F / 2048) == 1.0F);
  CHECK(Rounded(DataType::kHalf, 1.0F + 3.0F / 2048) == 1.0F + 4.0F / 2048);
  CHECK(Rounded(DataType::kHalf, 65519.0F) == 65504.0F);
  CHECK(std::isinf(Rounded(DataType::kHalf, 65520.0F)));
  CHECK(Rounded(DataType::kHalf, -std::ldexp(1.0F, -24)) == -std::ldexp(1.0F, -24));
  CHECK(Rounded(DataType::kHalf, std::ldexp(1.0F, -26)) == 0);
  CHECK(Rounded(DataType::kBf16, 257.0F) == 256.0F);
  CHECK(Rounded(DataType::kFp8, 1000.0F) == 448.0F);
  CHECK(Rounded(DataType::kFp8, 0.5F) == 0.5F);
  CHECK(std::isnan(Rounded(DataType::kFp8, std::nanf(""))));
}

}  // namespace rehearsal::trt
