#include "core/schedule/admission.h"

namespace nereid {

Status Admission::WhyRefused(const Request& request) const {
  if (request.cancelled.load(std::memory_order_relaxed)) {
    return Status(NRD_CANCELLED, "Request was cancelled before it was submitted");
  }
  if (!is_open()) {
    return Status::Unavailable("Request for unknown model: '" + config_.name + "' version " +
                               config_.version + " is not at ready state");
  }
  return Status(NRD_DEADLINE_EXCEEDED, "Request deadline expired before it was submitted");
}

}  // namespace nereid
