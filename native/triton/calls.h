// Calls that report into an nrd_error, and callbacks of plug-ins that return nothing.
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

// Calls the core or the control plane: body(nrd_error*) returns a status. `what` stands for a
// missing message.
template <typename Body>
Status Ask(std::string_view what, Body&& body) {
  nrd_error error;  // clearing its text would cost more than most calls
  error.struct_size = sizeof(error);
  error.code = NRD_OK;
  error.message_size = 0;
  error.reserved = 0;
  const int32_t code = body(&error);
  return code == NRD_OK ? Status() : StatusFromCallback(code, error, what);
}

// Calls a plug-in's function that returns nothing; exceptions are logged.
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

// Fails unless the plug-in's pointer is the server.
inline Status CheckServer(const Site& site, const TRITONSERVER_Server* server) {
  return Handle::IsOpen(server, Kind::kServer) ? Status()
                                               : WrongHandle(site, Kind::kServer, server);
}

// Checks a text that a plug-in must give: `what` is "the model's name".
inline Status CheckText(const Site& site, const char* text, std::string_view what) {
  return text != nullptr ? Status()
                         : Status::InvalidArgument(std::string(site.function) + ": " +
                                                   std::string(what) + " is NULL");
}

// Checks the version of a configuration that a plug-in asks for; the message is Triton's.
inline Status CheckConfigVersion(uint32_t version) {
  return version == 1
             ? Status()
             : Status::InvalidArgument("model configuration version " + std::to_string(version) +
                                       " not supported, supported versions are: 1");
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_CALLS_H_
