// A model's batching by sequences as the core keeps it.
#ifndef NEREID_CORE_CONFIG_SEQUENCE_CONFIG_H_
#define NEREID_CORE_CONFIG_SEQUENCE_CONFIG_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nereid/nereid.h"

namespace nereid {

// An input that tells, for each row of a batch, the place of its request in its sequence.
struct ControlSpec {
  uint32_t input = 0;  // index of a hidden input
  int32_t kind = NRD_CONTROL_START;
  std::array<uint8_t, 8> no = {};  // an element, in its first bytes
  std::array<uint8_t, 8> yes = {};
};

// A tensor that goes from one request of a sequence to the next.
struct StateSpec {
  uint32_t input = 0;   // index of a hidden input
  uint32_t output = 0;  // index of an output, hidden or not
  bool same_buffer = false;
  std::vector<int64_t> dims;  // for the first request, without the batch dimension
  std::string initial;        // all elements for the first request
};

struct SequenceConfig {
  bool direct = true;      // a sequence keeps a slot of an instance's batch; false: the oldest run
  bool iterative = false;  // each request is a sequence, executed until its backend is done
  // A sequence's row in the batch is its slot, so that a model can keep state by row. If the core
  // keeps the state, rows have no gaps.
  bool rows_are_slots = true;
  int64_t max_idle_ns = 0;
  uint32_t slots = 1;              // slots of each instance
  double minimum_utilization = 0;  // direct: share of filled slots at which a batch waits no longer
  bool states_vary = false;        // the size of some state may differ between sequences
  std::vector<ControlSpec> controls;
  std::vector<StateSpec> states;
  // Takes a state back that lies in memory of the backend's own; null: states lie in the pool.
  void (*release_state)(void* model_state, const nrd_tensor* state) = nullptr;
  void* model_state = nullptr;  // the backend's argument for release_state
};

}  // namespace nereid

#endif  // NEREID_CORE_CONFIG_SEQUENCE_CONFIG_H_
