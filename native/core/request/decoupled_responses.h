// Responses of decoupled models: many responses to one request.
#ifndef NEREID_CORE_REQUEST_DECOUPLED_RESPONSES_H_
#define NEREID_CORE_REQUEST_DECOUPLED_RESPONSES_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "core/request/output_maker.h"
#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid {

// Delivers the responses of a decoupled request, except the one that completes it, unless the
// request has a receiver.
struct Responder {
  nrd_respond_fn respond = nullptr;  // null: no callback
  void* context = nullptr;

  // Null and 0 announce a response: see nrd_respond_fn.
  void Respond(Request& request, nrd_tensor* outputs, uint32_t count) const;
};

// Has no state: several threads of a backend may send at once, each for a request of its own.
class DecoupledResponses {
 public:
  // `maker` outlives this.
  explicit DecoupledResponses(const OutputMaker& maker) : maker_(maker) {}

  // Hands the outputs that the request has now to the responder, which may keep their buffers, and
  // empties them for the next response. Without a responder they are dropped. `request_index` is
  // the backend's number of the request. Fails if an output is missing or nobody waits any more;
  // that also fails the request, since a request that lacks one must not look complete.
  Status Send(Request& request, uint32_t request_index, const Responder* responder) const;

  // The same with an error in place of outputs. The error ends the request of an ensemble's step or
  // one without a responder: NRD_CANCELLED tells the backend to send no more.
  Status SendError(Request& request, uint32_t request_index, const Responder* responder,
                   int32_t code, std::string_view message) const;

  // Checks the outputs at the end: the last response may be missing, but must not be incomplete.
  void CheckLast(Request& request) const;

 private:
  const OutputMaker& maker_;
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_DECOUPLED_RESPONSES_H_
