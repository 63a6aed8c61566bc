#ifndef NEREID_REHEARSAL_DRIVER_H_
#define NEREID_REHEARSAL_DRIVER_H_

#include "call.h"

namespace rehearsal::driver {

// Whether cuInit was called.
bool IsReady();

// A call that only needs cuInit before it: what is about contexts works when the device is broken,
// so that what is the processor's can be given back.
template <typename Body>
int Manage(const char* call, Body&& body) {
  const int fault = faults::Check(call);
  if (fault != 0) {
    return fault;
  }
  return static_cast<int>(IsReady() ? body() : Code::kNotInitialized);
}

// A call that needs cuInit before it.
template <typename Body>
int Call(const char* call, Body&& body) {
  return static_cast<int>(Called(call, [&] { return IsReady() ? body() : Code::kNotInitialized; }));
}

// A call that needs a context, too.
template <typename Body>
int CallInContext(const char* call, Body&& body) {
  return Call(call, [&] { return CurrentContext() == nullptr ? Code::kInvalidContext : body(); });
}

// The same for what gives something back.
template <typename Body>
int EndInContext(const char* call, Body&& body) {
  return static_cast<int>(
      Ended(call, [&] { return CurrentContext() == nullptr ? Code::kInvalidContext : body(); }));
}

}  // namespace rehearsal::driver

#endif  // NEREID_REHEARSAL_DRIVER_H_
