#include "base/tensor.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace nereid {
namespace {

__extension__ typedef unsigned __int128 Wide;
constexpr Wide kMax = static_cast<uint64_t>(INT64_MAX);

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Status Count(const std::vector<int64_t>& shape, uint64_t* count_out) {
  return ElementCount(static_cast<uint32_t>(shape.size()), shape.data(), count_out);
}

// Counts with wide enough arithmetic: every partial product is cut at 2^64, which is above the
// limit and, times a dimension, still fits.
bool ReferenceCount(const std::vector<int64_t>& shape, Wide* count_out) {
  Wide count = 1;
  bool is_empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) {
      return false;
    }
    is_empty |= dim == 0;
    if (dim != 0) {
      count = std::min<Wide>(count * static_cast<uint64_t>(dim), Wide{1} << 64);
    }
  }
  *count_out = is_empty ? 0 : count;
  return *count_out <= kMax;
}

// Dimensions near the places where products overflow, and ordinary ones.
int64_t RandomDim(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return random() % 16 == 0 ? -1 : 1;
    case 2:
      return static_cast<int64_t>(random() >> 1);
    case 3:
    case 4: {
      const int64_t power = int64_t{1} << (random() % 63);
      return power + static_cast<int64_t>(random() % 3) - 1;
    }
    default:
      return static_cast<int64_t>(random() % 1000) + 1;
  }
}

std::string Encode(const std::vector<std::string>& elements) {
  std::string data;
  for (const std::string& element : elements) {
    const auto length = static_cast<uint32_t>(element.size());
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      data += static_cast<char>(length >> shift & 0xFFU);
    }
    data += element;
  }
  return data;
}

// The ends of complete elements, found byte by byte.
std::vector<uint64_t> ReferenceEnds(const std::string& data) {
  std::vector<uint64_t> ends;
  uint64_t at = 0;
  while (data.size() - at >= 4) {
    uint64_t length = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      length |= uint64_t{static_cast<unsigned char>(data[at + i])} << (8 * i);
    }
    if (at + 4 + length > data.size()) {
      break;
    }
    at += 4 + length;
    ends.push_back(at);
  }
  return ends;
}

std::string RandomEncoded(std::mt19937_64& random, uint64_t count) {
  std::vector<std::string> elements(count);
  for (std::string& element : elements) {
    element.assign(random() % 20, static_cast<char>('a' + random() % 26));
  }
  return Encode(elements);
}

// Validates in a block of exactly the data's size, so that AddressSanitizer sees a read past the
// end.
Status Validate(const std::string& data, uint64_t element_count) {
  const std::vector<char> exact(data.begin(), data.end());
  return ValidateBytes(exact.data(), exact.size(), element_count,
                       "inference input 'X' for model 'm'");
}

}  // namespace

TEST_CASE("datatypes have the protocol's sizes and names") {
  const struct {
    int32_t datatype;
    uint64_t byte_size;
    std::string_view name;
  } expected[] = {
      {NRD_TYPE_BOOL, 1, "BOOL"},     {NRD_TYPE_UINT8, 1, "UINT8"},
      {NRD_TYPE_UINT16, 2, "UINT16"}, {NRD_TYPE_UINT32, 4, "UINT32"},
      {NRD_TYPE_UINT64, 8, "UINT64"}, {NRD_TYPE_INT8, 1, "INT8"},
      {NRD_TYPE_INT16, 2, "INT16"},   {NRD_TYPE_INT32, 4, "INT32"},
      {NRD_TYPE_INT64, 8, "INT64"},   {NRD_TYPE_FP16, 2, "FP16"},
      {NRD_TYPE_FP32, 4, "FP32"},     {NRD_TYPE_FP64, 8, "FP64"},
      {NRD_TYPE_BYTES, 0, "BYTES"},   {NRD_TYPE_BF16, 2, "BF16"},
  };
  for (const auto& entry : expected) {
    CAPTURE(entry.name);
    CHECK(IsDataType(entry.datatype));
    CHECK(DataTypeByteSize(entry.datatype) == entry.byte_size);
    CHECK(DataTypeName(entry.datatype) == entry.name);
  }
  for (const int32_t unknown : {INT32_MIN, -1, 0, 15, INT32_MAX}) {
    CHECK_FALSE(IsDataType(unknown));
    CHECK(DataTypeByteSize(unknown) == 0);
    CHECK(DataTypeName(unknown) == "INVALID");
  }
}

TEST_CASE("element counts: limits and messages") {
  uint64_t count = 77;
  CHECK(Count({}, &count).ok());
  CHECK(count == 1);
  CHECK(Count({INT64_MAX}, &count).ok());
  CHECK(count == static_cast<uint64_t>(INT64_MAX));

  const int64_t too_many[] = {16, (int64_t{1} << 60) + 2};
  Status status = ElementCount(2, too_many, &count, "input 'X' for model 'm'");
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message() ==
        "shape [16,1152921504606846978] of input 'X' for model 'm' causes total element count to "
        "exceed maximum size of 9223372036854775807");
  // 2^63 is the first that is too large, though 64 bits could hold it.
  CHECK_FALSE(Count({int64_t{1} << 62, 2}, &count).ok());

  status = Count({2, -5}, &count);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message() == "input has shape [2,-5]: dimensions must not be negative");

  status = Count(std::vector<int64_t>(NRD_MAX_RANK + 1, 1), &count);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(Contains(status.message(), "has 9 dimensions, at most 8"));
}

TEST_CASE("a zero dimension empties a tensor whatever the others are") {
  uint64_t count = 77;
  CHECK(Count({0, INT64_MAX, INT64_MAX}, &count).ok());
  CHECK(count == 0);
  count = 77;
  CHECK(Count({INT64_MAX, INT64_MAX, 0}, &count).ok());
  CHECK(count == 0);
  CHECK_FALSE(Count({0, -1}, &count).ok());
}

TEST_CASE("byte sizes: limits and messages") {
  const int64_t overflowing[] = {4, (int64_t{1} << 60) + 2};
  uint64_t byte_size = 0;
  const Status status = TensorByteSize(NRD_TYPE_FP32, 2, overflowing, &byte_size);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(Contains(status.message(), "byte size overflow for input"));
  CHECK(TensorByteSize(NRD_TYPE_UINT8, 2, overflowing, &byte_size).ok());

  const int64_t shape[] = {3, 224, 224};
  CHECK(TensorByteSize(NRD_TYPE_FP32, 3, shape, &byte_size).ok());
  CHECK(byte_size == 602112);
  CHECK(TensorByteSize(NRD_TYPE_BYTES, 3, shape, &byte_size).code() == NRD_INVALID_ARGUMENT);
  CHECK(TensorByteSize(99, 3, shape, &byte_size).code() == NRD_INVALID_ARGUMENT);
}

TEST_CASE("shape arithmetic agrees with wide arithmetic") {
  std::mt19937_64 random(20240601);
  uint32_t accepted = 0;
  uint32_t refused = 0;
  for (int round = 0; round < 100000; ++round) {
    std::vector<int64_t> shape(random() % (NRD_MAX_RANK + 1));
    for (int64_t& dim : shape) {
      dim = RandomDim(random);
    }
    const auto datatype = static_cast<int32_t>(1 + random() % NRD_TYPE_BF16);
    Wide expected = 0;
    const bool is_valid = ReferenceCount(shape, &expected);
    uint64_t count = 0;
    REQUIRE(Count(shape, &count).ok() == is_valid);
    (is_valid ? accepted : refused) += 1;
    if (!is_valid || datatype == NRD_TYPE_BYTES) {
      continue;
    }
    REQUIRE(Wide{count} == expected);
    const Wide expected_bytes = expected * DataTypeByteSize(datatype);
    uint64_t byte_size = 0;
    const Status status =
        TensorByteSize(datatype, static_cast<uint32_t>(shape.size()), shape.data(), &byte_size);
    REQUIRE(status.ok() == (expected_bytes <= kMax));
    if (status.ok()) {
      REQUIRE(Wide{byte_size} == expected_bytes);
    }
  }
  // Otherwise the generator would not test much.
  CHECK(accepted > 10000);
  CHECK(refused > 10000);
}

TEST_CASE("shapes as text") {
  const int64_t shape[] = {-1, 16};
  CHECK(ShapeToString(2, shape) == "[-1,16]");
  CHECK(ShapeToString(0, nullptr) == "[]");
  nrd_tensor_spec spec{};
  spec.rank = 1;
  spec.dims[0] = 16;
  CHECK(SpecShapeToString(spec, true) == "[-1,16]");
  CHECK(SpecShapeToString(spec, false) == "[16]");
  spec.rank = 0;
  CHECK(SpecShapeToString(spec, true) == "[-1]");
}

TEST_CASE("BYTES: messages say what is wrong") {
  const std::string three = Encode({"ab", "", "cde"});
  CHECK(Validate(three, 3).ok());
  CHECK(Validate("", 0).ok());
  CHECK(ValidateBytes(nullptr, 0, 0, "input").ok());

  Status status = Validate(three, 5);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message() ==
        "expected 5 string elements for inference input 'X' for model 'm', got 3");
  CHECK(
      Validate(three, 2).message() ==
      "unexpected number of string elements 3 for inference input 'X' for model 'm', expecting 2");
  CHECK(Validate(three + "xy", 4).message() ==
        "incomplete string length indicator for inference input 'X' for model 'm', expecting 4 "
        "bytes but only 2 bytes available");
  // The same after the last element that was asked for.
  CHECK(Contains(Validate(three + "xy", 3).message(), "expecting 4 bytes but only 2"));
  CHECK(
      Validate(three.substr(0, three.size() - 1), 3).message() ==
      "incomplete string data for inference input 'X' for model 'm', expecting string of length 3 "
      "but only 2 bytes available");
  CHECK(Contains(Validate(std::string("\xff\xff\xff\xff", 4), 1).message(),
                 "string of length 4294967295 but only 0 bytes"));
}

TEST_CASE("BYTES: damaged data is judged as by a simple reference") {
  std::mt19937_64 random(7);
  uint32_t accepted = 0;
  uint32_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const uint64_t element_count = random() % 12;
    std::string data = RandomEncoded(random, element_count);
    for (uint64_t damage = random() % 3; damage > 0 && !data.empty(); --damage) {
      const size_t at = random() % data.size();
      switch (random() % 4) {
        case 0:
          data[at] = static_cast<char>(random());
          break;
        case 1:
          data.erase(at, 1 + random() % 5);
          break;
        case 2:
          data.insert(at, 1 + random() % 5, static_cast<char>(random() % 8));
          break;
        default:
          data.resize(at);
          break;
      }
    }
    const std::vector<uint64_t> ends = ReferenceEnds(data);
    const uint64_t end = ends.empty() ? 0 : ends.back();
    const bool is_valid = ends.size() == element_count && end == data.size();
    REQUIRE(Validate(data, element_count).ok() == is_valid);
    (is_valid ? accepted : refused) += 1;

    const std::vector<char> exact(data.begin(), data.end());
    for (uint64_t count = 0; count <= ends.size() + 1; ++count) {
      uint64_t skipped = UINT64_MAX;
      const bool is_there = SkipBytesElements(exact.data(), exact.size(), count, &skipped);
      REQUIRE(is_there == (count <= ends.size()));
      REQUIRE(skipped == (!is_there ? UINT64_MAX : count == 0 ? 0 : ends[count - 1]));
    }
  }
  CHECK(accepted > 2000);
  CHECK(refused > 2000);
}

}  // namespace nereid
