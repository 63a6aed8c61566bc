/* What runs for each request. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

typedef struct named_case {
  const char* name;
  probe_case run;
} named_case;

static const named_case kCases[] = {
    {"answer", probe_answer},
    {"read", probe_read},
    {"bounds", probe_bounds},
    {"lifecycle", probe_lifecycle},
    {"released", probe_released},
    {"kinds", probe_kinds},
    {"nothing", probe_nothing},
    {"twice", probe_twice},
    {"outputs", probe_outputs},
    {"deleted", probe_deleted},
    {"fail", probe_fail},
    {"fail_execute", probe_fail_execute},
    {"break", probe_break},
    {"missing", probe_missing},
    {"unfinished", probe_unfinished},
    {"cut", probe_cut},
    {"late", probe_late},
    {"later", probe_later},
    {"stream", probe_stream},
    {"stream_late", probe_stream_late},
    {"after_final", probe_after_final},
    {"until_cancelled", probe_until_cancelled},
    {"again", probe_again},
    {"state", probe_state},
    {"memory", probe_memory},
    {"statistics", probe_statistics},
    {"trace", probe_trace},
    {"metrics", probe_metrics},
    {"values", probe_values},
    {"die", probe_die},
};

/* Ends the process, which has to be the model's own, in the way that the parameter "how" names. */
TRITONSERVER_Error* probe_die(probe_call call) {
  const char* const how = probe_parameter(call.request, "how", TRITONSERVER_PARAMETER_STRING);
  if (how != NULL && strcmp(how, "segfault") == 0) {
    signal(SIGSEGV, SIG_DFL); /* sanitizers have a handler */
    raise(SIGSEGV);
  } else if (how != NULL && strcmp(how, "exit") == 0) {
    _exit(7);
  } else if (how != NULL && strcmp(how, "hang") == 0) {
    for (;;) {
      pause();
    }
  }
  abort();
}

static probe_case case_of(TRITONBACKEND_Request* request) {
  const char* const name = probe_parameter(request, "do", TRITONSERVER_PARAMETER_STRING);
  for (size_t i = 0; name != NULL && i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    if (strcmp(kCases[i].name, name) == 0) {
      return kCases[i].run;
    }
  }
  return probe_answer;
}

/* The case "fail_execute" is alone in its batch: what Execute returns stands for all of it. */
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  probe_instance* state = NULL;
  TRITONSERVER_Error* error = TRITONBACKEND_ModelInstanceState(instance, (void**)&state);
  if (error != NULL) {
    return error;
  }
  if (state->passive) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "a passive instance got requests");
  }
  ++state->executions;
  for (uint32_t i = 0; i < request_count && error == NULL; ++i) {
    probe_report* const report = calloc(1, sizeof(*report));
    const probe_call call = {instance, requests[i], report};
    error = case_of(requests[i])(call);
    free(report);
  }
  return error;
}
