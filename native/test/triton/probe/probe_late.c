/* Responses after Execute returned, from other threads, and more than one. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "probe.h"

typedef struct background {
  pthread_t thread;
  probe_call call;
  void (*work)(probe_call call);
  struct background* next;
} background;

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static background* g_running;

static void* run_background(void* argument) {
  background* const self = argument;
  self->work(self->call);
  return NULL;
}

void probe_in_background(probe_call call, void (*work)(probe_call call)) {
  background* const self = calloc(1, sizeof(*self));
  self->call = call;
  self->call.report = calloc(1, sizeof(probe_report));
  *self->call.report = *call.report;
  self->work = work;
  pthread_mutex_lock(&g_mutex);
  self->next = g_running;
  g_running = self;
  pthread_create(&self->thread, NULL, run_background, self);
  pthread_mutex_unlock(&g_mutex);
}

void probe_join_background(void) {
  pthread_mutex_lock(&g_mutex);
  background* next = g_running;
  g_running = NULL;
  pthread_mutex_unlock(&g_mutex);
  while (next != NULL) {
    background* const self = next;
    next = self->next;
    pthread_join(self->thread, NULL);
    free(self->call.report);
    free(self);
  }
}

static void nap(void) {
  const struct timespec time = {0, 2 * 1000 * 1000};
  nanosleep(&time, NULL);
}

static void answer_late(probe_call call) {
  nap();
  probe_answer(call);
}

TRITONSERVER_Error* probe_late(probe_call call) {
  probe_in_background(call, answer_late);
  return NULL;
}

/* In place of the request, which is gone, it has the response. */
static void send_later(probe_call call) {
  TRITONBACKEND_Response* const response = (TRITONBACKEND_Response*)(void*)call.request;
  nap();
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
}

/* The response outlives its request. */
TRITONSERVER_Error* probe_later(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  probe_call rest = call;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  rest.request = (TRITONBACKEND_Request*)(void*)response;
  probe_in_background(rest, send_later);
  return NULL;
}

/* "count" responses by a factory, then the end without one, unless "last" asks to send it with the
 * last response. Number "fail_at" is an error. */
static void stream(probe_call call) {
  probe_report* const report = call.report;
  const int64_t count = probe_number(call.request, "count", 3);
  const bool* const last = probe_parameter(call.request, "last", TRITONSERVER_PARAMETER_BOOL);
  const int64_t fail_at = probe_number(call.request, "fail_at", -1);
  const bool with_last = last != NULL && *last && count > 0;
  TRITONSERVER_Error* const failure =
      TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_NOT_FOUND, "there is no such response");
  TRITONBACKEND_ResponseFactory* factory = NULL;
  TRITONBACKEND_Response* response = NULL;
  bool cancelled = true;
  WORKS(TRITONBACKEND_ResponseFactoryNew(&factory, call.request));
  WORKS(TRITONBACKEND_ResponseFactoryIsCancelled(factory, &cancelled));
  for (int64_t i = 0; i < count; ++i) {
    const bool final = with_last && i == count - 1;
    WORKS(TRITONBACKEND_ResponseNewFromFactory(&response, factory));
    WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "index", i));
    probe_fill(report, call.request, response);
    WORKS(TRITONBACKEND_ResponseSend(response, final ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0,
                                     i == fail_at ? failure : NULL));
  }
  if (!with_last) {
    WORKS(TRITONBACKEND_ResponseFactorySendFlags(factory, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  }
  TRITONSERVER_ErrorDelete(failure);
  REFUSED(TRITONBACKEND_ResponseFactorySendFlags(factory, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  WORKS(TRITONBACKEND_ResponseFactoryDelete(factory));
  REFUSED(TRITONBACKEND_ResponseFactoryDelete(factory));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  probe_keep(report);
}

TRITONSERVER_Error* probe_stream(probe_call call) {
  stream(call);
  return NULL;
}

TRITONSERVER_Error* probe_stream_late(probe_call call) {
  probe_in_background(call, stream);
  return NULL;
}

/* The end comes first. */
TRITONSERVER_Error* probe_after_final(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_ResponseFactory* factory = NULL;
  TRITONBACKEND_Response* response = NULL;
  TRITONSERVER_Error* error = NULL;
  WORKS(TRITONBACKEND_ResponseFactoryNew(&factory, call.request));
  WORKS(TRITONBACKEND_ResponseNewFromFactory(&response, factory));
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  error = TRITONBACKEND_ResponseNewFromFactory(&response, factory);
  if (error == NULL) {
    REFUSED(TRITONBACKEND_ResponseSend(response, 0, NULL));
  }
  TRITONSERVER_ErrorDelete(error);
  WORKS(TRITONBACKEND_ResponseFactoryDelete(factory));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  probe_keep(report);
  return NULL;
}

static void wait_until_cancelled(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  TRITONSERVER_Error* error = NULL;
  bool cancelled = false;
  while (!cancelled) {
    nap();
    WORKS(TRITONBACKEND_RequestIsCancelled(call.request, &cancelled));
  }
  error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_CANCELLED, "it was enough");
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  TRITONSERVER_ErrorDelete(error);
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  probe_keep(report);
}

TRITONSERVER_Error* probe_until_cancelled(probe_call call) {
  probe_in_background(call, wait_until_cancelled);
  return NULL;
}
