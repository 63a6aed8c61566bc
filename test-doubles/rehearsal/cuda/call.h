#ifndef NEREID_REHEARSAL_CALL_H_
#define NEREID_REHEARSAL_CALL_H_

#include <exception>

#include "codes.h"
#include "device.h"
#include "faults.h"
#include "stream.h"

// Before each function that a stand-in has under the name that NVIDIA's library has.
#define REHEARSAL_API extern "C" __attribute__((visibility("default")))

namespace rehearsal {

// What every call does first: a fault that was put in, then what broke the calling thread's device.
// A fault is told to `on_fault`.
template <typename Body, typename OnFault>
Code Called(const char* call, Body&& body, OnFault&& on_fault) {
  const auto fault = static_cast<Code>(faults::Check(call));
  if (fault != Code::kSuccess) {
    on_fault(fault);
    return fault;
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

template <typename Body>
Code Called(const char* call, Body&& body) {
  return Called(call, body, [](Code) {});
}

// The same for what waits. One that fails has not waited, and its caller can do nothing about work
// that is under way: as on a GPU, the device is broken then, and no work runs any more.
template <typename Body>
Code Waited(const char* call, Body&& body) {
  return Called(call, body, [](Code fault) {
    Break(CurrentDevice(), fault);
    AwaitRunning(CurrentDevice());
  });
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
