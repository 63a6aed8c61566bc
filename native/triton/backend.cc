#include "triton/backend.h"

#include <utility>

#include "triton/host.h"
#include "triton/json.h"

namespace nereid::triton {

namespace {

std::string ConfigJson(std::span<const nrd_parameter> config) {
  std::string members;
  for (const nrd_parameter& parameter : config) {
    members += (members.empty() ? "" : ",") + Quoted(View(parameter.key)) + ":" +
               Quoted(View(parameter.value));
  }
  return "{\"cmdline\":{" + members + "}}";
}

}  // namespace

BackendFunctions::BackendFunctions(const PluginLibrary& library) {
  library.Take("TRITONBACKEND_Initialize", &initialize);
  library.Take("TRITONBACKEND_Finalize", &finalize);
  library.Take("TRITONBACKEND_GetBackendAttribute", &attribute);
  library.Take("TRITONBACKEND_ModelInitialize", &model_initialize);
  library.Take("TRITONBACKEND_ModelFinalize", &model_finalize);
  library.Take("TRITONBACKEND_ModelInstanceInitialize", &instance_initialize);
  library.Take("TRITONBACKEND_ModelInstanceFinalize", &instance_finalize);
  library.Take("TRITONBACKEND_ModelInstanceExecute", &execute);
  library.Take("TRITONBACKEND_ModelInstanceReady", &ready);
  library.Take("TRITONBACKEND_ModelBatcherInitialize", &batcher_initialize);
  library.Take("TRITONBACKEND_ModelBatcherFinalize", &batcher_finalize);
  library.Take("TRITONBACKEND_ModelBatchIncludeRequest", &batch_include);
  library.Take("TRITONBACKEND_ModelBatchInitialize", &batch_initialize);
  library.Take("TRITONBACKEND_ModelBatchFinalize", &batch_finalize);
}

Backend::Backend(Owner& owner, std::string_view name, std::string_view directory,
                 std::unique_ptr<PluginLibrary> library, std::string config)
    : owner_(owner),
      name_(name),
      directory_(directory),
      library_(std::move(library)),
      functions_(*library_),
      config_(std::move(config), nullptr),
      memory_(owner) {
  Handle::Open(kKind, nullptr);
}

Status Backend::Open(std::string_view name, std::string_view directory, const std::string& library,
                     std::span<const nrd_parameter> config, std::unique_ptr<Backend>* out) {
  Owner& owner = Owner::Of("backend", name);
  std::unique_ptr<PluginLibrary> loaded;
  NRD_RETURN_IF_ERROR(PluginLibrary::Open(library, owner, &loaded));
  std::unique_ptr<Backend> made(
      new Backend(owner, name, directory, std::move(loaded), ConfigJson(config)));
  NRD_RETURN_IF_ERROR(made->Initialize());
  *out = std::move(made);
  return Status();
}

Status Backend::Initialize() {
  auto* const self = Give<TRITONBACKEND_Backend>(this);
  if (functions_.execute == nullptr) {
    return Status(NRD_FAILED_PRECONDITION,
                  owner_.name() + " does not offer TRITONBACKEND_ModelInstanceExecute");
  }
  if (functions_.initialize != nullptr) {
    NRD_RETURN_IF_ERROR(
        Call("TRITONBACKEND_Initialize", [&] { return functions_.initialize(self); }));
  }
  initialized_ = true;
  info_.struct_size = sizeof(info_);
  if (functions_.attribute == nullptr) {
    return Status();
  }
  BackendAttribute attribute;
  if (const Status status = Call("TRITONBACKEND_GetBackendAttribute",
                                 [&] {
                                   return functions_.attribute(
                                       self, Give<TRITONBACKEND_BackendAttribute>(&attribute));
                                 });
      !status.ok()) {
    Log(kLogWarning, {owner_.name(), " does not tell its attributes: ", status.message()});
    return Status();
  }
  info_ = attribute.info;
  info_.struct_size = sizeof(info_);
  return Status();
}

Backend::~Backend() {
  if (!owner_.AwaitInferences(patience_)) {
    Log(kLogWarning, {owner_.name(),
                      " has begun inferences that do not end: its library stays loaded, and is "
                      "not told that it is over"});
    library_->Keep();
    return;
  }
  if (initialized_ && functions_.finalize != nullptr) {
    const Status status = Call("TRITONBACKEND_Finalize", [&] {
      return functions_.finalize(Give<TRITONBACKEND_Backend>(this));
    });
    if (!status.ok()) {
      Log(kLogError, {owner_.name(), " failed to end: ", status.message()});
    }
  }
  if (const std::string left = owner_.Holdings(); !left.empty()) {
    Log(kLogWarning, owner_.name() + " ended and did not give back: " + left);
  }
}

}  // namespace nereid::triton
