#include "core/sequence/sequence_options.h"

#include <algorithm>
#include <string_view>

#include "base/tensor.h"
#include "core/config/model_config.h"
#include "core/request/request.h"

namespace nereid {
namespace {

constexpr uint64_t kStandardIdleNs = 1'000'000'000;
constexpr uint32_t kMaxSlots = 65'536;

// Checks the hidden input of a control or state; `what` names it in the message.
Status CheckHiddenInput(const ModelConfig& config, uint32_t input, std::string_view what) {
  if (input < config.visible_inputs || input >= config.inputs.size()) {
    return Status::InvalidArgument(std::string(what) + " names input " + std::to_string(input) +
                                   ", expected a hidden one, of which the model has those from " +
                                   std::to_string(config.visible_inputs) + " to " +
                                   std::to_string(config.inputs.size()) + ", that excluded");
  }
  return Status();
}

Status ReadControl(const ModelConfig& config, const nrd_control& control,
                   ControlSpec* control_out) {
  NRD_RETURN_IF_ERROR(CheckHiddenInput(config, control.input, "a control"));
  const TensorSpec& input = config.inputs[control.input];
  const bool correlates = control.kind == NRD_CONTROL_CORRID;
  if (control.kind < NRD_CONTROL_START || control.kind > NRD_CONTROL_CORRID) {
    return Status::InvalidArgument("control '" + input.name + "' is of kind " +
                                   std::to_string(control.kind) + ", which there is not");
  }
  const int32_t type = input.datatype;
  const bool fits =
      correlates ? type == NRD_TYPE_UINT64 || type == NRD_TYPE_INT64 || type == NRD_TYPE_UINT32 ||
                       type == NRD_TYPE_INT32 || type == NRD_TYPE_BYTES
                 : type == NRD_TYPE_INT32 || type == NRD_TYPE_FP32 || type == NRD_TYPE_BOOL;
  if (!fits || input.dims != std::vector<int64_t>{1}) {
    return Status::InvalidArgument(
        "control '" + input.name + "' is of datatype " + std::string(DataTypeName(type)) + " and " +
        std::to_string(input.dims.size()) + " dimensions, expected one element of " +
        (correlates ? "UINT64, INT64, UINT32, INT32 or BYTES" : "INT32, FP32 or BOOL"));
  }
  control_out->input = control.input;
  control_out->kind = control.kind;
  std::copy(std::begin(control.no), std::end(control.no), control_out->no.begin());
  std::copy(std::begin(control.yes), std::end(control.yes), control_out->yes.begin());
  return Status();
}

// Reads a sequence's first state: the caller's bytes, or zeros, which for BYTES are empty strings.
Status ReadInitial(const nrd_state& state, const TensorSpec& input, StateSpec* state_out) {
  const std::string what = "the initial state of '" + input.name + "'";
  uint64_t byte_size = 0;
  const auto rank = static_cast<uint32_t>(state_out->dims.size());
  const bool strings = input.datatype == NRD_TYPE_BYTES;
  if (strings) {
    NRD_RETURN_IF_ERROR(ElementCount(rank, state_out->dims.data(), &byte_size, what));
    byte_size *= sizeof(uint32_t);
  } else {
    NRD_RETURN_IF_ERROR(
        TensorByteSize(input.datatype, rank, state_out->dims.data(), &byte_size, what));
  }
  if (state.initial == nullptr) {
    state_out->initial.assign(byte_size, '\0');
    return Status();
  }
  if (!strings && state.initial_size != byte_size) {
    return Status::InvalidArgument(what + " has " + std::to_string(state.initial_size) +
                                   " bytes, expected " + std::to_string(byte_size));
  }
  state_out->initial.assign(static_cast<const char*>(state.initial), state.initial_size);
  if (!strings) {
    return Status();
  }
  return ValidateBytes(state_out->initial.data(), state_out->initial.size(),
                       byte_size / sizeof(uint32_t), what);
}

Status ReadState(const ModelConfig& config, const nrd_state& state, StateSpec* state_out) {
  NRD_RETURN_IF_ERROR(CheckHiddenInput(config, state.input, "a state"));
  const TensorSpec& input = config.inputs[state.input];
  if (state.output >= config.outputs.size()) {
    return Status::InvalidArgument("state '" + input.name + "' names output " +
                                   std::to_string(state.output) + ", the model has " +
                                   std::to_string(config.outputs.size()));
  }
  const TensorSpec& output = config.outputs[state.output];
  if (output.datatype != input.datatype) {
    return Status::InvalidArgument(
        "state '" + input.name + "' is of datatype " + std::string(DataTypeName(input.datatype)) +
        ", its output '" + output.name + "' of " + std::string(DataTypeName(output.datatype)));
  }
  if (state.rank != input.dims.size()) {
    return Status::InvalidArgument("the initial state of '" + input.name + "' has " +
                                   std::to_string(state.rank) + " dimensions, expected " +
                                   std::to_string(input.dims.size()));
  }
  state_out->dims.assign(state.dims, state.dims + state.rank);
  for (size_t i = 0; i < state_out->dims.size(); ++i) {
    const int64_t dim = state_out->dims[i];
    if (dim < 0 || (input.dims[i] >= 0 && input.dims[i] != dim)) {
      return Status::InvalidArgument(
          "dimension " + std::to_string(i) + " of the initial state of '" + input.name + "' is " +
          std::to_string(dim) + ", expected " +
          (input.dims[i] < 0 ? "a size" : std::to_string(input.dims[i])));
    }
  }
  state_out->input = state.input;
  state_out->output = state.output;
  state_out->same_buffer = (state.flags & NRD_STATE_SAME_BUFFER) != 0;
  return ReadInitial(state, input, state_out);
}

Status CheckModes(const nrd_model_options& options, const nrd_sequence_options& sequences,
                  const ModelConfig& config) {
  if (sequences.strategy != NRD_SEQUENCES_DIRECT && sequences.strategy != NRD_SEQUENCES_OLDEST) {
    return Status::InvalidArgument("the strategy of sequences is " +
                                   std::to_string(sequences.strategy) +
                                   ", expected direct (1) or oldest (2)");
  }
  if ((options.flags & NRD_MODEL_DYNAMIC_BATCHING) != 0) {
    return Status::InvalidArgument("sequence batching and dynamic batching exclude each other");
  }
  if (config.use_cache) {
    return Status::InvalidArgument(
        "response_cache is not possible with sequences: an answer depends on earlier requests");
  }
  const bool direct = sequences.strategy == NRD_SEQUENCES_DIRECT;
  if (direct && config.preserve_ordering) {
    return Status::InvalidArgument("preserve_ordering is not possible with direct sequences");
  }
  if ((sequences.flags & NRD_SEQUENCES_ITERATIVE) != 0 && config.preserve_ordering) {
    return Status::InvalidArgument("preserve_ordering is not possible with iterative sequences");
  }
  if (!(sequences.minimum_slot_utilization >= 0 && sequences.minimum_slot_utilization <= 1)) {
    return Status::InvalidArgument("minimum_slot_utilization is " +
                                   std::to_string(sequences.minimum_slot_utilization) +
                                   ", expected 0 to 1");
  }
  if (sequences.candidates > kMaxSlots) {
    return Status::InvalidArgument("max_candidate_sequences is " +
                                   std::to_string(sequences.candidates) + ", at most " +
                                   std::to_string(kMaxSlots) + " are supported");
  }
  return Status();
}

// Refuses ragged inputs, batch inputs and batch outputs if rows are slots, some of which are empty.
Status CheckRagged(const ModelConfig& config) {
  const bool ragged = !config.combined_inputs.empty() || config.scatters ||
                      std::any_of(config.inputs.begin(), config.inputs.end(),
                                  [](const TensorSpec& input) { return input.ragged; });
  if (ragged && config.sequences->rows_are_slots) {
    return Status::InvalidArgument(
        "the rows of a batch are slots, some of which have no request, so that ragged inputs, "
        "batch inputs and batch outputs are not possible: expected the strategy oldest");
  }
  return Status();
}

}  // namespace

Status ReadSequenceConfig(const nrd_model_options& options, ModelConfig* config) {
  const nrd_sequence_options& given = *options.sequences;
  NRD_RETURN_IF_ERROR(CheckModes(options, given, *config));
  SequenceConfig& sequences = config->sequences.emplace();
  sequences.direct = given.strategy == NRD_SEQUENCES_DIRECT;
  sequences.iterative = (given.flags & NRD_SEQUENCES_ITERATIVE) != 0;
  sequences.max_idle_ns = AddDelay(0, given.max_idle_ns == 0 ? kStandardIdleNs : given.max_idle_ns);
  const int64_t rows = std::clamp<int64_t>(config->max_batch_size, 1, kMaxSlots);
  sequences.slots =
      sequences.direct || given.candidates == 0 ? static_cast<uint32_t>(rows) : given.candidates;
  sequences.minimum_utilization = given.minimum_slot_utilization;
  sequences.controls.resize(given.control_count);
  for (uint32_t i = 0; i < given.control_count; ++i) {
    NRD_RETURN_IF_ERROR(ReadControl(*config, given.controls[i], &sequences.controls[i]));
  }
  sequences.states.resize(given.state_count);
  for (uint32_t i = 0; i < given.state_count; ++i) {
    NRD_RETURN_IF_ERROR(ReadState(*config, given.states[i], &sequences.states[i]));
    const std::vector<int64_t>& dims = config->inputs[given.states[i].input].dims;
    sequences.states_vary |= std::find(dims.begin(), dims.end(), -1) != dims.end();
  }
  sequences.rows_are_slots = sequences.direct && sequences.states.empty();
  NRD_RETURN_IF_ERROR(CheckRagged(*config));
  config->batch_policy.dynamic = config->batched();
  config->core_gathers = true;
  // A rescheduled request has no waiting submitter any more.
  config->allow_inline = config->allow_inline && !sequences.iterative;
  return Status();
}

}  // namespace nereid
