/* Responses, right and wrong, within Execute. */
#include <string.h>

#include "probe.h"

/* What is wrong here must not hinder the next, right response. */
TRITONSERVER_Error* probe_twice(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Response* second = NULL;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  REFUSED(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  REFUSED(TRITONBACKEND_ResponseSetIntParameter(response, "late", 1));
  REFUSED(TRITONBACKEND_ResponseDelete(response));
  /* There is nobody left to send it to, whether that is told here or when it is sent. */
  TRITONSERVER_Error* const error = TRITONBACKEND_ResponseNew(&second, call.request);
  if (error == NULL) {
    REFUSED(TRITONBACKEND_ResponseSend(second, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  }
  TRITONSERVER_ErrorDelete(error);
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  probe_keep(report);
  return NULL;
}

TRITONSERVER_Error* probe_outputs(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Output* output = NULL;
  TRITONBACKEND_Output* other = NULL;
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
  const int64_t shape[2] = {1, 2};
  const int64_t negative[2] = {1, -2};
  const int64_t* seen = NULL;
  const char* name = NULL;
  uint64_t rank = 0;
  int64_t id = 0;
  size_t size = 0;
  void* data = NULL;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  REFUSED(
      TRITONBACKEND_ResponseOutput(response, &output, "NOBODY", TRITONSERVER_TYPE_INT32, shape, 2));
  REFUSED(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INVALID,
                                       shape, 2));
  REFUSED(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32,
                                       negative, 2));
  WORKS(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape,
                                     2));
  REFUSED(
      TRITONBACKEND_ResponseOutput(response, &other, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape, 2));
  /* What there is of memory is told: wanting that of a device is no mistake. */
  WORKS(TRITONBACKEND_OutputBuffer(output, &data, 2 * sizeof(int32_t), &type, &id));
  EXPECT(type != TRITONSERVER_MEMORY_GPU && data != NULL);
  memset(data, 1, 2 * sizeof(int32_t));
  WORKS(TRITONBACKEND_OutputBufferAttributes(output, &attributes));
  WORKS(TRITONSERVER_BufferAttributesByteSize(attributes, &size));
  EXPECT(size == 2 * sizeof(int32_t));
  WORKS(TRITONSERVER_BufferAttributesMemoryType(attributes, &type));
  EXPECT(type != TRITONSERVER_MEMORY_GPU);
  WORKS(TRITONBACKEND_InferenceResponseOutputByName(response, "OUTPUT0", &datatype, &seen, &rank));
  EXPECT(datatype == TRITONSERVER_TYPE_INT32 && rank == 2 && seen[1] == 2);
  FAILS(TRITONBACKEND_InferenceResponseOutputByName(response, "NOBODY", &datatype, &seen, &rank),
        TRITONSERVER_ERROR_NOT_FOUND);
  WORKS(TRITONBACKEND_InferenceResponseOutput(response, 0, &name, &datatype, &seen, &rank));
  EXPECT(strcmp(name, "OUTPUT0") == 0 && datatype == TRITONSERVER_TYPE_INT32 && seen[0] == 1);
  FAILS(TRITONBACKEND_InferenceResponseOutput(response, 1, &name, &datatype, &seen, &rank),
        TRITONSERVER_ERROR_INVALID_ARG);
  probe_note(report, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}

TRITONSERVER_Error* probe_deleted(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Output* output = NULL;
  const int64_t shape[2] = {1, 1000};
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* data = NULL;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_ResponseSetStringParameter(response, "of the deleted one", "yes"));
  WORKS(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape,
                                     2));
  WORKS(TRITONBACKEND_OutputBuffer(output, &data, 4000, &type, &id));
  WORKS(TRITONBACKEND_ResponseDelete(response));
  REFUSED(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  REFUSED(TRITONBACKEND_OutputBuffer(output, &data, 4000, &type, &id));
  return probe_answer(call);
}

TRITONSERVER_Error* probe_fail(probe_call call) {
  probe_report* const report = call.report;
  const int64_t code = probe_number(call.request, "code", TRITONSERVER_ERROR_INTERNAL);
  TRITONBACKEND_Response* response = NULL;
  TRITONSERVER_Error* const error =
      TRITONSERVER_ErrorNew((TRITONSERVER_Error_Code)code, "it did not want to");
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  TRITONSERVER_ErrorDelete(error); /* it stays ours */
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}

/* The request stays the server's, which answers it. */
TRITONSERVER_Error* probe_fail_execute(probe_call call) {
  const char* const text = probe_parameter(call.request, "text", TRITONSERVER_PARAMETER_STRING);
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE,
                               text != NULL ? text : "not now, all of you");
}

/* From here on the instance says that it is broken. */
TRITONSERVER_Error* probe_break(probe_call call) {
  probe_report* const report = call.report;
  probe_instance* instance = NULL;
  WORKS(TRITONBACKEND_ModelInstanceState(call.instance, (void**)&instance));
  instance->broken = true;
  return probe_fail(call);
}

/* Gives the request back, and nothing else. */
TRITONSERVER_Error* probe_missing(probe_call call) {
  probe_report* const report = call.report;
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}

/* Makes a response, gives the request back, and forgets to send. */
TRITONSERVER_Error* probe_unfinished(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  WORKS(TRITONBACKEND_ResponseDelete(response));
  return NULL;
}

/* "count" responses without an end: then it gives the request back, or Execute fails where "fails"
 * asks for that. */
TRITONSERVER_Error* probe_cut(probe_call call) {
  probe_report* const report = call.report;
  const int64_t count = probe_number(call.request, "count", 0);
  const bool* const fails = probe_parameter(call.request, "fails", TRITONSERVER_PARAMETER_BOOL);
  TRITONBACKEND_Response* response = NULL;
  for (int64_t i = 0; i < count; ++i) {
    WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
    probe_fill(report, call.request, response);
    WORKS(TRITONBACKEND_ResponseSend(response, 0, NULL));
  }
  if (fails != NULL && *fails) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "it broke off");
  }
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}

/* An iterative model: executed as many times as "times" says. */
TRITONSERVER_Error* probe_again(probe_call call) {
  probe_report* const report = call.report;
  probe_instance* instance = NULL;
  WORKS(TRITONBACKEND_ModelInstanceState(call.instance, (void**)&instance));
  if (instance->executions < probe_number(call.request, "times", 1)) {
    WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE));
    return NULL;
  }
  return probe_answer(call);
}

/* Adds the input to what the sequence keeps, and answers with the sum. */
TRITONSERVER_Error* probe_state(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Output* output = NULL;
  TRITONBACKEND_State* state = NULL;
  TRITONBACKEND_Input* input = NULL;
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  const int64_t shape[2] = {1, 1};
  const void* before = NULL;
  const void* data = NULL;
  void* kept = NULL;
  void* out = NULL;
  uint64_t size = 0;
  size_t attributed = 0;
  int64_t id = 0;
  int32_t sum = 0;
  WORKS(TRITONBACKEND_RequestInput(call.request, "INPUT_STATE", &input));
  WORKS(TRITONBACKEND_InputBuffer(input, 0, &data, &size, &type, &id));
  EXPECT(size == sizeof(sum));
  memcpy(&sum, data, sizeof(sum));
  before = data;
  WORKS(TRITONBACKEND_RequestInput(call.request, "INPUT0", &input));
  WORKS(TRITONBACKEND_InputBuffer(input, 0, &data, &size, &type, &id));
  sum += *(const int32_t*)data;
  WORKS(TRITONBACKEND_StateNew(&state, call.request, "OUTPUT_STATE", TRITONSERVER_TYPE_INT32, shape,
                               2));
  WORKS(TRITONBACKEND_StateBuffer(state, &kept, sizeof(sum), &type, &id));
  EXPECT((kept == before) == (probe_number(call.request, "in_place", 0) != 0));
  memcpy(kept, &sum, sizeof(sum));
  WORKS(TRITONBACKEND_StateBufferAttributes(state, &attributes));
  WORKS(TRITONSERVER_BufferAttributesByteSize(attributes, &attributed));
  EXPECT(attributed == sizeof(sum));
  WORKS(TRITONBACKEND_StateUpdate(state));
  REFUSED(
      TRITONBACKEND_StateNew(&state, call.request, "NOBODY", TRITONSERVER_TYPE_INT32, shape, 2));
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape,
                                     2));
  WORKS(TRITONBACKEND_OutputBuffer(output, &out, sizeof(sum), &type, &id));
  memcpy(out, &sum, sizeof(sum));
  probe_note(report, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}
