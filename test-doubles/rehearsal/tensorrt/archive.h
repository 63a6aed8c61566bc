// Numbers, texts and tensors one after another, as plans have them.
#ifndef NEREID_REHEARSAL_TENSORRT_ARCHIVE_H_
#define NEREID_REHEARSAL_TENSORRT_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "value.h"

namespace rehearsal::trt {

class Writer {
 public:
  void Number(std::int64_t number);
  void Text(const std::string& text);
  void Numbers(const Shape& numbers);
  void Tensor(const Value& value);

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void Bytes(const void* bytes, std::size_t size);

  std::vector<std::byte> bytes_;
};

// Throws Refusal where there is less than was to be read, or something that cannot be.
class Reader {
 public:
  Reader(const std::byte* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  std::int64_t Number();
  // A number of things of which each takes at least a byte: never more than is left.
  std::size_t Count();
  std::string Text();
  Shape Numbers();
  Value Tensor();
  void End() const;  // refuses if anything is left

 private:
  const std::byte* Bytes(std::size_t size);

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_ARCHIVE_H_
