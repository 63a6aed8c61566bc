// Reads the small JSON documents of the control plane, and quotes for those that it gets.
#ifndef NEREID_TRITON_JSON_H_
#define NEREID_TRITON_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nereid::triton {

class Json {
 public:
  // NRD_INVALID_ARGUMENT names the place of an error.
  static Status Parse(std::string_view text, Json* out);

  // A member of an object; an empty value if it is missing.
  [[nodiscard]] const Json& operator[](std::string_view name) const;
  [[nodiscard]] const std::vector<Json>& items() const { return items_; }
  // In the order of the text; values are those of items().
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] const std::string& text() const { return text_; }  // of a string
  [[nodiscard]] int64_t Number(int64_t otherwise) const;
  [[nodiscard]] bool truth() const { return raw_ == "true"; }
  [[nodiscard]] bool empty() const { return raw_.empty(); }
  // The value's text as it was written; valid as long as the text that was parsed.
  [[nodiscard]] std::string_view raw() const { return raw_; }

 private:
  friend class JsonReader;

  std::string_view raw_;
  std::string text_;
  std::vector<std::string> names_;
  std::vector<Json> items_;
};

// The text as a string of JSON.
std::string Quoted(std::string_view text);

}  // namespace nereid::triton

#endif  // NEREID_TRITON_JSON_H_
