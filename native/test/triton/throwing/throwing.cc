// A backend that lets exceptions out of its functions, which is forbidden. The model's name chooses
// the function; for Initialize the backend's name does.
#include <cstring>
#include <stdexcept>

#include "triton/core/tritonbackend.h"

namespace {

void ThrowIf(const char* name, const char* function) {
  if (std::strcmp(name, function) == 0) {
    throw std::runtime_error("the plug-in lost its temper");
  }
}

const char* NameOf(TRITONBACKEND_Model* model) {
  const char* name = "";
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelName(model, &name));
  return name;
}

const char* NameOf(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelInstanceModel(instance, &model));
  return NameOf(model);
}

}  // namespace

extern "C" {

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  const char* name = "";
  TRITONSERVER_ErrorDelete(TRITONBACKEND_BackendName(backend, &name));
  ThrowIf(name, "throwing_initialize");
  return nullptr;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(
    TRITONBACKEND_Backend* /*backend*/) {
  throw 17;  // NOLINT: nothing is too odd for a plug-in
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(
    TRITONBACKEND_Model* model) {
  ThrowIf(NameOf(model), "model_initialize");
  return nullptr;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  ThrowIf(NameOf(model), "model_finalize");
  return nullptr;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  ThrowIf(NameOf(instance), "instance_initialize");
  return nullptr;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  ThrowIf(NameOf(instance), "instance_finalize");
  return nullptr;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance) {
  ThrowIf(NameOf(instance), "ready");
  return nullptr;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, const uint32_t count) {
  const char* const name = NameOf(instance);
  ThrowIf(name, "execute");
  for (uint32_t i = 0; i < count; ++i) {
    TRITONBACKEND_Response* response = nullptr;
    TRITONSERVER_Error* error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNSUPPORTED, name);
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseNew(&response, requests[i]));
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
    TRITONSERVER_ErrorDelete(error);
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
    // Throws after the answer: the request must not be answered twice.
    ThrowIf(name, "execute_late");
  }
  return nullptr;
}

}  // extern "C"
