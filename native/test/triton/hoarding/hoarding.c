/* A backend that neither answers the first request of a batch nor releases it. When it ends it
 * tries what it has. While it is held (hoarding_hold), neither its Execute returns, nor its answer
 * whether it is ready. */
#include <pthread.h>
#include <stdio.h>

#include "triton/core/tritonbackend.h"

static TRITONBACKEND_Request* g_request;
static TRITONBACKEND_Response* g_response;
static TRITONBACKEND_ResponseFactory* g_factory;

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;
static int g_held;
static int g_inside;
static int g_questions;

TRITONSERVER_DECLSPEC void hoarding_hold(int hold);
void hoarding_hold(int hold) {
  pthread_mutex_lock(&g_mutex);
  g_held = hold;
  pthread_cond_broadcast(&g_changed);
  pthread_mutex_unlock(&g_mutex);
}

/* How often an instance was asked whether it is ready. */
TRITONSERVER_DECLSPEC int hoarding_questions(void);
int hoarding_questions(void) {
  pthread_mutex_lock(&g_mutex);
  const int questions = g_questions;
  pthread_mutex_unlock(&g_mutex);
  return questions;
}

/* Returns when a call is held. */
TRITONSERVER_DECLSPEC void hoarding_await(void);
void hoarding_await(void) {
  pthread_mutex_lock(&g_mutex);
  while (!g_inside) {
    pthread_cond_wait(&g_changed, &g_mutex);
  }
  pthread_mutex_unlock(&g_mutex);
}

static void wait_while_held(void) {
  pthread_mutex_lock(&g_mutex);
  while (g_held) {
    g_inside = 1;
    pthread_cond_broadcast(&g_changed);
    pthread_cond_wait(&g_changed, &g_mutex);
  }
  g_inside = 0;
  pthread_mutex_unlock(&g_mutex);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance) {
  (void)instance;
  pthread_mutex_lock(&g_mutex);
  ++g_questions;
  pthread_mutex_unlock(&g_mutex);
  wait_while_held();
  return NULL;
}

static int refused(TRITONSERVER_Error* error);

/* Answers a request that is not the first of its batch. */
static void answer(TRITONBACKEND_Request* request) {
  const int64_t shape[2] = {1, 1};
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Output* output = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* data = NULL;
  refused(TRITONBACKEND_ResponseNew(&response, request));
  refused(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape,
                                       2));
  refused(TRITONBACKEND_OutputBuffer(output, &data, sizeof(int32_t), &type, &id));
  *(int32_t*)data = 8;
  refused(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  refused(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
}

static int refused(TRITONSERVER_Error* error) {
  const int is_refused = error != NULL;
  TRITONSERVER_ErrorDelete(error);
  return is_refused;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  const int64_t shape[2] = {1, 1};
  TRITONBACKEND_Output* output = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* data = NULL;
  (void)instance;
  for (uint32_t i = 1; i < request_count; ++i) {
    answer(requests[i]);
  }
  g_request = requests[0];
  refused(TRITONBACKEND_ResponseNew(&g_response, g_request));
  refused(TRITONBACKEND_ResponseOutput(g_response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32,
                                       shape, 2));
  refused(TRITONBACKEND_OutputBuffer(output, &data, sizeof(int32_t), &type, &id));
  refused(TRITONBACKEND_ResponseFactoryNew(&g_factory, g_request)); /* the test waits for it */
  wait_while_held();
  /* What it was given is there as long as Execute runs. */
  *(int32_t*)data = 7;
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  const char* id = NULL;
  TRITONBACKEND_Response* response = NULL;
  bool cancelled = false;
  char text[64];
  int count = 0;
  (void)backend;
  count += refused(TRITONBACKEND_RequestId(g_request, &id));
  count += refused(TRITONBACKEND_ResponseSend(g_response, 1, NULL));
  count += refused(TRITONBACKEND_RequestRelease(g_request, TRITONSERVER_REQUEST_RELEASE_ALL));
  count += refused(TRITONBACKEND_ResponseNewFromFactory(&response, g_factory));
  refused(TRITONBACKEND_ResponseFactoryIsCancelled(g_factory, &cancelled));
  refused(TRITONBACKEND_ResponseFactoryDelete(g_factory));
  snprintf(text, sizeof(text), "%d refused, %s", count, cancelled ? "cancelled" : "wanted");
  return TRITONSERVER_LogMessage(TRITONSERVER_LOG_INFO, __FILE__, __LINE__, text);
}
