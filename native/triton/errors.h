// The errors that plug-ins get and give, and the frame around each call in either direction: no
// exception crosses it, and a wrong handle is an error.
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

  Error(TRITONSERVER_Error_Code code, std::string message)
      : code_(code), message_(std::move(message)) {
    Open(kKind, &Owner::Current());
  }
  // It belongs to something of ours, so that deleting it does nothing: some plug-ins delete the
  // error of a response, and others do not.
  void Keep() { kept_ = true; }
  [[nodiscard]] bool kept() const { return kept_; }
  [[nodiscard]] TRITONSERVER_Error_Code code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  const TRITONSERVER_Error_Code code_;
  const std::string message_;
  bool kept_ = false;
};

// A new error, which is the receiver's to delete.
TRITONSERVER_Error* NewError(TRITONSERVER_Error_Code code, std::string message);
TRITONSERVER_Error* NewErrorOf(const Status& failure);
// NULL for a success. Inline, since nearly every call of a plug-in succeeds.
inline TRITONSERVER_Error* NewError(const Status& status) {
  return status.ok() ? nullptr : NewErrorOf(status);
}

// Makes a status of an error: the first leaves it to the plug-in, the second deletes it. NULL is
// OK.
Status StatusOf(TRITONSERVER_Error* error);
Status TakeStatus(TRITONSERVER_Error* error);

// Both ways between codes of Triton and NRD_*.
int32_t ToStatusCode(TRITONSERVER_Error_Code code);
TRITONSERVER_Error_Code ToErrorCode(int32_t code);

// The function that a plug-in called, and the place that it called from.
struct Site {
  const char* function;
  const void* caller;
};
#define NRT_SITE (::nereid::triton::Site{__func__, __builtin_return_address(0)})

// "TRITONBACKEND_RequestId: backend 'x' gave a request that …".
Status WrongHandle(const Site& site, Kind kind, const void* pointer);

// Makes a status of the exception that a call threw; call it within a catch.
Status StatusOfException(std::string_view what);

// Runs `body`, which returns a Status or nothing, for a plug-in that called.
template <typename Body>
TRITONSERVER_Error* Serve(const Site& site, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return nullptr;
    } else {
      return NewError(body());
    }
  } catch (...) {
    return NewError(StatusOfException(site.function));
  }
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

// Calls into a plug-in: `body` returns its TRITONSERVER_Error*, which this deletes. `what` is told
// when it throws: "TRITONBACKEND_Initialize".
template <typename Body>
Status CallPlugin(Owner& owner, std::string_view what, Body&& body) noexcept {
  const OwnerScope scope(owner);
  try {
    return TakeStatus(body());
  } catch (...) {
    return StatusOfException(owner.name() + ", " + std::string(what));
  }
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_ERRORS_H_
