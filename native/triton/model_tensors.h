// The tensors of a model, as requests show them to a plug-in.
#ifndef NEREID_TRITON_MODEL_TENSORS_H_
#define NEREID_TRITON_MODEL_TENSORS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nereid/nereid.h"

namespace nereid::triton {

struct TensorInfo {
  std::string name;
  nrd_tensor_spec spec;    // without its name
  bool is_shown = true;    // false: the plug-in computes it from the configuration
  bool is_hidden = false;  // not part of requests: it is cut out of the batch's tensor
};

// A tensor that a sequence keeps.
struct StateInfo {
  uint32_t input;
  uint32_t output;
  bool in_place;  // the new state may take the place of the old one
};

struct ModelTensors {
  ModelTensors() = default;
  explicit ModelTensors(const nrd_model_options& options);

  // The index of an output by its name; -1: there is none.
  [[nodiscard]] int32_t OutputIndex(std::string_view output) const;
  // The index of a state by its output's name; -1: there is none.
  [[nodiscard]] int32_t StateIndex(std::string_view output) const;
  // The number of outputs that requests can have; hidden ones follow them.
  [[nodiscard]] uint32_t visible_outputs() const;

  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<StateInfo> states;
  bool batched = false;
  bool decoupled = false;
  bool sequences = false;
  bool direct = false;  // each row of the batch belongs to a sequence, even without a request
};

// Converts a client's shape of a tensor to the backend's.
void ToBackendShape(const TensorInfo& info, bool batched, nrd_tensor* tensor);

}  // namespace nereid::triton

#endif  // NEREID_TRITON_MODEL_TENSORS_H_
