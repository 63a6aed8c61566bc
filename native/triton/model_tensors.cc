#include "triton/model_tensors.h"

#include <algorithm>
#include <span>

#include "base/status.h"

namespace nereid::triton {

namespace {

std::vector<TensorInfo> Infos(const nrd_tensor_spec* specs, uint32_t count) {
  std::vector<TensorInfo> infos;
  for (const nrd_tensor_spec& spec : std::span(specs, count)) {
    TensorInfo& info = infos.emplace_back();
    info.name = View(spec.name);
    info.spec = spec;
    info.spec.name = {};
    info.is_hidden = (spec.flags & NRD_SPEC_HIDDEN) != 0;
  }
  return infos;
}

}  // namespace

ModelTensors::ModelTensors(const nrd_model_options& options)
    : inputs(Infos(options.inputs, options.input_count)),
      outputs(Infos(options.outputs, options.output_count)),
      batched(options.max_batch_size > 0),
      decoupled((options.flags & NRD_MODEL_DECOUPLED) != 0) {
  for (const nrd_combined_input& combined :
       std::span(options.combined_inputs, options.combined_input_count)) {
    inputs[combined.input].is_shown = false;
  }
  if (const nrd_sequence_options* const wanted = options.sequences; wanted != nullptr) {
    sequences = true;
    direct = wanted->strategy == NRD_SEQUENCES_DIRECT;
    for (const nrd_state& state : std::span(wanted->states, wanted->state_count)) {
      const TensorInfo& output = outputs[state.output];
      // A client may still read a state that it received, and strings move as they grow.
      const bool in_place = (state.flags & NRD_STATE_SAME_BUFFER) != 0 && output.is_hidden &&
                            output.spec.datatype != NRD_TYPE_BYTES;
      states.push_back({state.input, state.output, in_place});
    }
  }
}

int32_t ModelTensors::OutputIndex(std::string_view output) const {
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const TensorInfo& info) { return info.name == output; });
  return found == outputs.end() ? -1 : static_cast<int32_t>(found - outputs.begin());
}

int32_t ModelTensors::StateIndex(std::string_view output) const {
  const auto found = std::find_if(states.begin(), states.end(), [&](const StateInfo& state) {
    return outputs[state.output].name == output;
  });
  return found == states.end() ? -1 : static_cast<int32_t>(found - states.begin());
}

uint32_t ModelTensors::visible_outputs() const {
  return static_cast<uint32_t>(std::count_if(
      outputs.begin(), outputs.end(), [](const TensorInfo& info) { return !info.is_hidden; }));
}

void ToBackendShape(const TensorInfo& info, bool batched, nrd_tensor* tensor) {
  const nrd_tensor_spec& spec = info.spec;
  if ((spec.flags & NRD_SPEC_RESHAPE) == 0) [[likely]] {
    return;
  }
  const uint32_t before = batched ? 1 : 0;
  int64_t shape[NRD_MAX_RANK] = {tensor->shape[0]};
  uint32_t from = 0;  // behind the last free dimension that was taken
  for (uint32_t i = 0; i < spec.reshape_rank && before + i < NRD_MAX_RANK; ++i) {
    int64_t size = spec.reshape[i];
    while (size < 0 && from < spec.rank) {
      if (spec.dims[from++] < 0) {
        size = tensor->shape[before + from - 1];
      }
    }
    shape[before + i] = size;
  }
  std::copy_n(shape, NRD_MAX_RANK, tensor->shape);
  tensor->rank = before + spec.reshape_rank;
}

}  // namespace nereid::triton
