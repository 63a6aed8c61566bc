#include "triton/pinned_model.h"

#include <utility>

#include "triton/calls.h"

namespace nereid::triton {

Status PinnedModel::Acquire(std::string_view name, int64_t version, const SequenceOf& sequence) {
  const nrt_host& host = TheHost();
  nrt_found_model found{};
  NRD_RETURN_IF_ERROR(Ask("the search for a model", [&](nrd_error* error) {
    return host.model_acquire(host.context, AsNrdString(name), version, sequence.id,
                              AsNrdString(sequence.name), sequence.request_flags, &found, error);
  }));
  found_ = found;
  return Status();
}

void PinnedModel::Release() {
  if (found_.model != nullptr) {
    TheHost().model_release(TheHost().context, std::exchange(found_, {}).pin);
  }
}

}  // namespace nereid::triton
