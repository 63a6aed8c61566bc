#include "test/core/sequence_fixture.h"

#include <algorithm>

namespace nereid::test {
namespace {

nrd_tensor_spec Spec(std::string_view name, int32_t datatype, uint32_t flags) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(name);
  spec.datatype = datatype;
  spec.flags = flags;
  spec.rank = 1;
  spec.dims[0] = 1;
  return spec;
}

nrd_control Control(uint32_t input, int32_t kind) {
  nrd_control control{};
  control.input = input;
  control.kind = kind;
  control.yes[0] = 1;
  return control;
}

std::vector<int32_t> Ints(const nrd_tensor& tensor) {
  const auto* const data = static_cast<const int32_t*>(tensor.data);
  return {data, data + tensor.byte_size / sizeof(int32_t)};
}

std::vector<std::string> Ids(const nrd_tensor& tensor) {
  std::vector<std::string> ids;
  const auto* data = static_cast<const char*>(tensor.data);
  for (int64_t row = 0; row < tensor.shape[0]; ++row) {
    if (tensor.datatype != NRD_TYPE_BYTES) {
      uint64_t id = 0;
      std::memcpy(&id, data + row * 8, sizeof(id));
      ids.push_back(std::to_string(id));
      continue;
    }
    uint32_t size = 0;
    std::memcpy(&size, data, sizeof(size));
    ids.emplace_back(data + sizeof(size), size);
    data += sizeof(size) + size;
  }
  return ids;
}

}  // namespace

int32_t LoadSequenceModel(nrd_runtime* runtime, const nrd_backend& backend,
                          const SequenceSettings& settings, nrd_model** model_out,
                          nrd_error* error_out) {
  std::vector<nrd_tensor_spec> inputs = {Spec("INPUT", NRD_TYPE_INT32, 0)};
  std::vector<nrd_tensor_spec> outputs = {Spec("OUTPUT", NRD_TYPE_INT32, 0)};
  std::vector<nrd_control> controls;
  nrd_state state{};
  if (settings.with_state) {
    inputs.push_back(Spec("STATE_IN", NRD_TYPE_INT32, NRD_SPEC_HIDDEN));
    outputs.push_back(Spec("STATE_OUT", NRD_TYPE_INT32, NRD_SPEC_HIDDEN));
    state = {.input = 1, .output = 1, .flags = settings.state_flags, .rank = 1};
    state.dims[0] = 1;
    state.initial = settings.initial_state == 0 ? nullptr : &settings.initial_state;
    state.initial_size = sizeof(int32_t);
  } else {
    inputs.push_back(Spec("START", NRD_TYPE_INT32, NRD_SPEC_HIDDEN));
    inputs.push_back(Spec("END", NRD_TYPE_INT32, NRD_SPEC_HIDDEN));
    inputs.push_back(Spec("READY", NRD_TYPE_INT32, NRD_SPEC_HIDDEN));
    inputs.push_back(
        Spec("CORRID", settings.text_ids ? NRD_TYPE_BYTES : NRD_TYPE_UINT64, NRD_SPEC_HIDDEN));
    controls = {Control(1, NRD_CONTROL_START), Control(2, NRD_CONTROL_END),
                Control(3, NRD_CONTROL_READY), Control(4, NRD_CONTROL_CORRID)};
  }
  const nrd_sequence_options sequences = {.strategy = settings.strategy,
                                          .flags = settings.sequence_flags,
                                          .max_idle_ns = settings.max_idle_ns,
                                          .candidates = settings.candidates,
                                          .control_count = static_cast<uint32_t>(controls.size()),
                                          .minimum_slot_utilization = settings.minimum_utilization,
                                          .controls = controls.data(),
                                          .states = &state,
                                          .state_count = settings.with_state ? 1U : 0U,
                                          .reserved = 0};
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = settings.flags;
  options.name = AsNrdString("adder");
  options.version = AsNrdString("1");
  options.backend = &backend;
  options.inputs = inputs.data();
  options.outputs = outputs.data();
  options.input_count = static_cast<uint32_t>(inputs.size());
  options.output_count = static_cast<uint32_t>(outputs.size());
  options.max_batch_size = settings.max_batch_size;
  options.instance_count = settings.instance_count;
  options.preferred_batch_sizes = settings.preferred_sizes.data();
  options.preferred_batch_size_count = static_cast<uint32_t>(settings.preferred_sizes.size());
  options.max_queue_delay_ns = settings.max_queue_delay_ns;
  options.sequences = &sequences;
  return nrd_model_load(runtime, &options, nullptr, model_out, error_out);
}

SequenceModel::SequenceModel(TestRuntime& runtime, const SequenceSettings& settings)
    : settings_(settings) {
  gate.Open();
  backend_.run = [this](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    if (settings_.own_states) {
      return ExecuteByOwnState(batch, error);
    }
    return settings_.with_state ? ExecuteByState(batch, error) : Execute(batch, error);
  };
  if (settings_.own_states) {
    backend_.flags = NRD_BACKEND_OWN_STATES;
    backend_.release_state = [this](const nrd_tensor* state) { Release(*state); };
  }
  nrd_error error{};
  nrd_model* loaded = nullptr;
  const nrd_backend table = backend_.Table();
  const int32_t code = LoadSequenceModel(runtime.get(), table, settings, &loaded, &error);
  REQUIRE_MESSAGE(code == NRD_OK, std::string(error.message, error.message_size));
  model_ = std::make_unique<TestModel>(loaded);
}

nrd_sequence_stats SequenceModel::stats() {
  nrd_sequence_stats stats{};
  nrd_model_sequence_stats_read(get(), &stats);
  return stats;
}

std::vector<SeenBatch> SequenceModel::seen() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return seen_;
}

SeenBatch SequenceModel::Note(const nrd_batch& batch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  seen_.push_back({.start = Ints(batch.inputs[1]),
                   .end = Ints(batch.inputs[2]),
                   .ready = Ints(batch.inputs[3]),
                   .ids = Ids(batch.inputs[4])});
  return seen_.back();
}

namespace {

// An output of the whole batch with the shape of its first input.
int32_t* MakeOutput(nrd_batch* batch, uint32_t index, nrd_error* error) {
  const nrd_tensor& input = batch->inputs[0];
  void* data = nullptr;
  return nrd_batch_output(batch, index, NRD_TYPE_INT32, input.rank, input.shape, input.byte_size,
                          &data, error) == NRD_OK
             ? static_cast<int32_t*>(data)
             : nullptr;
}

}  // namespace

int32_t SequenceModel::Execute(nrd_batch* batch, nrd_error* error) {
  const SeenBatch seen = Note(*batch);
  int32_t* const out = MakeOutput(batch, 0, error);
  if (out == nullptr) {
    return error->code;
  }
  const std::vector<int32_t> values = Ints(batch->inputs[0]);
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    const uint32_t row = batch->requests[i]->first_row;
    if (values[row] == kPoison) {
      nrd_batch_request_fail(batch, i, NRD_INTERNAL, "poisoned", 8);
      continue;
    }
    const std::string key =
        settings_.strategy == NRD_SEQUENCES_DIRECT ? std::to_string(row) : seen.ids[row];
    const std::lock_guard<std::mutex> lock(mutex_);
    int32_t& sum = sums_[{batch, key}];  // a batch's record is that of its instance
    sum = (seen.start[row] != 0 ? 0 : sum) + values[row];
    out[row] = sum;
  }
  return NRD_OK;
}

// The new state is written last, since it may overwrite the old one.
int32_t SequenceModel::ExecuteByState(nrd_batch* batch, nrd_error* error) {
  int32_t* const out = MakeOutput(batch, 0, error);
  int32_t* const kept = MakeOutput(batch, 1, error);
  if (out == nullptr || kept == nullptr) {
    return error->code;
  }
  const std::vector<int32_t> values = Ints(batch->inputs[0]);
  const std::vector<int32_t> before = Ints(batch->inputs[1]);
  for (size_t row = 0; row < values.size(); ++row) {
    kept[row] = before[row] + values[row];
    out[row] = kept[row];
  }
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    if (values[batch->requests[i]->first_row] == kPoison) {
      nrd_batch_request_fail(batch, i, NRD_INTERNAL, "poisoned", 8);
    }
  }
  return NRD_OK;
}

int32_t SequenceModel::ExecuteByOwnState(nrd_batch* batch, nrd_error* error) {
  const nrd_tensor& described = batch->inputs[1];
  CHECK(described.data == nullptr);
  CHECK(described.shape[0] == batch->batch_size);
  CHECK((batch->outputs[1].flags & NRD_TENSOR_SELECTED) == 0);
  int32_t* const out = MakeOutput(batch, 0, error);
  if (out == nullptr) {
    return error->code;
  }
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    int32_t sum = 0;
    if (const int32_t code = AddToOwnState(batch, i, &sum, error); code != NRD_OK) {
      return code;
    }
    out[batch->requests[i]->first_row] = sum;
  }
  return NRD_OK;
}

int32_t SequenceModel::AddToOwnState(nrd_batch* batch, uint32_t index, int32_t* sum_out,
                                     nrd_error* error) {
  const int32_t value = Ints(batch->inputs[0])[batch->requests[index]->first_row];
  nrd_tensor state{};
  if (const int32_t code = nrd_batch_request_state(batch, index, 0, &state, error);
      code != NRD_OK) {
    return code;
  }
  const bool kept = (state.flags & NRD_TENSOR_DEVICE) != 0;
  const auto before = reinterpret_cast<uintptr_t>(state.data);
  const bool over = kept && (settings_.state_flags & NRD_STATE_SAME_BUFFER) != 0;
  nrd_tensor made{.data = nullptr,
                  .byte_size = sizeof(int32_t),
                  .slab = nullptr,
                  .datatype = NRD_TYPE_INT32,
                  .rank = 2,
                  .flags = 0,
                  .device = 3,
                  .shape = {1, 1}};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    *sum_out = value + (kept ? device_.at(before) : Ints(state).front());
    const uintptr_t place = over ? before : next_address_++;
    device_[place] = *sum_out;
    most_states_ = std::max(most_states_, device_.size());
    made.data = reinterpret_cast<void*>(place);
  }
  if (value == kPoison) {
    nrd_batch_request_fail(batch, index, NRD_INTERNAL, "poisoned", 8);
  }
  return nrd_batch_request_keep(batch, index, 0, &made, error);
}

void SequenceModel::Release(const nrd_tensor& state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  CHECK(state.device == 3);
  CHECK(device_.erase(reinterpret_cast<uintptr_t>(state.data)) == 1);
}

size_t SequenceModel::states_left() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return device_.size();
}

size_t SequenceModel::most_states() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return most_states_;
}

SequenceRequest::SequenceRequest(SequenceModel& model, uint64_t id, int32_t value, uint32_t flags)
    : TestRequest(model.model(), 1, value, 1) {
  get()->sequence_id = id;
  get()->flags |= flags;
}

SequenceRequest::SequenceRequest(SequenceModel& model, std::string name, int32_t value,
                                 uint32_t flags)
    : TestRequest(model.model(), 1, value, 1), name_(std::move(name)) {
  get()->sequence_name = AsNrdString(name_);
  get()->flags |= flags;
}

int32_t SequenceRequest::Sum() {
  const int32_t code = SubmitAndWait();
  REQUIRE_MESSAGE(code == NRD_OK, std::string(message()));
  return output().front();
}

}  // namespace nereid::test
