// Objects that the caller makes and TensorRT calls.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_CALLBACKS_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_CALLBACKS_H_

#include <cstdint>
#include <cstring>

#include "basics.h"

namespace rehearsal::trt {

enum class Severity : std::int32_t {
  kInternalError = 0,
  kError = 1,
  kWarning = 2,
  kInfo = 3,
  kVerbose = 4,
};

struct InterfaceInfo {
  const char* kind;
  std::int32_t major;
  std::int32_t minor;
};

// The beginning of interfaces that have versions; the destructors are never called from here.
class VersionedCalls {
 public:
  virtual std::int32_t getAPILanguage() const = 0;
  virtual InterfaceInfo getInterfaceInfo() const = 0;
  virtual void Destruct() = 0;
  virtual void Delete() = 0;

 protected:
  ~VersionedCalls() = default;
};

// Has a version since TensorRT 11.
#if REHEARSAL_TENSORRT == 10
class LoggerCalls {
#else
class LoggerCalls : public VersionedCalls {
#endif
 public:
  virtual void log(Severity severity, const char* message) = 0;

  // Whether it tells a version that this TensorRT knows; without versions it is taken as it is.
#if REHEARSAL_TENSORRT == 10
  static bool IsKnown(const LoggerCalls& /*logger*/) { return true; }
#else
  static bool IsKnown(const LoggerCalls& logger) {
    const InterfaceInfo info = logger.getInterfaceInfo();
    return logger.getAPILanguage() == 0 && std::strcmp(info.kind, "ILogger") == 0 &&
           info.major == 1;
  }
#endif

 protected:
  ~LoggerCalls() = default;
};

class OutputAllocatorCalls : public VersionedCalls {
 public:
  virtual void* reallocateOutput(const char* tensor, void* current, std::uint64_t bytes,
                                 std::uint64_t alignment) = 0;
  virtual void* reallocateOutputAsync(const char* tensor, void* current, std::uint64_t bytes,
                                      std::uint64_t alignment, void* stream) = 0;
  virtual void notifyShape(const char* tensor, const Dims& dims) = 0;

 protected:
  ~OutputAllocatorCalls() = default;
};

class ProgressMonitorCalls : public VersionedCalls {
 public:
  virtual void phaseStart(const char* phase, const char* parent, std::int32_t steps) = 0;
  virtual bool stepComplete(const char* phase, std::int32_t step) = 0;
  virtual void phaseFinish(const char* phase) = 0;

 protected:
  ~ProgressMonitorCalls() = default;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_CALLBACKS_H_
