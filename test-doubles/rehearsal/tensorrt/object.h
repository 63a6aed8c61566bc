// What all objects of TensorRT that callers hold have in common.
#ifndef NEREID_REHEARSAL_TENSORRT_OBJECT_H_
#define NEREID_REHEARSAL_TENSORRT_OBJECT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "interfaces/basics.h"
#include "interfaces/callbacks.h"

namespace rehearsal::trt {

// Where the errors of an object go: to the logger that it, or who made it, was given. TensorRT says
// why something failed nowhere else. From any thread.
class Log {
 public:
  explicit Log(LoggerCalls* logger) : logger_(logger) {}

  void Say(Severity severity, const std::string& message) const;
  void Error(const std::string& message) const { Say(Severity::kError, message); }

 private:
  LoggerCalls* logger_;
};

// The life of an object: a line in the table of handles from its making to its deletion. Who is
// made by another must go before it, except where `outlives_maker` says otherwise.
class Life {
 public:
  // `handle` is what the caller holds; `kind` is a text that lives for ever.
  Life(const void* handle, const char* kind, const char* call, Life* maker);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() = default;

  // Whether the object may be used; else a misuse is recorded.
  [[nodiscard]] bool IsAlive(const char* call) const;

  // Ends it; false, with a misuse recorded, if it ended before. Records a misuse when there is
  // still something that it made.
  bool End(const char* call);

 private:
  const void* handle_;
  const char* kind_;
  Life* maker_;  // its object keeps its place in memory
  std::atomic<int> made_{0};
};

// Begins a call that can fail: false when the object was deleted before or the call shall fail,
// which is logged.
bool Begin(const Life& life, const Log& log, const char* call);

// The same for functions that make the first object.
bool Begin(const Log& log, const char* call);

// What a code of CUDA says in the log.
std::string TextOfCode(const char* call, int code);

// Runs something that may refuse or run out of memory, and logs that. False, null or `otherwise`.
template <typename Function, typename Result = decltype(std::declval<Function>()())>
Result Guarded(const Log& log, const char* call, Result otherwise, const Function& function);

void LogException(const Log& log, const char* call);

template <typename Function, typename Result>
Result Guarded(const Log& log, const char* call, Result otherwise, const Function& function) {
  try {
    return function();
  } catch (...) {
    LogException(log, call);
    return otherwise;
  }
}

// An object that was deleted: its place in memory stays, so that calls on it are found out.
void Bury(const void* object);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_OBJECT_H_
