/* A backend that cannot execute anything. */
#include "triton/core/tritonbackend.h"

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(
    TRITONBACKEND_Model* model) {
  const char* name = NULL;
  return TRITONBACKEND_ModelName(model, &name);
}
