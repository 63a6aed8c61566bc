// TRITONBACKEND_Model*: functions by which a backend asks and reports about a model.
#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/host.h"
#include "triton/model.h"

using nereid::Status;
using nereid::triton::CheckConfigVersion;
using nereid::triton::Give;
using nereid::triton::Message;
using nereid::triton::Model;
using nereid::triton::Serve;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) { *name = known.name().c_str(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) { *version = known.version(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* type,
                                                  const char** location) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) {
    *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
    *location = known.directory().c_str();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                              const uint32_t config_version,
                                              TRITONSERVER_Message** config) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) -> Status {
    *config = nullptr;
    NRD_RETURN_IF_ERROR(CheckConfigVersion(config_version));
    *config = nereid::triton::NewMessage(known.config());
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* completes) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) { *completes = known.auto_complete(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                 const uint32_t config_version,
                                                 TRITONSERVER_Message* config) {
  const nereid::triton::Site site = NRT_SITE;
  return Serve<Model>(site, model, [&](Model& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckConfigVersion(config_version));
    const Message* const message = nereid::triton::Find<Message>(config);
    return message == nullptr ? nereid::triton::WrongHandle(site, Message::kKind, config)
                              : known.SetConfig(message->json());
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                              TRITONSERVER_Server** server) {
  return Serve<Model>(NRT_SITE, model,
                      [&](Model& /*known*/) { *server = nereid::triton::TheServer(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) {
    *backend = Give<TRITONBACKEND_Backend>(&known.backend());
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) { *state = known.state.load(); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) { known.state.store(state); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(TRITONBACKEND_Model* model,
                                                         TRITONSERVER_BufferAttributes** usage,
                                                         uint32_t usage_count) {
  return Serve<Model>(NRT_SITE, model, [&](Model& known) {
    Status status;
    known.reported_bytes = nereid::triton::ReportedBytes(usage, usage_count, &status);
    return status;
  });
}

}  // extern "C"
