// Calls that report into an nrd_error, and callbacks of plug-ins that cannot report anything.
#ifndef NEREID_TRITON_CALLS_H_
#define NEREID_TRITON_CALLS_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "triton/errors.h"
#include "triton/handle.h"
#include "triton/host.h"

namespace nereid::triton {

inline std::string_view MessageOf(const nrd_error& error) {
  return {error.message, error.message_size};
}

// Calls the core or the control plane: body(nrd_error*) returns a status. `what` is told where no
// message came.
template <typename Body>
Status Ask(std::string_view what, Body&& body) {
  nrd_error error{};
  error.struct_size = sizeof(error);
  const int32_t code = body(&error);
  return code == NRD_OK ? Status() : StatusFromCallback(code, error, what);
}

// Calls a plug-in's function that returns nothing: what it throws is logged.
template <typename Body>
void CallBack(Owner& owner, std::string_view what, Body&& body) noexcept {
  const Status status = CallPlugin(owner, what, [&]() -> TRITONSERVER_Error* {
    body();
    return nullptr;
  });
  if (!status.ok()) {
    Log(kLogError, status.message());
  }
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_CALLS_H_
