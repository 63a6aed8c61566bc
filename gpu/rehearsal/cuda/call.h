#ifndef NEREID_REHEARSAL_CALL_H_
#define NEREID_REHEARSAL_CALL_H_

#include <exception>

#include "codes.h"
#include "device.h"
#include "faults.h"

// Before each function that a stand-in has under the name that NVIDIA's library has.
#define REHEARSAL_API extern "C" __attribute__((visibility("default")))

namespace rehearsal {

// What every call does first: a fault that was put in, then what broke the calling thread's device.
template <typename Body>
Code Called(const char* call, Body&& body) {
  const int fault = faults::Check(call);
  if (fault != 0) {
    return static_cast<Code>(fault);
  }
  const Code broken = Broken(CurrentDevice());
  if (broken != Code::kSuccess) {
    return broken;
  }
  try {
    return body();
  } catch (const std::exception&) {  // there is no memory or no thread any more
    return Code::kOutOfMemory;
  }
}

// The same for what gives something back, which it does whatever it answers.
template <typename Body>
Code Ended(const char* call, Body&& body) {
  const int fault = faults::Check(call);
  const Code code = body();
  if (fault != 0) {
    return static_cast<Code>(fault);
  }
  const Code broken = Broken(CurrentDevice());
  return broken != Code::kSuccess ? broken : code;
}

}  // namespace rehearsal

#endif  // NEREID_REHEARSAL_CALL_H_
