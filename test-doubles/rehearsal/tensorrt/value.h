// Tensors with their values, as networks compute with them on the processor.
#ifndef NEREID_REHEARSAL_TENSORRT_VALUE_H_
#define NEREID_REHEARSAL_TENSORRT_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "interfaces/basics.h"

namespace rehearsal::trt {

// Something that TensorRT would refuse, as a sentence for the log.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Shape = std::vector<std::int64_t>;  // -1: not known yet

Shape ShapeOf(const Dims& dims);
Dims DimsOf(const Shape& shape);
std::string Text(const Shape& shape);
bool IsKnown(const Shape& shape);
std::int64_t Elements(const Shape& shape);  // of one that is known

std::size_t BytesOf(DataType type);
const char* NameOf(DataType type);
bool IsReal(DataType type);

// The nearest number that the type has; integers wrap around.
float Rounded(DataType type, float value);
std::int64_t Wrapped(DataType type, std::int64_t value);

// A tensor: numbers of its type as wider ones, of which one of the two vectors is empty.
struct Value {
  DataType type = DataType::kFloat;
  Shape shape;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;

  static Value Of(DataType type, const Shape& shape);  // zeros
  static Value Read(DataType type, const Shape& shape, const void* bytes);
  void Write(void* bytes) const;
  // Rounds all numbers to the type.
  void Settle();

  [[nodiscard]] std::int64_t Count() const { return Elements(shape); }
  [[nodiscard]] std::size_t ByteSize() const;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_VALUE_H_
