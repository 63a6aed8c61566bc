// Protobuf's wire format, as far as files of ONNX use it.
#ifndef NEREID_REHEARSAL_TENSORRT_ONNX_WIRE_H_
#define NEREID_REHEARSAL_TENSORRT_ONNX_WIRE_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace rehearsal::trt {

// A field of a message: a number, or bytes.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of fields of four bytes: their bits
  std::string_view bytes;
  bool has_bytes = false;

  // The numbers of a repeated field, which may lie packed in bytes.
  [[nodiscard]] std::vector<std::int64_t> Numbers() const;
};

// Reads a message field by field. Throws Refusal where it is none.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool Next(Field* field);  // false: there is no further one

 private:
  std::string_view rest_;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_ONNX_WIRE_H_
