// Values that a backend sends with a response besides its outputs.
#ifndef NEREID_BASE_RESPONSE_VALUES_H_
#define NEREID_BASE_RESPONSE_VALUES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "nereid/nereid.h"

namespace nereid {

// Owns copies of values until they are cleared; their addresses are valid until another is added.
// The memory is reused. One thread at a time.
class ResponseValues {
 public:
  ResponseValues() = default;
  ResponseValues(const ResponseValues&) = delete;
  ResponseValues& operator=(const ResponseValues&) = delete;

  // Changes nothing when it is out of memory.
  void Add(const nrd_value& value);
  void Clear();

  [[nodiscard]] const nrd_value* data() const { return values_.data(); }
  [[nodiscard]] size_t size() const { return values_.size(); }

 private:
  nrd_string Keep(const nrd_string& text);
  void Grow(size_t size);

  std::vector<nrd_value> values_;
  std::unique_ptr<char[]> texts_;  // which `values_` point to
  size_t room_ = 0;
  size_t used_ = 0;
};

}  // namespace nereid

#endif  // NEREID_BASE_RESPONSE_VALUES_H_
