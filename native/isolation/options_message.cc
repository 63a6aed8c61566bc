#include "isolation/options_message.h"

#include <algorithm>
#include <string_view>

namespace nereid {
namespace {

// The least bytes of a spec: one without a name.
constexpr size_t kSpecBytes = sizeof(uint64_t) + 4 * sizeof(uint32_t);

template <typename Value>
void WriteAll(const Value* values, uint32_t count, MessageWriter* writer) {
  writer->Put(count);
  for (uint32_t i = 0; i < count; ++i) {
    writer->Put(values[i]);
  }
}

template <typename Value>
void ReadAll(MessageReader* reader, std::vector<Value>* values) {
  values->resize(reader->GetCount(sizeof(Value)));
  for (Value& value : *values) {
    value = reader->Get<Value>();
  }
}

void WriteSpecs(const nrd_tensor_spec* specs, uint32_t count, MessageWriter* writer) {
  writer->Put(count);
  for (uint32_t i = 0; i < count; ++i) {
    WriteSpec(specs[i], writer);
  }
}

void ReadSpecs(MessageReader* reader, std::vector<nrd_tensor_spec>* specs) {
  specs->resize(reader->GetCount(kSpecBytes));
  for (nrd_tensor_spec& spec : *specs) {
    spec = ReadSpec(reader);
  }
}

void WriteSequences(const nrd_sequence_options* sequences, MessageWriter* writer) {
  writer->Put(static_cast<uint8_t>(sequences != nullptr ? 1 : 0));
  if (sequences == nullptr) {
    return;
  }
  writer->Put(sequences->strategy);
  writer->Put(sequences->flags);
  writer->Put(sequences->max_idle_ns);
  writer->Put(sequences->candidates);
  writer->Put(sequences->minimum_slot_utilization);
  WriteAll(sequences->controls, sequences->control_count, writer);
  writer->Put(sequences->state_count);
  for (uint32_t i = 0; i < sequences->state_count; ++i) {
    const nrd_state& state = sequences->states[i];
    writer->Put(state.input);
    writer->Put(state.output);
    // the old state is read-only in the child
    writer->Put(state.flags & ~uint32_t{NRD_STATE_SAME_BUFFER});
    writer->Put(state.rank);
    writer->Put(state.dims);
    writer->Put(static_cast<uint8_t>(state.initial != nullptr ? 1 : 0));
    writer->PutText(state.initial == nullptr
                        ? std::string_view()
                        : std::string_view(static_cast<const char*>(state.initial),
                                           static_cast<size_t>(state.initial_size)));
  }
}

template <typename Value>
void GetArray(MessageReader* reader, Value* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    values[i] = reader->Get<Value>();
  }
}

}  // namespace

void WriteSpec(const nrd_tensor_spec& spec, MessageWriter* writer) {
  writer->PutText(View(spec.name));
  writer->Put(spec.datatype);
  writer->Put(spec.rank);
  writer->Put(spec.flags);
  writer->Put(spec.reshape_rank);
  writer->Put(spec.dims);
  writer->Put(spec.reshape);
}

nrd_tensor_spec ReadSpec(MessageReader* reader) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(reader->GetText());
  spec.datatype = reader->Get<int32_t>();
  spec.rank = reader->Get<uint32_t>();
  spec.flags = reader->Get<uint32_t>();
  spec.reshape_rank = reader->Get<uint32_t>();
  GetArray(reader, spec.dims, NRD_MAX_RANK);
  GetArray(reader, spec.reshape, NRD_MAX_RANK);
  return spec;
}

void WriteOptions(const nrd_model_options& options, MessageWriter* writer) {
  writer->PutText(View(options.name));
  writer->PutText(View(options.version));
  writer->Put(options.flags & NRD_MODEL_DECOUPLED);
  writer->Put(options.max_batch_size);
  writer->Put(options.instance_count);
  writer->Put(static_cast<uint32_t>(options.parameter_count));
  for (uint64_t i = 0; i < options.parameter_count; ++i) {
    writer->PutText(View(options.parameters[i].key));
    writer->PutText(View(options.parameters[i].value));
  }
  WriteSpecs(options.inputs, options.input_count, writer);
  WriteSpecs(options.outputs, options.output_count, writer);
  WriteAll(options.combined_inputs, options.combined_input_count, writer);
  WriteAll(options.scattered_outputs, options.scattered_output_count, writer);
  WriteSequences(options.sequences, writer);
}

Status ReadOptions::Read(std::string_view body) {
  body_ = body;
  MessageReader reader(body_);
  options_ = {};
  options_.struct_size = sizeof(nrd_model_options);
  options_.name = AsNrdString(reader.GetText());
  options_.version = AsNrdString(reader.GetText());
  options_.flags = reader.Get<uint32_t>();
  options_.max_batch_size = reader.Get<int64_t>();
  options_.instance_count = reader.Get<uint32_t>();
  parameters_.resize(reader.GetCount(2 * sizeof(uint64_t)));
  for (nrd_parameter& parameter : parameters_) {
    parameter.key = AsNrdString(reader.GetText());
    parameter.value = AsNrdString(reader.GetText());
  }
  ReadSpecs(&reader, &inputs_);
  ReadSpecs(&reader, &outputs_);
  ReadAll(&reader, &combined_);
  ReadAll(&reader, &scattered_);
  options_.parameters = parameters_.data();
  options_.parameter_count = parameters_.size();
  options_.inputs = inputs_.data();
  options_.input_count = static_cast<uint32_t>(inputs_.size());
  options_.outputs = outputs_.data();
  options_.output_count = static_cast<uint32_t>(outputs_.size());
  options_.combined_inputs = combined_.data();
  options_.combined_input_count = static_cast<uint32_t>(combined_.size());
  options_.scattered_outputs = scattered_.data();
  options_.scattered_output_count = static_cast<uint32_t>(scattered_.size());
  ReadSequences(&reader);
  return reader.ok() ? Status() : Status::Internal("the model's options came incomplete");
}

void ReadOptions::ReadSequences(MessageReader* reader) {
  if (reader->Get<uint8_t>() == 0) {
    return;
  }
  sequences_ = {};
  sequences_.strategy = reader->Get<int32_t>();
  sequences_.flags = reader->Get<uint32_t>();
  sequences_.max_idle_ns = reader->Get<uint64_t>();
  sequences_.candidates = reader->Get<uint32_t>();
  sequences_.minimum_slot_utilization = reader->Get<double>();
  ReadAll(reader, &controls_);
  states_.resize(reader->GetCount(sizeof(uint64_t)));
  for (nrd_state& state : states_) {
    state.input = reader->Get<uint32_t>();
    state.output = reader->Get<uint32_t>();
    state.flags = reader->Get<uint32_t>();
    state.rank = reader->Get<uint32_t>();
    GetArray(reader, state.dims, NRD_MAX_RANK);
    const bool has_initial = reader->Get<uint8_t>() != 0;
    const std::string_view initial = reader->GetText();
    state.initial = has_initial ? initial.data() : nullptr;
    state.initial_size = initial.size();
  }
  sequences_.controls = controls_.data();
  sequences_.control_count = static_cast<uint32_t>(controls_.size());
  sequences_.states = states_.data();
  sequences_.state_count = static_cast<uint32_t>(states_.size());
  options_.sequences = &sequences_;
}

}  // namespace nereid
