#include "core/sequence/backend_states.h"

#include <string>

#include "core/sequence/sequence.h"

namespace nereid {

BackendStates::BackendStates(const ModelConfig& config)
    : config_(config),
      sequences_(*config.sequences),
      given_(config.max_batch_requests() * sequences_.states.size()) {}

std::span<nrd_tensor> BackendStates::Given(uint32_t index) {
  const size_t count = sequences_.states.size();
  return std::span(given_).subspan(index * count, count);
}

Status BackendStates::Give(uint32_t index, uint32_t state, const nrd_tensor& made) {
  nrd_tensor& given = Given(index)[state];
  const std::string& name = config_.outputs[sequences_.states[state].output].name;
  if (given.data != nullptr || made.data == nullptr) {
    return Status::Internal("backend gave " +
                            std::string(made.data == nullptr ? "no memory" : "memory twice") +
                            " for state '" + name + "' of model '" + config_.name + "'");
  }
  given = made;
  given.slab = nullptr;
  given.flags = NRD_TENSOR_SELECTED | NRD_TENSOR_DEVICE;
  return Status();
}

Status BackendStates::Keep(uint32_t index, const Request& request) {
  if (request.sequence == nullptr) {
    return Status();  // a warm-up
  }
  const std::span<nrd_tensor> given = Given(index);
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].data == nullptr) {
      return Status::Internal("backend did not produce state '" +
                              config_.outputs[sequences_.states[i].output].name + "' of model '" +
                              config_.name + "'");
    }
  }
  for (size_t i = 0; i < given.size(); ++i) {
    nrd_tensor& kept = request.sequence->states[i];
    if (kept.data != given[i].data) {  // otherwise the new state overwrote the old one
      DropStates(sequences_, {&kept, 1});
    }
    kept = given[i];
    given[i].data = nullptr;
  }
  return Status();
}

void BackendStates::DropRest(std::span<Request* const> requests) {
  for (uint32_t index = 0; index < requests.size(); ++index) {
    const Sequence* const sequence = requests[index]->sequence;
    const std::span<nrd_tensor> given = Given(index);
    for (size_t i = 0; i < given.size(); ++i) {
      if (sequence != nullptr && sequence->states[i].data == given[i].data) {
        given[i].data = nullptr;  // the sequence owns it already
      }
    }
    DropStates(sequences_, given);
  }
}

}  // namespace nereid
