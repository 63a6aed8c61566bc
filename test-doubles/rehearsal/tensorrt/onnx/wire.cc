#include "wire.h"

#include <cstring>

#include "value.h"

namespace rehearsal::trt {

namespace {

constexpr unsigned kVarint = 0;
constexpr unsigned kEightBytes = 1;
constexpr unsigned kBytes = 2;
constexpr unsigned kFourBytes = 5;

std::string_view Take(std::string_view* from, std::uint64_t size) {
  if (size > from->size()) {
    throw Refusal("the file ends within a message");
  }
  std::string_view taken = from->substr(0, size);
  from->remove_prefix(size);
  return taken;
}

std::uint64_t Varint(std::string_view* from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    auto byte = static_cast<unsigned char>(Take(from, 1)[0]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  throw Refusal("a number in the file has more than ten bytes");
}

}  // namespace

std::vector<std::int64_t> Field::Numbers() const {
  if (!has_bytes) {
    return {static_cast<std::int64_t>(value)};
  }
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = bytes; !rest.empty();) {
    numbers.push_back(static_cast<std::int64_t>(Varint(&rest)));
  }
  return numbers;
}

bool Message::Next(Field* field) {
  if (rest_.empty()) {
    return false;
  }
  std::uint64_t key = Varint(&rest_);
  *field = Field();
  field->number = key >> 3;
  switch (key & 7U) {
    case kVarint:
      field->value = Varint(&rest_);
      return true;
    case kBytes:
      field->has_bytes = true;
      field->bytes = Take(&rest_, Varint(&rest_));
      return true;
    case kFourBytes: {
      std::uint32_t bits;
      std::memcpy(&bits, Take(&rest_, sizeof(bits)).data(), sizeof(bits));
      field->value = bits;
      return true;
    }
    case kEightBytes:
      std::memcpy(&field->value, Take(&rest_, sizeof(field->value)).data(), sizeof(field->value));
      return true;
    default:
      throw Refusal("the file is none of ONNX");
  }
}

}  // namespace rehearsal::trt
