// Frame of the functions that change an inference request: their checks, and their result.
#ifndef NEREID_TRITON_INFERENCE_CHANGE_H_
#define NEREID_TRITON_INFERENCE_CHANGE_H_

#include <type_traits>

#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/inference_request.h"

namespace nereid::triton {

// Runs `body`, which returns a Status or nothing, on a request that the plug-in may change.
template <typename Body>
TRITONSERVER_Error* Change(const Site& site, TRITONSERVER_InferenceRequest* request, Body&& body) {
  return Serve<InferenceRequest>(site, request, [&](InferenceRequest& known) -> Status {
    NRD_RETURN_IF_ERROR(known.CheckIdle());
    if constexpr (std::is_void_v<std::invoke_result_t<Body, InferenceRequest&>>) {
      body(known);
      return Status();
    } else {
      return body(known);
    }
  });
}

// The same for functions that take a name or another text.
template <typename Body>
TRITONSERVER_Error* ChangeBy(const Site& site, TRITONSERVER_InferenceRequest* request,
                             const char* text, Body&& body) {
  if (text == nullptr) {
    return NewError(CheckText(site, text, "the name or text"));
  }
  return Change(site, request, std::forward<Body>(body));
}

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_CHANGE_H_
