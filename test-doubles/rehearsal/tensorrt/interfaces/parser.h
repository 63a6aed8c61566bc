// The parser of ONNX files and its errors: objects that callers use directly, in the order of
// the parsers of TensorRT 10.6 and 11.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_PARSER_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_PARSER_H_

#include <cstddef>
#include <cstdint>

#include "basics.h"

namespace rehearsal::trt {

class ParserErrorCalls {
 public:
  static constexpr const char* kInterface = "IParserError";

  virtual std::int32_t code() const = 0;
  virtual const char* desc() const = 0;
  virtual const char* file() const = 0;
  virtual std::int32_t line() const = 0;
  virtual const char* func() const = 0;
  virtual std::int32_t node() const = 0;
  virtual const char* nodeName() const = 0;
  virtual const char* nodeOperator() const = 0;
  virtual const char* const* localFunctionStack() const = 0;
  virtual std::int32_t localFunctionStackSize() const = 0;

 protected:
  ~ParserErrorCalls() = default;
};

class ParserCalls {
 public:
  static constexpr const char* kInterface = "IParser";

  REHEARSAL_LACKS(parse)
  virtual bool parseFromFile(const char* file, std::int32_t verbosity) = 0;
  REHEARSAL_TEN_LACKS(supportsModel)
  REHEARSAL_TEN_LACKS(parseWithWeightDescriptors)
  REHEARSAL_LACKS(supportsOperator)
  virtual std::int32_t getNbErrors() const = 0;
  virtual const ParserErrorCalls* getError(std::int32_t index) const = 0;
  REHEARSAL_LACKS(clearErrors)
  // The two destructors.
  virtual void Destruct() = 0;
  virtual void Delete() = 0;
  REHEARSAL_LACKS(getUsedVCPluginLibraries)
  REHEARSAL_LACKS(setFlags)
  REHEARSAL_LACKS(getFlags)
  REHEARSAL_LACKS(clearFlag)
  REHEARSAL_LACKS(setFlag)
  REHEARSAL_LACKS(getFlag)

 protected:
  ~ParserCalls() = default;
};

class ParserRefitterCalls {
 public:
  static constexpr const char* kInterface = "IParserRefitter";

  REHEARSAL_LACKS(refitFromBytes)
  virtual bool refitFromFile(const char* file) = 0;
  virtual std::int32_t getNbErrors() const = 0;
  virtual const ParserErrorCalls* getError(std::int32_t index) const = 0;
  REHEARSAL_LACKS(clearErrors)
  // The two destructors.
  virtual void Destruct() = 0;
  virtual void Delete() = 0;

 protected:
  ~ParserRefitterCalls() = default;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_PARSER_H_
