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
  NRD_RETURN_IF_ERROR(made->Initialize());
  model.Add(made.get());
  *out = std::move(made);
  return Status();
}

Status Instance::Initialize() {
  if (const auto initialize = model_.backend().functions().instance_initialize;
      initialize != nullptr) {
    const auto turn = model_.backend().InstanceTurn();
    NRD_RETURN_IF_ERROR(model_.backend().Call("TRITONBACKEND_ModelInstanceInitialize", [&] {
      return initialize(Give<TRITONBACKEND_ModelInstance>(this));
    }));
  }
  initialized_ = true;
  return Status();
}

void Instance::Finalize() {
  const auto finalize = model_.backend().functions().instance_finalize;
  if (!std::exchange(initialized_, false) || finalize == nullptr) {
    return;
  }
  const auto turn = model_.backend().InstanceTurn();
  const Status status = model_.backend().Call("TRITONBACKEND_ModelInstanceFinalize", [&] {
    return finalize(Give<TRITONBACKEND_ModelInstance>(this));
  });
  if (!status.ok()) {
    Log(kLogError,
        {model_.owner().name(), " failed to end instance '", info_.name, "': ", status.message()});
  }
}

Instance::~Instance() {
  model_.Remove(this);
  Finalize();
  executions_->Close();
}

void Instance::Revive() {
  if (model_.given_up()) {  // the plug-in may still use handles that were taken from it
    return;
  }
  if (!executions_->IsIdle()) {
    executions_->NoteFailure();
    return;
  }
  const Status ready = initialized_ ? Ready() : Status::Internal("it could not begin anew before");
  if (ready.code() != NRD_INTERNAL) {
    return;
  }
  Log(kLogWarning, {"instance '", info_.name, "' of ", model_.owner().name(),
                    " begins anew, because it is broken: ", ready.message()});
  model_.Remove(this);  // no thread asks it for readiness during this
  Finalize();
  state = nullptr;
  const Status status = Initialize();
  model_.Add(this);
  if (!status.ok()) {
    Log(kLogError, {"instance '", info_.name, "' could not begin anew: ", status.message()});
    executions_->NoteFailure();
  }
}

int32_t Instance::Execute(nrd_batch* batch, nrd_error* error_out) {
  if (executions_->TakeFailure()) [[unlikely]] {
    Revive();
  }
  const auto turn = model_.DeviceTurn(info_.device);
  Execution* execution = nullptr;
  const Status begun = Caught("beginning a batch", [&]() -> Status {
    if (!initialized_) [[unlikely]] {
      return Status::Unavailable("instance '" + info_.name + "' is broken: the log says why");
    }
    return executions_->Begin(model_, batch, &execution);
  });
  if (!begun.ok()) [[unlikely]] {
    return Report(begun, error_out);
  }
  current_.store(execution, std::memory_order_release);
  const auto requests = execution->handles();
  const Status status = model_.backend().Call("TRITONBACKEND_ModelInstanceExecute", [&] {
    return model_.backend().functions().execute(Give<TRITONBACKEND_ModelInstance>(this),
                                                requests.data(),
                                                static_cast<uint32_t>(requests.size()));
  });
  current_.store(nullptr, std::memory_order_release);
  if (!status.ok()) {
    executions_->NoteFailure();
  }
  const int32_t code = execution->Leave(status, error_out);
  if (executions_->TakeFailure()) [[unlikely]] {
    Revive();
  }
  return code;
}

Status Instance::Ready() {
  const auto ready = model_.backend().functions().ready;
  return ready == nullptr ? Status()
                          : model_.backend().Call("TRITONBACKEND_ModelInstanceReady", [&] {
                              return ready(Give<TRITONBACKEND_ModelInstance>(this));
                            });
}

}  // namespace nereid::triton
