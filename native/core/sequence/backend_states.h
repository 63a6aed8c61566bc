#ifndef NEREID_CORE_SEQUENCE_BACKEND_STATES_H_
#define NEREID_CORE_SEQUENCE_BACKEND_STATES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid {

// States of sequences in the backend's own memory, such as a device's. Belongs to the
// BatchExecution of one instance. The core knows which sequence owns such a state and where it
// lies, and never reads it. A backend's state waits here until its request succeeds, and then takes
// the place of the sequence's; if the request fails it goes back.
class BackendStates {
 public:
  // `config` outlives this, and its sequences have states in the backend's memory.
  explicit BackendStates(const ModelConfig& config);

  // Takes a new state for request `index` of the batch from the backend.
  Status Give(uint32_t index, uint32_t state, const nrd_tensor& made);

  // Moves the given states of a request that succeeded to its sequence: all, or on failure none.
  Status Keep(uint32_t index, const Request& request);

  // Gives back the states that no sequence keeps. `requests` are the batch's.
  void DropRest(std::span<Request* const> requests);

 private:
  std::span<nrd_tensor> Given(uint32_t index);

  const ModelConfig& config_;
  const SequenceConfig& sequences_;
  std::vector<nrd_tensor> given_;  // the states of each request, one request after another
};

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_BACKEND_STATES_H_
