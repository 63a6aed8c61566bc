// TRITONSERVER_Server*: functions by which plug-ins ask about their server. The control plane
// answers.
#include <string>
#include <vector>

#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/json.h"
#include "triton/message.h"
#include "triton/parameter.h"
#include "triton/pinned_model.h"

using nereid::AsNrdString;
using nereid::Status;
using nereid::triton::Ask;
using nereid::triton::CheckServer;
using nereid::triton::CheckText;
using nereid::triton::Find;
using nereid::triton::Parameter;
using nereid::triton::PinnedModel;
using nereid::triton::Serve;
using nereid::triton::Site;
using nereid::triton::TheHost;
using nereid::triton::WrongHandle;

namespace {

// Runs `body`, which returns a Status, for a plug-in that named the server.
template <typename Body>
TRITONSERVER_Error* ServeAll(const Site& site, const TRITONSERVER_Server* server, Body&& body) {
  return Serve(site, [&]() -> Status {
    NRD_RETURN_IF_ERROR(CheckServer(site, server));
    return body();
  });
}

// The same for functions that name a model, too.
template <typename Body>
TRITONSERVER_Error* ServeModel(const Site& site, const TRITONSERVER_Server* server,
                               const char* model, Body&& body) {
  return ServeAll(site, server, [&]() -> Status {
    NRD_RETURN_IF_ERROR(CheckText(site, model, "the model's name"));
    return body();
  });
}

void TakeText(void* taker, const char* text, uint64_t size) {
  static_cast<std::string*>(taker)->assign(text, size);
}

Status Document(int32_t kind, std::string_view model, int64_t version, std::string* json) {
  return Ask("a document of the server", [&](nrd_error* error) {
    return TheHost().document(TheHost().context, kind, AsNrdString(model), version, json, &TakeText,
                              error);
  });
}

Status DocumentMessage(int32_t kind, std::string_view model, int64_t version,
                       TRITONSERVER_Message** message) {
  std::string json;
  NRD_RETURN_IF_ERROR(Document(kind, model, version, &json));
  *message = nereid::triton::NewMessage(std::move(json));
  return Status();
}

Status Load(const char* model, const std::vector<nrd_value>& values) {
  return Ask("the load of a model", [&](nrd_error* error) {
    return TheHost().model_load(TheHost().context, AsNrdString(model), values.data(),
                                static_cast<uint32_t>(values.size()), error);
  });
}

Status Unload(const char* model, bool with_dependents) {
  return Ask("the unload of a model", [&](nrd_error* error) {
    return TheHost().model_unload(TheHost().context, AsNrdString(model), with_dependents ? 1 : 0,
                                  error);
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server, bool* live) {
  return ServeAll(NRT_SITE, server, [&] {
    *live = TheHost().server_live(TheHost().context) != 0;
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server, bool* ready) {
  return ServeAll(NRT_SITE, server, [&] {
    *ready = TheHost().server_ready(TheHost().context) != 0;
    return Status();
  });
}

// An unknown model is not ready, which is no error.
TRITONSERVER_Error* TRITONSERVER_ServerModelIsReady(TRITONSERVER_Server* server, const char* model,
                                                    const int64_t version, bool* ready) {
  return ServeModel(NRT_SITE, server, model, [&]() -> Status {
    int32_t is_ready = 0;
    Status status = Ask("the readiness of a model", [&](nrd_error* error) {
      return TheHost().model_ready(TheHost().context, AsNrdString(model), version, &is_ready,
                                   error);
    });
    const bool missing = status.code() == NRD_NOT_FOUND || status.code() == NRD_UNAVAILABLE;
    *ready = status.ok() && is_ready != 0;
    return missing ? Status() : std::move(status);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelTransactionProperties(TRITONSERVER_Server* server,
                                                                  const char* model,
                                                                  const int64_t version,
                                                                  uint32_t* flags,
                                                                  void** reserved) {
  return ServeModel(NRT_SITE, server, model, [&]() -> Status {
    PinnedModel found;
    NRD_RETURN_IF_ERROR(found.Acquire(model, version));
    *flags = found.decoupled() ? TRITONSERVER_TXN_DECOUPLED : TRITONSERVER_TXN_ONE_TO_ONE;
    if (reserved != nullptr) {
      *reserved = nullptr;
    }
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelBatchProperties(TRITONSERVER_Server* server,
                                                            const char* model,
                                                            const int64_t version, uint32_t* flags,
                                                            void** reserved) {
  return ServeModel(NRT_SITE, server, model, [&]() -> Status {
    std::string config;
    NRD_RETURN_IF_ERROR(Document(NRT_MODEL_CONFIG, model, version, &config));
    nereid::triton::Json json;
    NRD_RETURN_IF_ERROR(nereid::triton::Json::Parse(config, &json));
    *flags = json["max_batch_size"].Number(0) > 0 ? TRITONSERVER_BATCH_FIRST_DIM
                                                  : TRITONSERVER_BATCH_UNKNOWN;
    if (reserved != nullptr) {
      *reserved = nullptr;
    }
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerMetadata(TRITONSERVER_Server* server,
                                                TRITONSERVER_Message** metadata) {
  return ServeAll(NRT_SITE, server,
                  [&] { return DocumentMessage(NRT_SERVER_METADATA, "", -1, metadata); });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelMetadata(TRITONSERVER_Server* server, const char* model,
                                                     const int64_t version,
                                                     TRITONSERVER_Message** metadata) {
  return ServeModel(NRT_SITE, server, model,
                    [&] { return DocumentMessage(NRT_MODEL_METADATA, model, version, metadata); });
}

// An empty name means all models.
TRITONSERVER_Error* TRITONSERVER_ServerModelStatistics(TRITONSERVER_Server* server,
                                                       const char* model, const int64_t version,
                                                       TRITONSERVER_Message** statistics) {
  return ServeModel(NRT_SITE, server, model, [&] {
    return DocumentMessage(NRT_MODEL_STATISTICS, model, version, statistics);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelConfig(TRITONSERVER_Server* server, const char* model,
                                                   const int64_t version,
                                                   const uint32_t config_version,
                                                   TRITONSERVER_Message** config) {
  return ServeModel(NRT_SITE, server, model, [&]() -> Status {
    NRD_RETURN_IF_ERROR(nereid::triton::CheckConfigVersion(config_version));
    return DocumentMessage(NRT_MODEL_CONFIG, model, version, config);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelIndex(TRITONSERVER_Server* server, uint32_t flags,
                                                  TRITONSERVER_Message** index) {
  return ServeAll(NRT_SITE, server, [&] {
    const bool ready_only = (flags & TRITONSERVER_INDEX_FLAG_READY) != 0;
    return DocumentMessage(ready_only ? NRT_READY_INDEX : NRT_REPOSITORY_INDEX, "", -1, index);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerLoadModel(TRITONSERVER_Server* server, const char* model) {
  return ServeModel(NRT_SITE, server, model, [&] { return Load(model, {}); });
}

TRITONSERVER_Error* TRITONSERVER_ServerLoadModelWithParameters(
    TRITONSERVER_Server* server, const char* model, const TRITONSERVER_Parameter** parameters,
    const uint64_t parameter_count) {
  const Site site = NRT_SITE;
  return ServeModel(site, server, model, [&]() -> Status {
    if (parameters == nullptr && parameter_count != 0) {
      return Status::InvalidArgument(
          "load parameters are not provided while parameter count is non-zero");
    }
    std::vector<nrd_value> values;
    for (uint64_t i = 0; i < parameter_count; ++i) {
      const auto* const parameter = Find<Parameter>(parameters[i]);
      if (parameter == nullptr) {
        return WrongHandle(site, Parameter::kKind, parameters[i]);
      }
      values.push_back(parameter->AsValue());
    }
    return Load(model, values);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerUnloadModel(TRITONSERVER_Server* server, const char* model) {
  return ServeModel(NRT_SITE, server, model, [&] { return Unload(model, false); });
}

TRITONSERVER_Error* TRITONSERVER_ServerUnloadModelAndDependents(TRITONSERVER_Server* server,
                                                                const char* model) {
  return ServeModel(NRT_SITE, server, model, [&] { return Unload(model, true); });
}

}  // extern "C"
