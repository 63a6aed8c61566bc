// A request of a batch in a child.
#ifndef NEREID_ISOLATION_CHILD_CHILD_REQUEST_H_
#define NEREID_ISOLATION_CHILD_CHILD_REQUEST_H_

#include <cstdint>
#include <vector>

#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

// The ABI's nrd_request* is this object. Its batch guards `made`; the rest is constant while the
// backend has the batch.
struct ChildRequest {
  nrd_request record;
  const ChannelControl* control = nullptr;
  uint32_t index = 0;
  std::vector<nrd_tensor> inputs;
  std::vector<nrd_tensor> outputs;
  std::vector<nrd_value> values;
  std::vector<Record> made;  // outputs that were not sent yet

  static const ChildRequest* From(const nrd_request* request) {
    return reinterpret_cast<const ChildRequest*>(request);
  }
  [[nodiscard]] bool IsCancelled() const { return control->IsCancelled(index); }
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_CHILD_REQUEST_H_
