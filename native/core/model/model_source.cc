#include "core/model/model_source.h"

#include <utility>

namespace nereid {

ModelSource::ModelSource(Runtime& runtime, const nrd_model_options& options)
    : runtime_(runtime),
      backend_(*options.backend),
      name_(View(options.name)),
      version_(View(options.version)) {}

ModelSource::~ModelSource() {
  if (open_) {
    backend_.close_model(state_);
  }
}

Status ModelSource::Open(Runtime& runtime, const nrd_model_options& options,
                         std::unique_ptr<ModelSource>* source_out) {
  if (options.backend == nullptr || options.backend->struct_size != sizeof(nrd_backend)) {
    return Status::InvalidArgument("the backend's table is missing or has the wrong size");
  }
  std::unique_ptr<ModelSource> source(new ModelSource(runtime, options));
  const nrd_backend& backend = source->backend_;
  nrd_error error{};
  const int32_t code = backend.open_model(backend.context, &options, &source->state_, &error);
  NRD_RETURN_IF_ERROR(StatusFromCallback(code, error, "opening the model"));
  source->open_ = true;
  *source_out = std::move(source);
  return Status();
}

int32_t ModelSource::Tensor(int32_t kind, uint32_t index, nrd_tensor_spec* spec_out) const {
  if (kind != NRD_TENSOR_INPUT && kind != NRD_TENSOR_OUTPUT) {
    return NRD_INVALID_ARGUMENT;
  }
  *spec_out = nrd_tensor_spec{};
  return backend_.describe == nullptr ? NRD_UNIMPLEMENTED
                                      : backend_.describe(state_, kind, index, spec_out);
}

Status ModelSource::Configure(const nrd_model_options& options) {
  if (View(options.name) != name_ || View(options.version) != version_) {
    return Status::InvalidArgument("model '" + std::string(View(options.name)) + "' version '" +
                                   std::string(View(options.version)) + "'" +
                                   " cannot be loaded from what was opened for " + "model '" +
                                   name_ + "' version '" + version_ + "'");
  }
  if (backend_.configure == nullptr) {
    return Status();
  }
  nrd_error error{};
  const int32_t code = backend_.configure(state_, &options, &error);
  return StatusFromCallback(code, error, "configuring the model");
}

void ModelSource::ReadMemory(uint64_t* weight_bytes_out, uint64_t* working_bytes_out) const {
  *weight_bytes_out = 0;
  *working_bytes_out = 0;
  if (backend_.memory_read != nullptr) {
    backend_.memory_read(state_, weight_bytes_out, working_bytes_out);
  }
}

}  // namespace nereid
