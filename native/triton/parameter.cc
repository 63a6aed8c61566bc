#include "triton/parameter.h"

#include "base/status.h"
#include "triton/errors.h"
#include "triton/host.h"

namespace nereid::triton {

Parameter Parameter::OfString(std::string name, std::string text) {
  Parameter made(std::move(name), TRITONSERVER_PARAMETER_STRING);
  made.text_ = std::move(text);
  return made;
}

Parameter Parameter::OfInt(std::string name, int64_t number) {
  Parameter made(std::move(name), TRITONSERVER_PARAMETER_INT);
  made.number_ = number;
  return made;
}

Parameter Parameter::OfBool(std::string name, bool truth) {
  Parameter made(std::move(name), TRITONSERVER_PARAMETER_BOOL);
  made.truth_ = truth;
  return made;
}

Parameter Parameter::OfDouble(std::string name, double real) {
  Parameter made(std::move(name), TRITONSERVER_PARAMETER_DOUBLE);
  made.real_ = real;
  return made;
}

Parameter Parameter::OfBytes(std::string name, const void* bytes, uint64_t byte_size) {
  Parameter made(std::move(name), TRITONSERVER_PARAMETER_BYTES);
  made.bytes_ = bytes;
  made.byte_size_ = byte_size;
  return made;
}

Parameter Parameter::Of(const nrd_value& value) {
  const std::string name(View(value.name));
  switch (value.kind) {
    case NRD_VALUE_INT:
      return OfInt(name, value.number);
    case NRD_VALUE_BOOL:
      return OfBool(name, value.number != 0);
    case NRD_VALUE_DOUBLE:
      return OfDouble(name, value.real);
    default:
      return OfString(name, std::string(View(value.text)));
  }
}

const void* Parameter::value() const {
  switch (type_) {
    case TRITONSERVER_PARAMETER_INT:
      return &number_;
    case TRITONSERVER_PARAMETER_BOOL:
      return &truth_;
    case TRITONSERVER_PARAMETER_DOUBLE:
      return &real_;
    case TRITONSERVER_PARAMETER_BYTES:
      return bytes_;
    default:
      return text_.c_str();
  }
}

nrd_value Parameter::AsValue() const {
  nrd_value value{};
  value.name = AsNrdString(name_);
  switch (type_) {
    case TRITONSERVER_PARAMETER_INT:
      value.kind = NRD_VALUE_INT;
      value.number = number_;
      break;
    case TRITONSERVER_PARAMETER_BOOL:
      value.kind = NRD_VALUE_BOOL;
      value.number = truth_ ? 1 : 0;
      break;
    case TRITONSERVER_PARAMETER_DOUBLE:
      value.kind = NRD_VALUE_DOUBLE;
      value.real = real_;
      break;
    case TRITONSERVER_PARAMETER_BYTES:
      value.kind = NRD_VALUE_STRING;
      value.text = {static_cast<const char*>(bytes_), byte_size_};
      break;
    default:
      value.kind = NRD_VALUE_STRING;
      value.text = AsNrdString(text_);
  }
  return value;
}

}  // namespace nereid::triton

using nereid::triton::Find;
using nereid::triton::Owner;
using nereid::triton::Parameter;

namespace {

TRITONSERVER_Parameter* OfPlugin(Parameter made) {
  auto* const parameter = new Parameter(std::move(made));
  parameter->OpenFor(Owner::Current());
  return nereid::triton::Give<TRITONSERVER_Parameter>(parameter);
}

}  // namespace

extern "C" {

const char* TRITONSERVER_ParameterTypeString(TRITONSERVER_ParameterType type) {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      return "STRING";
    case TRITONSERVER_PARAMETER_INT:
      return "INT";
    case TRITONSERVER_PARAMETER_BOOL:
      return "BOOL";
    case TRITONSERVER_PARAMETER_DOUBLE:
      return "DOUBLE";
    case TRITONSERVER_PARAMETER_BYTES:
      return "BYTES";
    default:
      return "<invalid>";
  }
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(const char* name,
                                                  const TRITONSERVER_ParameterType type,
                                                  const void* value) {
  if (name == nullptr || value == nullptr) {
    return nullptr;
  }
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      return OfPlugin(Parameter::OfString(name, static_cast<const char*>(value)));
    case TRITONSERVER_PARAMETER_INT:
      return OfPlugin(Parameter::OfInt(name, *static_cast<const int64_t*>(value)));
    case TRITONSERVER_PARAMETER_BOOL:
      return OfPlugin(Parameter::OfBool(name, *static_cast<const bool*>(value)));
    case TRITONSERVER_PARAMETER_DOUBLE:
      return OfPlugin(Parameter::OfDouble(name, *static_cast<const double*>(value)));
    default:
      return nullptr;
  }
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(const char* name, const void* bytes,
                                                       const uint64_t size) {
  return name == nullptr ? nullptr : OfPlugin(Parameter::OfBytes(name, bytes, size));
}

void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* pointer) {
  if (pointer == nullptr) {
    return;
  }
  Parameter* const parameter = Find<Parameter>(pointer);
  if (parameter == nullptr) {
    nereid::triton::Log(nereid::triton::kLogError,
                        nereid::triton::WrongHandle(NRT_SITE, Parameter::kKind, pointer).message());
  }
  delete parameter;
}

}  // extern "C"
