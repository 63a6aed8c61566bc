#include "archive.h"

#include <cstring>

namespace rehearsal::trt {

void Writer::Bytes(const void* bytes, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(bytes);
  bytes_.insert(bytes_.end(), from, from + size);
}

void Writer::Number(std::int64_t number) { Bytes(&number, sizeof(number)); }

void Writer::Text(const std::string& text) {
  Number(static_cast<std::int64_t>(text.size()));
  Bytes(text.data(), text.size());
}

void Writer::Numbers(const Shape& numbers) {
  Number(static_cast<std::int64_t>(numbers.size()));
  Bytes(numbers.data(), numbers.size() * sizeof(std::int64_t));
}

void Writer::Tensor(const Value& value) {
  Number(static_cast<std::int64_t>(value.type));
  Numbers(value.shape);
  std::vector<std::byte> bytes(value.ByteSize());
  value.Write(bytes.data());
  Bytes(bytes.data(), bytes.size());
}

const std::byte* Reader::Bytes(std::size_t size) {
  if (size > static_cast<std::size_t>(end_ - at_)) {
    throw Refusal("the plan ends too early");
  }
  const std::byte* bytes = at_;
  at_ += size;
  return bytes;
}

std::int64_t Reader::Number() {
  std::int64_t number;
  std::memcpy(&number, Bytes(sizeof(number)), sizeof(number));
  return number;
}

std::size_t Reader::Count() {
  std::int64_t count = Number();
  if (count < 0 || count > end_ - at_) {
    throw Refusal("the plan has a number of things that it cannot have: " + std::to_string(count));
  }
  return static_cast<std::size_t>(count);
}

std::string Reader::Text() {
  std::size_t size = Count();
  return {reinterpret_cast<const char*>(Bytes(size)), size};
}

Shape Reader::Numbers() {
  Shape numbers(Count());
  for (std::int64_t& number : numbers) {
    number = Number();
  }
  return numbers;
}

Value Reader::Tensor() {
  auto type = static_cast<DataType>(Number());
  Shape shape = Numbers();
  if (!IsKnown(shape)) {
    throw Refusal("the plan has weights of the shape " + trt::Text(shape));
  }
  std::size_t bytes = static_cast<std::size_t>(Elements(shape)) * BytesOf(type);
  return Value::Read(type, shape, Bytes(bytes));
}

void Reader::End() const {
  if (at_ != end_) {
    throw Refusal("the plan goes on where it should end");
  }
}

}  // namespace rehearsal::trt
