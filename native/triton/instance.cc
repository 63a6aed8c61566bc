#include "triton/instance.h"

#include <utility>

#include "triton/execution.h"
#include "triton/host.h"

namespace nereid::triton {

namespace {

std::string PolicyJson(const InstanceInfo& info) {
  return "{\"" + info.host_policy + "\":" + info.host_policy_settings + "}";
}

}  // namespace

Instance::Instance(Model& model, const InstanceInfo& info)
    : model_(model),
      info_(info),
      host_policy_(PolicyJson(info), nullptr),
      executions_(std::make_shared<ExecutionPool>()) {
  Handle::Open(kKind, nullptr);
}

Status Instance::Open(Model& model, uint32_t index, std::unique_ptr<Instance>* out) {
  std::unique_ptr<Instance> made(new Instance(model, model.instance_info(index)));
  if (const auto initialize = model.backend().functions().instance_initialize;
      initialize != nullptr) {
    const auto turn = model.backend().InstanceTurn();
    NRD_RETURN_IF_ERROR(model.backend().Call("TRITONBACKEND_ModelInstanceInitialize", [&] {
      return initialize(Give<TRITONBACKEND_ModelInstance>(made.get()));
    }));
  }
  made->initialized_ = true;
  model.Add(made.get());
  *out = std::move(made);
  return Status();
}

Instance::~Instance() {
  model_.Remove(this);
  if (const auto finalize = model_.backend().functions().instance_finalize;
      initialized_ && finalize != nullptr) {
    const auto turn = model_.backend().InstanceTurn();
    const Status status = model_.backend().Call("TRITONBACKEND_ModelInstanceFinalize", [&] {
      return finalize(Give<TRITONBACKEND_ModelInstance>(this));
    });
    if (!status.ok()) {
      Log(kLogError, model_.owner().name() + " failed to end instance '" + info_.name +
                         "': " + std::string(status.message()));
    }
  }
  executions_->Close();
}

int32_t Instance::Execute(nrd_batch* batch, nrd_error* error_out) {
  const auto turn = model_.DeviceTurn(info_.device);
  Execution* const execution = executions_->Take(model_);
  execution->Begin(batch);
  current_ = execution;
  const auto requests = execution->handles();
  const Status status = model_.backend().Call("TRITONBACKEND_ModelInstanceExecute", [&] {
    return model_.backend().functions().execute(Give<TRITONBACKEND_ModelInstance>(this),
                                                requests.data(),
                                                static_cast<uint32_t>(requests.size()));
  });
  current_ = nullptr;
  return execution->Leave(status, error_out);
}

Status Instance::Ready() {
  const auto ready = model_.backend().functions().ready;
  return ready == nullptr ? Status()
                          : model_.backend().Call("TRITONBACKEND_ModelInstanceReady", [&] {
                              return ready(Give<TRITONBACKEND_ModelInstance>(this));
                            });
}

}  // namespace nereid::triton
