// A named value, behind TRITONSERVER_Parameter and wherever plug-ins give or get values.
#ifndef NEREID_TRITON_PARAMETER_H_
#define NEREID_TRITON_PARAMETER_H_

#include <cstdint>
#include <string>

#include "nereid/nereid.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"

namespace nereid::triton {

class Parameter : public Handle {
 public:
  static constexpr Kind kKind = Kind::kParameter;

  Parameter(std::string name, TRITONSERVER_ParameterType type)
      : name_(std::move(name)), type_(type) {}
  static Parameter OfString(std::string name, std::string text);
  static Parameter OfInt(std::string name, int64_t number);
  static Parameter OfBool(std::string name, bool truth);
  static Parameter OfDouble(std::string name, double real);
  // The bytes outlive the parameter.
  static Parameter OfBytes(std::string name, const void* bytes, uint64_t byte_size);
  static Parameter Of(const nrd_value& value);

  Parameter(Parameter&& other) noexcept
      : name_(std::move(other.name_)),
        type_(other.type_),
        text_(std::move(other.text_)),
        number_(other.number_),
        truth_(other.truth_),
        real_(other.real_),
        bytes_(other.bytes_),
        byte_size_(other.byte_size_) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] TRITONSERVER_ParameterType type() const { return type_; }
  // The value as plug-ins get it.
  [[nodiscard]] const void* value() const;
  [[nodiscard]] const std::string& text() const { return text_; }

  // The value for the core and the control plane: bytes become a text. Lives as long as this.
  [[nodiscard]] nrd_value AsValue() const;

  // Gives it to a plug-in, which deletes it.
  void OpenFor(Owner& owner) { Open(kKind, &owner); }

 private:
  std::string name_;
  TRITONSERVER_ParameterType type_;
  std::string text_;
  int64_t number_ = 0;
  bool truth_ = false;
  double real_ = 0;
  const void* bytes_ = nullptr;
  uint64_t byte_size_ = 0;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_PARAMETER_H_
