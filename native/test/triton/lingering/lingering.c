/* A backend that takes a while to end, and cannot be initialised again before that. */
#include <stdatomic.h>
#include <time.h>

#include "triton/core/tritonbackend.h"

static atomic_int g_initialized;

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  (void)backend;
  return atomic_exchange(&g_initialized, 1) == 0
             ? NULL
             : TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_ALREADY_EXISTS,
                                     "it was initialised before");
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  const struct timespec while_it_lingers = {.tv_nsec = 300000000};
  (void)backend;
  TRITONSERVER_ErrorDelete(
      TRITONSERVER_LogMessage(TRITONSERVER_LOG_INFO, __FILE__, __LINE__, "the backend lingers"));
  nanosleep(&while_it_lingers, NULL);
  atomic_store(&g_initialized, 0);
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  (void)instance;
  (void)requests;
  (void)request_count;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNSUPPORTED, "it executes nothing");
}
