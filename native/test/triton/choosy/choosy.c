/* A backend that says which requests it executes together: those whose parameter "colour" is that
 * of the first. Each response tells how many there were. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triton/core/tritonbackend.h"

/* The batch that is being chosen; the batcher is the model's. */
typedef struct choice {
  int64_t colour;
  bool begun;
} choice;

static int g_batcher;

/* It does not say that its instances may begin at the same time. */
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  static atomic_int inside;
  const int before = atomic_fetch_add(&inside, 1);
  (void)instance;
  usleep(2000);
  atomic_fetch_sub(&inside, 1);
  return before == 0 ? NULL
                     : TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL,
                                             "two instances begin at the same time");
}

static int64_t colour_of(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = "";
    const void* value = NULL;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
    TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (strcmp(key, "colour") == 0 && type == TRITONSERVER_PARAMETER_INT) {
      return *(const int64_t*)value;
    }
  }
  return -1;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model) {
  const char* name = NULL;
  *batcher = (TRITONBACKEND_Batcher*)(void*)&g_batcher;
  return TRITONBACKEND_ModelName(model, &name);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher) {
  if ((void*)batcher != &g_batcher) {
    abort();
  }
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp) {
  if ((const void*)batcher != &g_batcher) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "the batcher is another's");
  }
  *userp = calloc(1, sizeof(choice));
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include) {
  choice* const chosen = userp;
  const int64_t colour = colour_of(request);
  *should_include = !chosen->begun || chosen->colour == colour;
  chosen->begun = true;
  chosen->colour = colour;
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  free(userp);
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  (void)instance;
  const int64_t colour = colour_of(requests[0]);
  bool same = true;
  for (uint32_t i = 0; i < request_count; ++i) {
    same = same && colour_of(requests[i]) == colour;
  }
  for (uint32_t i = 0; i < request_count; ++i) {
    const int64_t shape[2] = {1, 0};
    TRITONBACKEND_Response* response = NULL;
    TRITONBACKEND_Output* output = NULL;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t id = 0;
    void* data = NULL;
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseNew(&response, requests[i]));
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0",
                                                          TRITONSERVER_TYPE_INT32, shape, 2));
    TRITONSERVER_ErrorDelete(TRITONBACKEND_OutputBuffer(output, &data, 0, &type, &id));
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_ResponseSetIntParameter(response, "together", request_count));
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseSetBoolParameter(response, "same", same));
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
  }
  return NULL;
}
