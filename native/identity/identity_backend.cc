#include "identity/identity_backend.h"

#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/status.h"

namespace nereid {
namespace {

struct IdentityModel {
  std::chrono::milliseconds execute_delay{0};
  std::vector<bool> is_ragged;  // for each input
};

Status ReadDelay(const nrd_model_options& options, IdentityModel* model) {
  for (uint64_t i = 0; i < options.parameter_count; ++i) {
    const std::string_view value = View(options.parameters[i].value);
    if (View(options.parameters[i].key) != "execute_delay_ms") {
      continue;
    }
    uint32_t delay_ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), delay_ms);
    if (error != std::errc() || end != value.data() + value.size()) {
      return Status::InvalidArgument("parameter execute_delay_ms is '" + std::string(value) +
                                     "', expected a whole number of milliseconds");
    }
    model->execute_delay = std::chrono::milliseconds(delay_ms);
  }
  return Status();
}

int32_t OpenModel(void* /*context*/, const nrd_model_options* options, void** model_out,
                  nrd_error* error_out) {
  if (options->output_count > options->input_count) {
    return Report(
        Status::InvalidArgument(
            "the identity backend answers with each input as the output of the same position: "
            "expected at most as many outputs as inputs, got " +
            std::to_string(options->output_count) + " outputs and " +
            std::to_string(options->input_count) + " inputs"),
        error_out);
  }
  auto model = std::make_unique<IdentityModel>();
  const Status status = ReadDelay(*options, model.get());
  if (status.ok()) {
    *model_out = model.release();
  }
  return Report(status, error_out);
}

int32_t Configure(void* model, const nrd_model_options* options, nrd_error* /*error*/) {
  auto& is_ragged = static_cast<IdentityModel*>(model)->is_ragged;
  for (uint32_t i = 0; i < options->input_count; ++i) {
    is_ragged.push_back((options->inputs[i].flags & NRD_SPEC_RAGGED) != 0);
  }
  return NRD_OK;
}

void CloseModel(void* model) { delete static_cast<IdentityModel*>(model); }

int32_t OpenInstance(void* model, uint32_t /*index*/, void** instance_out, nrd_error* /*error*/) {
  *instance_out = model;  // no state of its own
  return NRD_OK;
}

void CloseInstance(void* /*instance*/) {}

// Copies a ragged input, whose requests differ in shape, to an output of each request.
int32_t CopyEach(nrd_batch* batch, uint32_t index, nrd_error* error_out) {
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    const nrd_tensor& input = batch->requests[i]->inputs[index];
    void* data = nullptr;
    const int32_t code = nrd_batch_request_output(batch, i, index, input.datatype, input.rank,
                                                  input.shape, input.byte_size, &data, error_out);
    if (code != NRD_OK) {
      return code;
    }
    if (input.byte_size > 0) {
      std::memcpy(data, input.data, input.byte_size);
    }
  }
  return NRD_OK;
}

int32_t Execute(void* instance, nrd_batch* batch, nrd_error* error_out) {
  const auto* const model = static_cast<const IdentityModel*>(instance);
  if (model->execute_delay.count() > 0) {
    std::this_thread::sleep_for(model->execute_delay);
  }
  for (uint32_t i = 0; i < batch->output_count; ++i) {
    if (((batch->outputs[i].flags & batch->inputs[i].flags) & NRD_TENSOR_SELECTED) == 0) {
      continue;
    }
    const int32_t code = batch->request_count > 1 && model->is_ragged[i]
                             ? CopyEach(batch, i, error_out)
                             : nrd_batch_output_forward(batch, i, i, error_out);
    if (code != NRD_OK) {
      return code;
    }
  }
  return NRD_OK;
}

}  // namespace

nrd_backend IdentityBackend() {
  return {.struct_size = sizeof(nrd_backend),
          .flags = NRD_BACKEND_OUTPUT_PER_INPUT | NRD_BACKEND_FREE_OUTPUTS,
          .context = nullptr,
          .open_model = OpenModel,
          .describe = nullptr,
          .configure = Configure,
          .memory_read = nullptr,
          .open_instance = OpenInstance,
          .execute = Execute,
          .close_instance = CloseInstance,
          .close_model = CloseModel,
          .release_state = nullptr};
}

}  // namespace nereid
