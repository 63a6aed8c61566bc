/* A backend that calls every function of the server for backends, rightly and wrongly. The
 * request's parameter "do" names a case (probe_execute.c). Each case notes deviations and sends
 * them with the response: "checks" is the number of checks, "wrong" lists the failed ones. */
#ifndef NEREID_TEST_TRITON_PROBE_H_
#define NEREID_TEST_TRITON_PROBE_H_

#include <stdbool.h>
#include <stdint.h>

#include "triton/core/tritonbackend.h"

typedef struct probe_report {
  int64_t checks;
  char wrong[4096]; /* a line each */
} probe_report;

void probe_add(probe_report* report, const char* wrong);
void probe_check(probe_report* report, bool holds, const char* what, int line);
/* Deletes the error. */
void probe_works(probe_report* report, TRITONSERVER_Error* error, const char* what, int line);
void probe_fails(probe_report* report, TRITONSERVER_Error* error, TRITONSERVER_Error_Code code,
                 const char* what, int line);
void probe_refused(probe_report* report, TRITONSERVER_Error* error, const char* what, int line);

#define EXPECT(condition) probe_check(report, (condition), #condition, __LINE__)
#define WORKS(call) probe_works(report, (call), #call, __LINE__)
#define FAILS(call, code) probe_fails(report, (call), (code), #call, __LINE__)
/* Expects a failure, with any code and a message. */
#define REFUSED(call) probe_refused(report, (call), #call, __LINE__)

/* The arguments of a case, which must release them. */
typedef struct probe_call {
  TRITONBACKEND_ModelInstance* instance;
  TRITONBACKEND_Request* request;
  probe_report* report;
} probe_call;

/* Objects of the model and the instance: observations made while they were created. */
typedef struct probe_model {
  probe_report report;
  TRITONBACKEND_Model* handle;
  TRITONSERVER_MetricFamily* family;
  TRITONSERVER_Metric* metric;
  int64_t passive; /* instances of it that get no requests */
} probe_model;

typedef struct probe_instance {
  probe_report report;
  probe_model* model;
  int64_t executions;
  bool broken;
  bool passive;
} probe_instance;

/* Returns an error for Execute as a whole, or NULL. */
typedef TRITONSERVER_Error* (*probe_case)(probe_call call);

/* The cases, one file each group. */
TRITONSERVER_Error* probe_read(probe_call call);
TRITONSERVER_Error* probe_bounds(probe_call call);
TRITONSERVER_Error* probe_lifecycle(probe_call call);
TRITONSERVER_Error* probe_released(probe_call call);
TRITONSERVER_Error* probe_kinds(probe_call call);
TRITONSERVER_Error* probe_nothing(probe_call call);
TRITONSERVER_Error* probe_twice(probe_call call);
TRITONSERVER_Error* probe_outputs(probe_call call);
TRITONSERVER_Error* probe_deleted(probe_call call);
TRITONSERVER_Error* probe_fail(probe_call call);
TRITONSERVER_Error* probe_fail_execute(probe_call call);
TRITONSERVER_Error* probe_break(probe_call call);
TRITONSERVER_Error* probe_missing(probe_call call);
TRITONSERVER_Error* probe_unfinished(probe_call call);
TRITONSERVER_Error* probe_cut(probe_call call);
TRITONSERVER_Error* probe_late(probe_call call);
TRITONSERVER_Error* probe_later(probe_call call);
TRITONSERVER_Error* probe_stream(probe_call call);
TRITONSERVER_Error* probe_stream_late(probe_call call);
TRITONSERVER_Error* probe_after_final(probe_call call);
TRITONSERVER_Error* probe_until_cancelled(probe_call call);
TRITONSERVER_Error* probe_again(probe_call call);
TRITONSERVER_Error* probe_state(probe_call call);
TRITONSERVER_Error* probe_memory(probe_call call);
TRITONSERVER_Error* probe_statistics(probe_call call);
TRITONSERVER_Error* probe_trace(probe_call call);
TRITONSERVER_Error* probe_metrics(probe_call call);
TRITONSERVER_Error* probe_values(probe_call call);
TRITONSERVER_Error* probe_die(probe_call call);

/* The request's parameter of that name and type, or NULL. */
const void* probe_parameter(TRITONBACKEND_Request* request, const char* name,
                            TRITONSERVER_ParameterType type);
int64_t probe_number(TRITONBACKEND_Request* request, const char* name, int64_t otherwise);

/* Adds the observations, and the requested outputs: each is INPUT0. */
void probe_fill(probe_report* report, TRITONBACKEND_Request* request,
                TRITONBACKEND_Response* response);
void probe_note(probe_report* report, TRITONBACKEND_Response* response);
/* Keeps observations that cannot be sent any more; the next response tells them. */
void probe_keep(const probe_report* report);
/* Answers with one response and releases the request. */
TRITONSERVER_Error* probe_answer(probe_call call);

/* Runs `work` on its own thread, which is joined when the model is unloaded. */
void probe_in_background(probe_call call, void (*work)(probe_call call));
void probe_join_background(void);

#endif /* NEREID_TEST_TRITON_PROBE_H_ */
