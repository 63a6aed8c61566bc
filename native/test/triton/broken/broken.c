/* Needs functions that are nowhere, so that none of its code may run. */
#include "triton/core/tritonbackend.h"

TRITONSERVER_CALL TRITONBACKEND_NobodyOffersThis(TRITONBACKEND_Model* model);
TRITONSERVER_CALL TRITONSERVER_NorThis(const char* text);

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(
    TRITONBACKEND_Model* model) {
  TRITONSERVER_ErrorDelete(TRITONSERVER_NorThis("x"));
  return TRITONBACKEND_NobodyOffersThis(model);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  (void)instance;
  (void)requests;
  (void)request_count;
  return NULL;
}
