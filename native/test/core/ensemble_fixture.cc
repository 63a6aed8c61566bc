#include "test/core/ensemble_fixture.h"

#include <algorithm>

namespace nereid::test {

nrd_tensor_spec Int32Spec(const char* name) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(name);
  spec.datatype = NRD_TYPE_INT32;
  spec.rank = 1;
  spec.dims[0] = 4;
  return spec;
}

EnsembleSettings Chain(const std::vector<nrd_model*>& models) {
  EnsembleSettings settings;
  for (uint32_t i = 0; i < models.size(); ++i) {
    settings.steps.push_back({models[i], {{0, i}}, {{0, i + 1}}});
  }
  settings.output_values = {static_cast<uint32_t>(models.size())};
  return settings;
}

int32_t LoadEnsemble(TestRuntime& runtime, const EnsembleSettings& settings, nrd_model** model_out,
                     std::string* message_out) {
  std::vector<nrd_step> steps;
  size_t value_count = settings.inputs.size();
  for (const EnsembleSettings::Step& step : settings.steps) {
    steps.push_back({step.model, step.inputs.data(), step.outputs.data(),
                     static_cast<uint32_t>(step.inputs.size()),
                     static_cast<uint32_t>(step.outputs.size())});
    value_count += step.outputs.size();
  }
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = settings.flags;
  options.name = AsNrdString(settings.name);
  options.version = AsNrdString("1");
  options.backend = settings.backend;
  options.inputs = settings.inputs.data();
  options.outputs = settings.outputs.data();
  options.input_count = static_cast<uint32_t>(settings.inputs.size());
  options.output_count = static_cast<uint32_t>(settings.outputs.size());
  options.max_batch_size = settings.max_batch_size;
  options.instance_count = settings.instance_count;
  options.max_inflight_requests = settings.max_inflight_requests;
  options.steps = steps.data();
  options.step_count = static_cast<uint32_t>(steps.size());
  options.output_values = settings.output_values.data();
  options.value_count =
      static_cast<uint32_t>(settings.value_count < 0 ? value_count : settings.value_count);
  nrd_error error{};
  const int32_t code = nrd_model_load(runtime.get(), &options, nullptr, model_out, &error);
  message_out->assign(error.message, error.message_size);
  return code;
}

nrd_model* LoadEnsemble(TestRuntime& runtime, const EnsembleSettings& settings) {
  nrd_model* model = nullptr;
  std::string message;
  const int32_t code = LoadEnsemble(runtime, settings, &model, &message);
  REQUIRE_MESSAGE(code == NRD_OK, message);
  return model;
}

int32_t SumInputs(nrd_batch* batch, nrd_error* error, int32_t amount) {
  const nrd_tensor& first = batch->inputs[0];
  for (uint32_t i = 0; i < batch->output_count; ++i) {
    if ((batch->outputs[i].flags & NRD_TENSOR_SELECTED) == 0) {
      continue;
    }
    void* data = nullptr;
    const int32_t code = nrd_batch_output(batch, i, first.datatype, first.rank, first.shape,
                                          first.byte_size, &data, error);
    if (code != NRD_OK) {
      return code;
    }
    auto* const sums = static_cast<int32_t*>(data);
    const size_t count = first.byte_size / sizeof(int32_t);
    std::fill_n(sums, count, amount);
    for (uint32_t j = 0; j < batch->input_count; ++j) {
      if ((batch->inputs[j].flags & NRD_TENSOR_SELECTED) != 0) {
        const auto* const values = static_cast<const int32_t*>(batch->inputs[j].data);
        std::transform(sums, sums + count, values, sums, std::plus<>());
      }
    }
  }
  return NRD_OK;
}

FunctionBackend Adder(int32_t amount) {
  return {.run = [amount](nrd_batch* batch, nrd_error* error) {
    return SumInputs(batch, error, amount);
  }};
}

int32_t FailWith(nrd_error* error, int32_t code, const char* message) {
  return Report(Status(code, message), error);
}

}  // namespace nereid::test
