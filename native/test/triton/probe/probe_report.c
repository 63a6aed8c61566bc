/* What is noted, and how it is told. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

void probe_add(probe_report* report, const char* wrong) {
  const size_t used = strlen(report->wrong);
  snprintf(report->wrong + used, sizeof(report->wrong) - used, "%s", wrong);
}

void probe_check(probe_report* report, bool holds, const char* what, int line) {
  ++report->checks;
  if (!holds) {
    const size_t used = strlen(report->wrong);
    snprintf(report->wrong + used, sizeof(report->wrong) - used, "%d: %s\n", line, what);
  }
}

void probe_works(probe_report* report, TRITONSERVER_Error* error, const char* what, int line) {
  char text[512];
  if (error == NULL) {
    probe_check(report, true, what, line);
    return;
  }
  snprintf(text, sizeof(text), "%s failed: %s", what, TRITONSERVER_ErrorMessage(error));
  probe_check(report, false, text, line);
  TRITONSERVER_ErrorDelete(error);
}

void probe_fails(probe_report* report, TRITONSERVER_Error* error, TRITONSERVER_Error_Code code,
                 const char* what, int line) {
  char text[512];
  if (error == NULL) {
    snprintf(text, sizeof(text), "%s did not fail", what);
    probe_check(report, false, text, line);
    return;
  }
  snprintf(text, sizeof(text), "%s failed otherwise: %s: %s", what,
           TRITONSERVER_ErrorCodeString(error), TRITONSERVER_ErrorMessage(error));
  probe_check(report, TRITONSERVER_ErrorCode(error) == code, text, line);
  TRITONSERVER_ErrorDelete(error);
}

void probe_refused(probe_report* report, TRITONSERVER_Error* error, const char* what, int line) {
  char text[512];
  snprintf(text, sizeof(text), "%s is not refused with a message", what);
  probe_check(report, error != NULL && TRITONSERVER_ErrorMessage(error)[0] != '\0', text, line);
  if (error != NULL) {
    TRITONSERVER_ErrorDelete(error);
  }
}

const void* probe_parameter(TRITONBACKEND_Request* request, const char* name,
                            TRITONSERVER_ParameterType type) {
  uint32_t count = 0;
  TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = "";
    const void* value = NULL;
    TRITONSERVER_ParameterType found = TRITONSERVER_PARAMETER_BYTES;
    TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestParameter(request, i, &key, &found, &value));
    if (strcmp(key, name) == 0 && found == type) {
      return value;
    }
  }
  return NULL;
}

int64_t probe_number(TRITONBACKEND_Request* request, const char* name, int64_t otherwise) {
  const int64_t* const value = probe_parameter(request, name, TRITONSERVER_PARAMETER_INT);
  return value != NULL ? *value : otherwise;
}

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static probe_report g_kept;

void probe_keep(const probe_report* report) {
  pthread_mutex_lock(&g_mutex);
  probe_add(&g_kept, report->wrong);
  pthread_mutex_unlock(&g_mutex);
}

void probe_note(probe_report* report, TRITONBACKEND_Response* response) {
  pthread_mutex_lock(&g_mutex);
  probe_add(report, g_kept.wrong);
  g_kept.wrong[0] = '\0';
  pthread_mutex_unlock(&g_mutex);
  WORKS(TRITONBACKEND_ResponseSetStringParameter(response, "wrong", report->wrong));
  WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "checks", report->checks));
}

void probe_fill(probe_report* report, TRITONBACKEND_Request* request,
                TRITONBACKEND_Response* response) {
  TRITONBACKEND_Input* input = NULL;
  const char* name = NULL;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  const int64_t* shape = NULL;
  uint32_t rank = 0;
  uint64_t size = 0;
  uint32_t buffers = 0;
  uint32_t outputs = 0;
  WORKS(TRITONBACKEND_RequestInput(request, "INPUT0", &input));
  WORKS(TRITONBACKEND_InputProperties(input, &name, &datatype, &shape, &rank, &size, &buffers));
  WORKS(TRITONBACKEND_RequestOutputCount(request, &outputs));
  for (uint32_t i = 0; i < outputs; ++i) {
    TRITONBACKEND_Output* output = NULL;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t id = 0;
    void* data = NULL;
    char* end = NULL;
    WORKS(TRITONBACKEND_RequestOutputName(request, i, &name));
    WORKS(TRITONBACKEND_ResponseOutput(response, &output, name, datatype, shape, rank));
    WORKS(TRITONBACKEND_OutputBuffer(output, &data, size, &type, &id));
    EXPECT(type != TRITONSERVER_MEMORY_GPU);
    end = data;
    for (uint32_t b = 0; b < buffers; ++b) {
      const void* part = NULL;
      uint64_t part_size = 0;
      WORKS(TRITONBACKEND_InputBuffer(input, b, &part, &part_size, &type, &id));
      memcpy(end, part, part_size);
      end += part_size;
    }
  }
  probe_note(report, response);
}

TRITONSERVER_Error* probe_answer(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}
