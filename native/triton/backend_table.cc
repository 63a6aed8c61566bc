// Plug-in backends as the core sees them: a table of functions like any backend's; and the control
// plane's functions for them.
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "triton/backend.h"
#include "triton/errors.h"
#include "triton/instance.h"
#include "triton/model.h"
#include "triton/plugin_batcher.h"

struct nrt_backend {
  std::unique_ptr<nereid::triton::Backend> backend;
};

namespace {

using nereid::Report;
using nereid::Status;
using nereid::triton::Backend;
using nereid::triton::Instance;
using nereid::triton::Model;

template <typename Body>
int32_t Guarded(nrd_error* error_out, const char* what, Body&& body) noexcept {
  return Report(nereid::triton::Caught(what, body), error_out);
}

// Runs `body` on a large stack: threads of a JVM have 1 MB or less, too little for plug-ins.
template <typename Body>
Status OnThreadOfItsOwn(Body&& body) {
  Status status;
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      status = body();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
  return status;
}

int32_t OpenModel(void* context, const nrd_model_options* options, void** model_out,
                  nrd_error* error_out) {
  return Guarded(error_out, "opening a model", [&] {
    std::unique_ptr<Model> model;
    Status status = OnThreadOfItsOwn([&] {
      return Model::Open(*static_cast<nrt_backend*>(context)->backend, *options, &model);
    });
    *model_out = model.release();
    return status;
  });
}

int32_t Configure(void* model, const nrd_model_options* options, nrd_error* error_out) {
  return Guarded(error_out, "configuring a model", [&] {
    return OnThreadOfItsOwn([&] { return static_cast<Model*>(model)->Configure(*options); });
  });
}

void ReadMemory(void* model, uint64_t* weight_bytes, uint64_t* working_bytes) {
  *weight_bytes = static_cast<Model*>(model)->reported_bytes.load();
  *working_bytes = static_cast<Model*>(model)->InstanceBytes();
}

int32_t OpenInstance(void* model, uint32_t index, void** instance_out, nrd_error* error_out) {
  return Guarded(error_out, "opening an instance", [&] {
    std::unique_ptr<Instance> instance;
    Status status = Instance::Open(*static_cast<Model*>(model), index, &instance);
    *instance_out = instance.release();
    return status;
  });
}

int32_t Execute(void* instance, nrd_batch* batch, nrd_error* error_out) {
  return static_cast<Instance*>(instance)->Execute(batch, error_out);
}

void CloseInstance(void* instance) { delete static_cast<Instance*>(instance); }

void CloseModel(void* model) { delete static_cast<Model*>(model); }

}  // namespace

extern "C" {

int32_t nrt_backend_open(nrd_string name, nrd_string directory, nrd_string library,
                         const nrd_parameter* config, uint32_t config_count,
                         nrt_backend** backend_out, nrd_error* error_out) {
  return Guarded(error_out, "opening a backend", [&]() -> Status {
    auto made = std::make_unique<nrt_backend>();
    NRD_RETURN_IF_ERROR(OnThreadOfItsOwn([&] {
      return Backend::Open(nereid::View(name), nereid::View(directory),
                           std::string(nereid::View(library)), std::span(config, config_count),
                           &made->backend);
    }));
    *backend_out = made.release();
    return Status();
  });
}

void nrt_backend_table(nrt_backend* backend, nrd_backend* table_out) {
  *table_out = nrd_backend{};
  table_out->struct_size = sizeof(nrd_backend);
  table_out->flags = NRD_BACKEND_OWN_THREAD | NRD_BACKEND_GATHERS | NRD_BACKEND_DETACHES |
                     NRD_BACKEND_FREE_OUTPUTS;
  table_out->context = backend;
  table_out->open_model = OpenModel;
  table_out->configure = Configure;
  table_out->memory_read = ReadMemory;
  table_out->open_instance = OpenInstance;
  table_out->execute = Execute;
  table_out->close_instance = CloseInstance;
  table_out->close_model = CloseModel;
}

void nrt_backend_info_read(nrt_backend* backend, nrt_backend_info* info_out) {
  *info_out = backend->backend->info();
}

void nrt_backend_close(nrt_backend* backend, uint64_t patience_ns) {
  backend->backend->set_patience(std::chrono::nanoseconds(patience_ns));
  delete backend;
}

int32_t nrt_model_ready(uint64_t load, nrd_error* error_out) {
  return Guarded(error_out, "asking a model", [&] {
    Status status(NRD_NOT_FOUND, "no backend has a model of load " + std::to_string(load));
    nereid::triton::LoadedModels::With(load, [&](Model& model) { status = model.Ready(); });
    return status;
  });
}

int32_t nrt_model_batcher(uint64_t load, nrd_batcher* batcher_out, nrd_error* error_out) {
  return Guarded(error_out, "asking a model", [&] {
    Status status(NRD_NOT_FOUND, "the backend of load " + std::to_string(load) +
                                     " does not say which requests go together");
    nereid::triton::LoadedModels::With(load, [&](Model& model) {
      if (model.batcher() != nullptr) {
        *batcher_out = model.batcher()->table();
        status = Status();
      }
    });
    return status;
  });
}

int32_t nrt_model_configure(uint64_t load, nrd_string config, nrd_error* error_out) {
  return Guarded(error_out, "configuring a model", [&] {
    Status status(NRD_NOT_FOUND, "no backend has a model of load " + std::to_string(load));
    nereid::triton::LoadedModels::With(load, [&](Model& model) {
      model.ReplaceConfig(nereid::View(config));
      status = Status();
    });
    return status;
  });
}

void nrt_model_give_up(uint64_t load) {
  (void)Guarded(nullptr, "giving up a model", [&] {
    nereid::triton::LoadedModels::With(load, [](Model& model) { model.GiveUp(); });
    return Status();
  });
}

}  // extern "C"
