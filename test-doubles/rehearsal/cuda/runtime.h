#ifndef NEREID_REHEARSAL_RUNTIME_H_
#define NEREID_REHEARSAL_RUNTIME_H_

#include "call.h"
#include "stream.h"

namespace rehearsal::runtime {

// Keeps an error for cudaGetLastError, and gives it back.
int Told(Code code);

// A call that needs a device.
template <typename Body>
int Call(const char* call, Body&& body) {
  return Told(Called(call, [&] { return DeviceCount() == 0 ? Code::kNoDevice : body(); }));
}

// A call that is forbidden while the calling thread captures, too.
template <typename Body>
int CallUncaptured(const char* call, Body&& body) {
  return Call(call, [&] {
    const Code forbidden = ForbiddenInCapture();
    return forbidden != Code::kSuccess ? forbidden : body();
  });
}

// The same for what gives something back.
template <typename Body>
int End(const char* call, Body&& body) {
  return Told(Ended(call, body));
}

// A call with a stream, which is given to the body.
template <typename Body>
int CallOnStream(const char* call, const void* stream, Body&& body) {
  return Call(call, [&] {
    const auto found = FindStream(stream, call);
    return found == nullptr ? Code::kInvalidHandle : body(found);
  });
}

}  // namespace rehearsal::runtime

#endif  // NEREID_REHEARSAL_RUNTIME_H_
