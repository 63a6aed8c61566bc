#include "isolation/isolated_backend.h"

#include <memory>
#include <utility>

#include "base/guarded.h"
#include "isolation/isolated_instance.h"

namespace nereid {
namespace {

// An instance and its model, for closing.
struct Handle {
  IsolatedModel* model;
  std::unique_ptr<IsolatedInstance> instance;
};

int32_t OpenModel(void* context, const nrd_model_options* options, void** model_out,
                  nrd_error* error_out) {
  return Guarded(error_out, [&] {
    IsolationOptions isolation;
    NRD_RETURN_IF_ERROR(ReadIsolationOptions(*options, &isolation));
    auto model = std::make_unique<IsolatedModel>(*options, std::move(isolation),
                                                 *static_cast<const LogTarget*>(context));
    NRD_RETURN_IF_ERROR(model->Open(*options));
    *model_out = model.release();
    return Status();
  });
}

int32_t Describe(void* model, int32_t kind, uint32_t index, nrd_tensor_spec* spec_out) {
  const IsolatedModel::Described& described = static_cast<IsolatedModel*>(model)->described();
  if (!described.known) {
    return NRD_UNIMPLEMENTED;
  }
  const auto& specs = kind == NRD_TENSOR_INPUT ? described.inputs : described.outputs;
  if (index >= specs.size()) {
    return NRD_NOT_FOUND;
  }
  *spec_out = specs[index];
  return NRD_OK;
}

int32_t ConfigureModel(void* model, const nrd_model_options* options, nrd_error* error_out) {
  return Guarded(error_out,
                 [&] { return static_cast<IsolatedModel*>(model)->Configure(*options); });
}

void ReadMemory(void* model, uint64_t* weight_bytes_out, uint64_t* working_bytes_out) {
  static_cast<const IsolatedModel*>(model)->ReadMemory(weight_bytes_out, working_bytes_out);
}

void CloseModel(void* model) { delete static_cast<IsolatedModel*>(model); }

int32_t OpenInstance(void* model, uint32_t index, void** instance_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    auto handle = std::make_unique<Handle>();
    handle->model = static_cast<IsolatedModel*>(model);
    NRD_RETURN_IF_ERROR(handle->model->OpenInstance(index, &handle->instance));
    *instance_out = handle.release();
    return Status();
  });
}

void CloseInstance(void* instance) {
  const std::unique_ptr<Handle> handle(static_cast<Handle*>(instance));
  handle->model->CloseInstance(*handle->instance);
}

int32_t Execute(void* instance, nrd_batch* batch, nrd_error* error_out) {
  return Guarded(error_out,
                 [&] { return static_cast<Handle*>(instance)->instance->Execute(batch); });
}

}  // namespace

nrd_backend IsolatedBackend(const LogTarget* log, const nrd_backend& inner) {
  return {.struct_size = sizeof(nrd_backend),
          .flags = inner.flags & (NRD_BACKEND_OUTPUT_PER_INPUT | NRD_BACKEND_FREE_OUTPUTS),
          .context = const_cast<LogTarget*>(log),
          .open_model = OpenModel,
          .describe = Describe,
          .configure = ConfigureModel,
          .memory_read = ReadMemory,
          .open_instance = OpenInstance,
          .execute = Execute,
          .close_instance = CloseInstance,
          .close_model = CloseModel,
          .release_state = nullptr};
}

nrd_backend IsolatedPlugins(const LogTarget* log) {
  nrd_backend table = IsolatedBackend(log, {});
  table.flags = NRD_BACKEND_OWN_THREAD | NRD_BACKEND_GATHERS | NRD_BACKEND_FREE_OUTPUTS;
  return table;
}

IsolatedModel* AsIsolated(const nrd_backend& backend, void* model_state) {
  return backend.open_model == OpenModel ? static_cast<IsolatedModel*>(model_state) : nullptr;
}

}  // namespace nereid
