// Errors passed to and from plug-ins, and the frame around each call: no exception crosses it, and
// a wrong handle is an error.
#ifndef NEREID_TRITON_ERRORS_H_
#define NEREID_TRITON_ERRORS_H_

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/status.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"

namespace nereid::triton {

class Error : public Handle {
 public:
  static constexpr Kind kKind = Kind::kError;

  // `owner` must delete it; null: it belongs to an object of this library.
  Error(TRITONSERVER_Error_Code code, std::string_view message, Owner* owner)
      : code_(code), message_(message), kept_(owner == nullptr) {
    Open(kKind, owner);
  }
  // The error for lack of memory, made with the host. It is never deleted.
  static Error& OutOfMemory();

  // True if deletion has no effect: some plug-ins delete the error of a response, others do not.
  [[nodiscard]] bool kept() const { return kept_; }
  [[nodiscard]] TRITONSERVER_Error_Code code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  const TRITONSERVER_Error_Code code_;
  const std::string message_;
  const bool kept_;
};

// A new error; the receiver deletes it.
TRITONSERVER_Error* NewError(TRITONSERVER_Error_Code code, std::string_view message) noexcept;
TRITONSERVER_Error* NewErrorOf(const Status& failure) noexcept;
// NULL for success. Inline, since nearly every call of a plug-in succeeds.
inline TRITONSERVER_Error* NewError(const Status& status) noexcept {
  return status.ok() ? nullptr : NewErrorOf(status);
}

// Convert an error to a status; NULL is OK. The first leaves the error to the plug-in, the second
// deletes it.
Status StatusOf(TRITONSERVER_Error* error) noexcept;
Status TakeStatus(TRITONSERVER_Error* error) noexcept;

// Convert between Triton's codes and NRD_*.
int32_t ToStatusCode(TRITONSERVER_Error_Code code);
TRITONSERVER_Error_Code ToErrorCode(int32_t code);

// The function that a plug-in called, and the caller's address.
struct Site {
  const char* function;
  const void* caller;
};
#define NRT_SITE (::nereid::triton::Site{__func__, __builtin_return_address(0)})

// "TRITONBACKEND_RequestId: backend 'x' gave a request that …".
Status WrongHandle(const Site& site, Kind kind, const void* pointer) noexcept;

// Makes a status of the current exception; call it within a catch. `owner` made the call; empty:
// this library.
Status StatusOfException(std::string_view what, std::string_view owner = {}) noexcept;

// Runs `body`, which returns a Status, and turns exceptions into a Status.
template <typename Body>
Status Caught(std::string_view what, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return StatusOfException(what);
  }
}

// Runs `body`, which returns a Status or nothing, for a plug-in's call.
template <typename Body>
TRITONSERVER_Error* Serve(const Site& site, Body&& body) noexcept {
  return NewError(Caught(site.function, [&]() -> Status {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return Status();
    } else {
      return body();
    }
  }));
}

// The same for the object behind `pointer`: body(T&).
template <typename T, typename Body>
TRITONSERVER_Error* Serve(const Site& site, const void* pointer, Body&& body) noexcept {
  return Serve(site, [&]() -> Status {
    T* const object = Find<T>(pointer);
    if (object == nullptr) [[unlikely]] {
      return WrongHandle(site, T::kKind, pointer);
    }
    if constexpr (std::is_void_v<std::invoke_result_t<Body, T&>>) {
      body(*object);
      return Status();
    } else {
      return body(*object);
    }
  });
}

// Calls a plug-in: `body` returns its TRITONSERVER_Error*, which this deletes. `what` names the
// function if it throws: "TRITONBACKEND_Initialize".
template <typename Body>
Status CallPlugin(Owner& owner, std::string_view what, Body&& body) noexcept {
  const OwnerScope scope(owner);
  try {
    return TakeStatus(body());
  } catch (...) {
    return StatusOfException(what, owner.name());
  }
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_ERRORS_H_
