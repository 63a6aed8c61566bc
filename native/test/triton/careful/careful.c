/* A backend that looks at every error, as a good one does: what it cannot do for a request it sends
 * as that request's error. Its requests say how they are answered: fails   by an error count   by
 * so many responses of a factory colour  together with those of the same colour A request of a
 * sequence gets the sum of its sequence. All others get INPUT0. */
#include <stdlib.h>
#include <string.h>

#include "triton/core/tritonbackend.h"

#define RETURN_IF_ERROR(expression)                  \
  do {                                               \
    TRITONSERVER_Error* const error_ = (expression); \
    if (error_ != NULL) {                            \
      return error_;                                 \
    }                                                \
  } while (0)

static const char kText[] = "a text that is too long to lie within a string";

static TRITONSERVER_Error* number_of(TRITONBACKEND_Request* request, const char* name,
                                     int64_t* number) {
  uint32_t count = 0;
  RETURN_IF_ERROR(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = "";
    const void* value = NULL;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
    RETURN_IF_ERROR(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (strcmp(key, name) == 0 && type == TRITONSERVER_PARAMETER_INT) {
      *number = *(const int64_t*)value;
    }
  }
  return NULL;
}

/* ---- Which requests go together ---- */

typedef struct choice {
  int64_t colour;
  bool begun;
} choice;

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp) {
  (void)batcher;
  *userp = calloc(1, sizeof(choice));
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include) {
  choice* const chosen = userp;
  int64_t colour = -1;
  RETURN_IF_ERROR(number_of(request, "colour", &colour));
  *should_include = !chosen->begun || chosen->colour == colour;
  chosen->begun = true;
  chosen->colour = colour;
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  free(userp);
  return NULL;
}

/* ---- Answers ---- */

/* Adds INPUT0 to the state of the request's sequence, and writes the sum over `data`. */
static TRITONSERVER_Error* add_up(TRITONBACKEND_Request* request, int32_t* data) {
  const int64_t shape[2] = {1, 1};
  TRITONBACKEND_Input* before = NULL;
  TRITONBACKEND_State* state = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  uint64_t size = 0;
  const void* sum = NULL;
  void* kept = NULL;
  RETURN_IF_ERROR(TRITONBACKEND_RequestInput(request, "INPUT_STATE", &before));
  RETURN_IF_ERROR(TRITONBACKEND_InputBuffer(before, 0, &sum, &size, &type, &id));
  *data += *(const int32_t*)sum;
  RETURN_IF_ERROR(
      TRITONBACKEND_StateNew(&state, request, "OUTPUT_STATE", TRITONSERVER_TYPE_INT32, shape, 2));
  RETURN_IF_ERROR(TRITONBACKEND_StateBuffer(state, &kept, sizeof(*data), &type, &id));
  memcpy(kept, data, sizeof(*data));
  return TRITONBACKEND_StateUpdate(state);
}

static TRITONSERVER_Error* fill(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  TRITONBACKEND_Input* input = NULL;
  TRITONBACKEND_Output* output = NULL;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  const char* name = NULL;
  const int64_t* shape = NULL;
  const void* part = NULL;
  void* data = NULL;
  uint32_t rank = 0;
  uint32_t buffers = 0;
  uint64_t size = 0;
  uint64_t sequence = 0;
  int64_t id = 0;
  int64_t fails = 0;
  RETURN_IF_ERROR(number_of(request, "fails", &fails));
  if (fails != 0) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_NOT_FOUND, kText);
  }
  RETURN_IF_ERROR(TRITONBACKEND_RequestInput(request, "INPUT0", &input));
  RETURN_IF_ERROR(
      TRITONBACKEND_InputProperties(input, &name, &datatype, &shape, &rank, &size, &buffers));
  RETURN_IF_ERROR(TRITONBACKEND_InputBuffer(input, 0, &part, &size, &type, &id));
  RETURN_IF_ERROR(
      TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", datatype, shape, rank));
  RETURN_IF_ERROR(TRITONBACKEND_OutputBuffer(output, &data, size, &type, &id));
  memcpy(data, part, size);
  RETURN_IF_ERROR(TRITONBACKEND_RequestCorrelationId(request, &sequence));
  if (sequence != 0) {
    RETURN_IF_ERROR(add_up(request, data));
  }
  return TRITONBACKEND_ResponseSetStringParameter(response, "text", kText);
}

static void send(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response, uint32_t flags) {
  TRITONSERVER_Error* const error = fill(request, response);
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseSend(response, flags, error));
  TRITONSERVER_ErrorDelete(error);
}

static TRITONSERVER_Error* stream(TRITONBACKEND_Request* request, int64_t count) {
  TRITONBACKEND_ResponseFactory* factory = NULL;
  TRITONSERVER_Error* error = NULL;
  RETURN_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, request));
  for (int64_t i = 0; i < count && error == NULL; ++i) {
    TRITONBACKEND_Response* response = NULL;
    error = TRITONBACKEND_ResponseNewFromFactory(&response, factory);
    if (error == NULL) {
      send(request, response, 0);
    }
  }
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_ResponseFactorySendFlags(factory, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseFactoryDelete(factory));
  return error;
}

static TRITONSERVER_Error* answer(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = NULL;
  int64_t count = -1;
  RETURN_IF_ERROR(number_of(request, "count", &count));
  if (count >= 0) {
    return stream(request, count);
  }
  RETURN_IF_ERROR(TRITONBACKEND_ResponseNew(&response, request));
  send(request, response, TRITONSERVER_RESPONSE_COMPLETE_FINAL);
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  (void)instance;
  for (uint32_t i = 0; i < request_count; ++i) {
    TRITONSERVER_ErrorDelete(answer(requests[i]));
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
  }
  return NULL;
}
