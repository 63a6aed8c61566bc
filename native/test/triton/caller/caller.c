/* A backend that answers by asking other models, as its requests say:
 *   target  the model
 *   do      "call"; "cancel": it cancels at once; "trace": it gives a child of its trace along;
 *           "leave": it answers without waiting for the target
 *           "describe": it asks the server for its documents, which become values of the answer
 *   then    the target is a caller, too, and calls this one
 * A sequence of its requests is one of the target, too. OUTPUT0 has the elements of all answers one
 * after another, the value "answers" how many came. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "triton/core/tritonbackend.h"

enum { MOST_ELEMENTS = 64 };

static TRITONSERVER_Server* the_server;

/* The server as this backend got it, for tests that do without a backend. */
TRITONSERVER_DECLSPEC TRITONSERVER_Server* caller_server(void);
TRITONSERVER_Server* caller_server(void) { return the_server; }

/* One call: what came back until now. */
typedef struct call {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int done;
  int released;
  int32_t answers;
  int32_t elements[MOST_ELEMENTS];
  size_t element_count;
  TRITONSERVER_Error_Code code;
  char error[512];
} call;

#define RETURN_IF_ERROR(expression)                  \
  do {                                               \
    TRITONSERVER_Error* const error_ = (expression); \
    if (error_ != NULL) {                            \
      return error_;                                 \
    }                                                \
  } while (0)

static const char* parameter(TRITONBACKEND_Request* request, const char* name) {
  uint32_t count = 0;
  TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = NULL;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
    const void* value = NULL;
    TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    if (strcmp(key, name) == 0 && type == TRITONSERVER_PARAMETER_STRING) {
      return value;
    }
  }
  return NULL;
}

static TRITONSERVER_Error* allocate(TRITONSERVER_ResponseAllocator* allocator, const char* tensor,
                                    size_t byte_size, TRITONSERVER_MemoryType type, int64_t id,
                                    void* userp, void** buffer, void** buffer_userp,
                                    TRITONSERVER_MemoryType* actual_type, int64_t* actual_id) {
  (void)allocator;
  (void)tensor;
  *buffer = malloc(byte_size);
  *buffer_userp = userp;
  *actual_type = type;
  *actual_id = id;
  return NULL;
}

static TRITONSERVER_Error* release(TRITONSERVER_ResponseAllocator* allocator, void* buffer,
                                   void* buffer_userp, size_t byte_size,
                                   TRITONSERVER_MemoryType type, int64_t id) {
  (void)allocator;
  (void)buffer_userp;
  (void)byte_size;
  (void)type;
  (void)id;
  free(buffer);
  return NULL;
}

static void note_error(call* mine, TRITONSERVER_Error* error) {
  mine->code = TRITONSERVER_ErrorCode(error);
  strncpy(mine->error, TRITONSERVER_ErrorMessage(error), sizeof(mine->error) - 1);
}

static void on_response(TRITONSERVER_InferenceResponse* response, const uint32_t flags,
                        void* userp) {
  call* const mine = userp;
  pthread_mutex_lock(&mine->mutex);
  if (response != NULL) {
    TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response);
    if (error != NULL) {
      note_error(mine, error);
    } else {
      const char* name = NULL;
      TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
      const int64_t* shape = NULL;
      uint64_t rank = 0;
      const void* data = NULL;
      size_t size = 0;
      TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
      int64_t id = 0;
      void* buffer_userp = NULL;
      TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseOutput(
          response, 0, &name, &datatype, &shape, &rank, &data, &size, &type, &id, &buffer_userp));
      memcpy(mine->elements + mine->element_count, data, size);
      mine->element_count += size / sizeof(int32_t);
      ++mine->answers;
    }
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseDelete(response));
  }
  mine->done = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  pthread_cond_signal(&mine->changed);
  pthread_mutex_unlock(&mine->mutex);
}

static void on_release(TRITONSERVER_InferenceRequest* request, const uint32_t flags, void* userp) {
  call* const mine = userp;
  (void)request;
  pthread_mutex_lock(&mine->mutex);
  mine->released = (flags & TRITONSERVER_REQUEST_RELEASE_ALL) != 0;
  pthread_cond_signal(&mine->changed);
  pthread_mutex_unlock(&mine->mutex);
}

/* Of an inference that nobody waits for. */
static void on_left_response(TRITONSERVER_InferenceResponse* response, const uint32_t flags,
                             void* userp) {
  (void)flags;
  (void)userp;
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseDelete(response));
}

static void on_left_release(TRITONSERVER_InferenceRequest* request, const uint32_t flags,
                            void* allocator) {
  (void)flags;
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestDelete(request));
  TRITONSERVER_ErrorDelete(TRITONSERVER_ResponseAllocatorDelete(allocator));
}

static TRITONSERVER_Error* leave(const char* target) {
  static const int32_t element = 1;
  static const int64_t shape = 1;
  TRITONSERVER_ResponseAllocator* allocator = NULL;
  TRITONSERVER_InferenceRequest* to = NULL;
  RETURN_IF_ERROR(TRITONSERVER_InferenceRequestNew(&to, the_server, target, -1));
  RETURN_IF_ERROR(TRITONSERVER_ResponseAllocatorNew(&allocator, allocate, release, NULL));
  RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetReleaseCallback(to, on_left_release, allocator));
  RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetResponseCallback(to, allocator, NULL,
                                                                   on_left_response, NULL));
  RETURN_IF_ERROR(
      TRITONSERVER_InferenceRequestAddInput(to, "INPUT0", TRITONSERVER_TYPE_INT32, &shape, 1));
  RETURN_IF_ERROR(TRITONSERVER_InferenceRequestAppendInputData(
      to, "INPUT0", &element, sizeof(element), TRITONSERVER_MEMORY_CPU, 0));
  return TRITONSERVER_ServerInferAsync(the_server, to, NULL);
}

/* A sequence of the caller is one of the target. */
static TRITONSERVER_Error* fill_sequence(TRITONBACKEND_Request* from,
                                         TRITONSERVER_InferenceRequest* to) {
  uint64_t id = 0;
  uint32_t flags = 0;
  RETURN_IF_ERROR(TRITONBACKEND_RequestCorrelationId(from, &id));
  RETURN_IF_ERROR(TRITONBACKEND_RequestFlags(from, &flags));
  RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetCorrelationId(to, id));
  return TRITONSERVER_InferenceRequestSetFlags(to, flags);
}

/* Gives the target what the caller got. */
static TRITONSERVER_Error* fill(TRITONBACKEND_Request* from, TRITONSERVER_InferenceRequest* to,
                                const char* then, const char* what) {
  TRITONBACKEND_Input* input = NULL;
  const int64_t* shape = NULL;
  uint32_t rank = 0;
  uint64_t size = 0;
  const void* data = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  RETURN_IF_ERROR(fill_sequence(from, to));
  RETURN_IF_ERROR(TRITONBACKEND_RequestInput(from, "INPUT0", &input));
  RETURN_IF_ERROR(TRITONBACKEND_InputProperties(input, NULL, NULL, &shape, &rank, NULL, NULL));
  RETURN_IF_ERROR(TRITONBACKEND_InputBuffer(input, 0, &data, &size, &type, &id));
  if (then == NULL) {
    /* Other targets have no batches. */
    ++shape;
    --rank;
  } else {
    RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetStringParameter(to, "target", then));
    RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetStringParameter(to, "do", what));
  }
  RETURN_IF_ERROR(
      TRITONSERVER_InferenceRequestAddInput(to, "INPUT0", TRITONSERVER_TYPE_INT32, shape, rank));
  return TRITONSERVER_InferenceRequestAppendInputData(to, "INPUT0", data, size, type, id);
}

static TRITONSERVER_Error* send_and_wait(TRITONBACKEND_Request* from,
                                         TRITONSERVER_InferenceRequest* to, const char* what,
                                         call* mine) {
  TRITONSERVER_InferenceTrace* child = NULL;
  if (strcmp(what, "trace") == 0) {
    TRITONSERVER_InferenceTrace* trace = NULL;
    RETURN_IF_ERROR(TRITONBACKEND_RequestTrace(from, &trace));
    RETURN_IF_ERROR(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &child));
  }
  RETURN_IF_ERROR(TRITONSERVER_ServerInferAsync(the_server, to, child));
  if (strcmp(what, "cancel") == 0) {
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestCancel(to));
  }
  pthread_mutex_lock(&mine->mutex);
  while (!mine->done || !mine->released) {
    pthread_cond_wait(&mine->changed, &mine->mutex);
  }
  pthread_mutex_unlock(&mine->mutex);
  return NULL;
}

static TRITONSERVER_Error* ask(TRITONBACKEND_Request* from, call* mine) {
  const char* const target = parameter(from, "target");
  const char* const what = parameter(from, "do");
  TRITONSERVER_ResponseAllocator* allocator = NULL;
  TRITONSERVER_InferenceRequest* to = NULL;
  bool ready = false;
  RETURN_IF_ERROR(TRITONSERVER_ServerModelIsReady(the_server, target, -1, &ready));
  if (!ready) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "the target is not ready");
  }
  RETURN_IF_ERROR(TRITONSERVER_InferenceRequestNew(&to, the_server, target, -1));
  TRITONSERVER_Error* error =
      TRITONSERVER_ResponseAllocatorNew(&allocator, allocate, release, NULL);
  if (error == NULL) {
    error = TRITONSERVER_InferenceRequestSetReleaseCallback(to, on_release, mine);
  }
  if (error == NULL) {
    error =
        TRITONSERVER_InferenceRequestSetResponseCallback(to, allocator, mine, on_response, mine);
  }
  if (error == NULL) {
    error = fill(from, to, parameter(from, "then"), what);
  }
  if (error == NULL) {
    error = send_and_wait(from, to, what, mine);
  }
  TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceRequestDelete(to));
  TRITONSERVER_ErrorDelete(TRITONSERVER_ResponseAllocatorDelete(allocator));
  return error;
}

static TRITONSERVER_Error* write_elements(const call* mine, TRITONBACKEND_Response* response) {
  const int64_t shape[2] = {1, (int64_t)mine->element_count};
  TRITONBACKEND_Output* output = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* buffer = NULL;
  RETURN_IF_ERROR(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0",
                                               TRITONSERVER_TYPE_INT32, shape, 2));
  RETURN_IF_ERROR(TRITONBACKEND_OutputBuffer(output, &buffer, mine->element_count * sizeof(int32_t),
                                             &type, &id));
  memcpy(buffer, mine->elements, mine->element_count * sizeof(int32_t));
  return TRITONBACKEND_ResponseSetIntParameter(response, "answers", mine->answers);
}

/* Makes a document that the server gave a value of the response. */
static TRITONSERVER_Error* pass_on(TRITONSERVER_Error* error, TRITONSERVER_Message** message,
                                   const char* name, TRITONBACKEND_Response* response) {
  const char* json = NULL;
  size_t size = 0;
  char text[8192] = "";
  if (error == NULL) {
    error = TRITONSERVER_MessageSerializeToJson(*message, &json, &size);
  }
  if (error == NULL) {
    memcpy(text, json, size < sizeof(text) ? size : sizeof(text) - 1);
    TRITONSERVER_ErrorDelete(TRITONSERVER_MessageDelete(*message));
    return TRITONBACKEND_ResponseSetStringParameter(response, name, text);
  }
  TRITONSERVER_Error* const set =
      TRITONBACKEND_ResponseSetStringParameter(response, name, TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  return set;
}

static TRITONSERVER_Error* describe(const char* target, TRITONBACKEND_Response* response) {
  TRITONSERVER_Message* m = NULL;
  RETURN_IF_ERROR(
      pass_on(TRITONSERVER_ServerMetadata(the_server, &m), &m, "server metadata", response));
  RETURN_IF_ERROR(pass_on(TRITONSERVER_ServerModelMetadata(the_server, target, -1, &m), &m,
                          "metadata", response));
  RETURN_IF_ERROR(pass_on(TRITONSERVER_ServerModelConfig(the_server, target, -1, 1, &m), &m,
                          "configuration", response));
  RETURN_IF_ERROR(pass_on(TRITONSERVER_ServerModelStatistics(the_server, target, -1, &m), &m,
                          "statistics", response));
  RETURN_IF_ERROR(
      pass_on(TRITONSERVER_ServerModelStatistics(the_server, "", -1, &m), &m, "all", response));
  RETURN_IF_ERROR(
      pass_on(TRITONSERVER_ServerModelStatistics(the_server, "nobody", 4, &m), &m, "no", response));
  RETURN_IF_ERROR(pass_on(TRITONSERVER_ServerModelIndex(the_server, 0, &m), &m, "index", response));
  return pass_on(TRITONSERVER_ServerModelIndex(the_server, TRITONSERVER_INDEX_FLAG_READY, &m), &m,
                 "ready", response);
}

static void answer(TRITONBACKEND_Request* request) {
  call mine;
  TRITONBACKEND_Response* response = NULL;
  memset(&mine, 0, sizeof(mine));
  pthread_mutex_init(&mine.mutex, NULL);
  pthread_cond_init(&mine.changed, NULL);
  const int describes = strcmp(parameter(request, "do"), "describe") == 0;
  const int leaves = strcmp(parameter(request, "do"), "leave") == 0;
  TRITONSERVER_Error* error = describes ? NULL
                              : leaves  ? leave(parameter(request, "target"))
                                        : ask(request, &mine);
  if (error == NULL && mine.error[0] != '\0') {
    error = TRITONSERVER_ErrorNew(mine.code, mine.error);
  }
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseNew(&response, request));
  if (error == NULL && describes) {
    error = describe(parameter(request, "target"), response);
  }
  if (error == NULL) {
    error = write_elements(&mine, response);
  }
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  TRITONSERVER_ErrorDelete(error);
  TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
  pthread_cond_destroy(&mine.changed);
  pthread_mutex_destroy(&mine.mutex);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return TRITONBACKEND_ModelServer(model, &the_server);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  (void)instance;
  for (uint32_t i = 0; i < request_count; ++i) {
    answer(requests[i]);
  }
  return NULL;
}
