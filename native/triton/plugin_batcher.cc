#include "triton/plugin_batcher.h"

#include "triton/host.h"

namespace nereid::triton {

PluginBatcher::PluginBatcher(Model& model, TRITONBACKEND_Batcher* batcher)
    : model_(model), batcher_(batcher), views_(std::make_shared<ExecutionPool>(), model) {}

Status PluginBatcher::Open(Model& model, std::unique_ptr<PluginBatcher>* out) {
  TRITONBACKEND_Batcher* batcher = nullptr;
  NRD_RETURN_IF_ERROR(model.backend().Call("TRITONBACKEND_ModelBatcherInitialize", [&] {
    return model.backend().functions().batcher_initialize(&batcher,
                                                          Give<TRITONBACKEND_Model>(&model));
  }));
  out->reset(new PluginBatcher(model, batcher));
  return Status();
}

PluginBatcher::~PluginBatcher() {
  const Status status = model_.backend().Call("TRITONBACKEND_ModelBatcherFinalize", [&] {
    return model_.backend().functions().batcher_finalize(batcher_);
  });
  if (!status.ok()) {
    Log(kLogError, {model_.owner().name(), " failed to end the batcher of model '", model_.name(),
                    "': ", status.message()});
  }
}

nrd_batcher PluginBatcher::table() {
  return {
      this,
      [](void* self, const nrd_request* const* chosen, uint32_t chosen_count,
         const nrd_request* next) -> int32_t {
        return static_cast<PluginBatcher*>(self)->Includes({chosen, chosen_count}, next) ? 1 : 0;
      }};
}

bool PluginBatcher::Includes(std::span<const nrd_request* const> chosen, const nrd_request* next) {
  const MutexLock lock(mutex_);
  bool included = false;
  const Status status = Caught("choosing requests", [&] {
    views_.BeginViews(chosen, next);
    return Ask(&included);
  });
  views_.EndViews();
  if (!status.ok()) {
    Log(kLogError, {model_.owner().name(), " failed to choose requests of model '", model_.name(),
                    "': ", status.message()});
  }
  return status.ok() && included;
}

Status PluginBatcher::Ask(bool* included_out) {
  const Backend& backend = model_.backend();
  const BackendFunctions& functions = backend.functions();
  void* seen = nullptr;
  NRD_RETURN_IF_ERROR(backend.Call("TRITONBACKEND_ModelBatchInitialize",
                                   [&] { return functions.batch_initialize(batcher_, &seen); }));
  Status status;
  for (TRITONBACKEND_Request* const request : views_.handles()) {
    if (status.ok()) {
      status = backend.Call("TRITONBACKEND_ModelBatchIncludeRequest",
                            [&] { return functions.batch_include(request, seen, included_out); });
    }
  }
  Status ended = backend.Call("TRITONBACKEND_ModelBatchFinalize",
                              [&] { return functions.batch_finalize(seen); });
  return status.ok() ? std::move(ended) : std::move(status);
}

}  // namespace nereid::triton
