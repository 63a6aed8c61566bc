/* Reading a request, right and out of bounds. */
#include <stdio.h>
#include <string.h>

#include "probe.h"

/* Everything that came with the request, as parameters of the response. */
static void tell_request(probe_report* report, TRITONBACKEND_Request* request,
                         TRITONBACKEND_Response* response) {
  const char* text = NULL;
  uint64_t number = 0;
  uint32_t flags = 0;
  bool cancelled = true;
  WORKS(TRITONBACKEND_RequestId(request, &text));
  WORKS(TRITONBACKEND_ResponseSetStringParameter(response, "id", text));
  if (strcmp(text, "named sequence") == 0) {
    FAILS(TRITONBACKEND_RequestCorrelationId(request, &number), TRITONSERVER_ERROR_INVALID_ARG);
    WORKS(TRITONBACKEND_RequestCorrelationIdString(request, &text));
    WORKS(TRITONBACKEND_ResponseSetStringParameter(response, "sequence", text));
  } else {
    WORKS(TRITONBACKEND_RequestCorrelationId(request, &number));
    WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "sequence", (int64_t)number));
  }
  WORKS(TRITONBACKEND_RequestFlags(request, &flags));
  WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "flags", flags));
  WORKS(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &number));
  WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "timeout", (int64_t)number));
  WORKS(TRITONBACKEND_RequestIsCancelled(request, &cancelled));
  WORKS(TRITONBACKEND_ResponseSetBoolParameter(response, "cancelled", cancelled));
}

/* What the parameters say comes back under the same names, behind "got ". */
static void tell_parameters(probe_report* report, TRITONBACKEND_Request* request,
                            TRITONBACKEND_Response* response) {
  uint32_t count = 0;
  WORKS(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    char name[64];
    const char* key = NULL;
    const void* value = NULL;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
    WORKS(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    snprintf(name, sizeof(name), "got %s", key);
    switch (type) {
      case TRITONSERVER_PARAMETER_STRING:
        WORKS(TRITONBACKEND_ResponseSetStringParameter(response, name, value));
        break;
      case TRITONSERVER_PARAMETER_INT:
        WORKS(TRITONBACKEND_ResponseSetIntParameter(response, name, *(const int64_t*)value));
        break;
      case TRITONSERVER_PARAMETER_BOOL:
        WORKS(TRITONBACKEND_ResponseSetBoolParameter(response, name, *(const bool*)value));
        break;
      case TRITONSERVER_PARAMETER_DOUBLE:
        WORKS(TRITONBACKEND_ResponseSetDoubleParameter(response, name, *(const double*)value));
        break;
      default:
        EXPECT(!"a parameter of a type that nobody can send");
    }
  }
}

static void read_input(probe_report* report, TRITONBACKEND_Request* request, uint32_t index) {
  TRITONBACKEND_Input* input = NULL;
  TRITONBACKEND_Input* same = NULL;
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
  const char* name = NULL;
  const char* other = NULL;
  const int64_t* shape = NULL;
  const void* data = NULL;
  const void* again = NULL;
  uint64_t size = 0;
  uint64_t part = 0;
  uint64_t together = 0;
  size_t attributed = 0;
  int64_t id = -1;
  uint32_t rank = 0;
  uint32_t buffers = 0;
  WORKS(TRITONBACKEND_RequestInputName(request, index, &name));
  WORKS(TRITONBACKEND_RequestInput(request, name, &input));
  WORKS(TRITONBACKEND_RequestInputByIndex(request, index, &same));
  EXPECT(input == same);
  WORKS(TRITONBACKEND_InputProperties(input, &other, &datatype, &shape, &rank, &size, &buffers));
  EXPECT(strcmp(name, other) == 0);
  EXPECT(rank == 2 && shape[0] >= 1);
  EXPECT(TRITONSERVER_DataTypeByteSize(datatype) == 0 ||
         size == (uint64_t)(shape[0] * shape[1]) * TRITONSERVER_DataTypeByteSize(datatype));
  /* Nobody needs what is asked for by NULL. */
  WORKS(TRITONBACKEND_InputProperties(input, NULL, NULL, NULL, NULL, NULL, NULL));
  WORKS(TRITONBACKEND_InputPropertiesForHostPolicy(input, "nobody's", &other, &datatype, &shape,
                                                   &rank, &size, &buffers));
  WORKS(TRITONBACKEND_InputPropertiesForHostPolicy(input, NULL, NULL, NULL, NULL, NULL, NULL,
                                                   &buffers));
  for (uint32_t b = 0; b < buffers; ++b) {
    id = 0;
    type = TRITONSERVER_MEMORY_CPU;
    WORKS(TRITONBACKEND_InputBuffer(input, b, &data, &part, &type, &id));
    EXPECT(type != TRITONSERVER_MEMORY_GPU);
    together += part;
    WORKS(TRITONBACKEND_InputBufferForHostPolicy(input, "nobody's", b, &again, &part, &type, &id));
    EXPECT(again == data);
    WORKS(TRITONBACKEND_InputBufferAttributes(input, b, &again, &attributes));
    EXPECT(again == data);
    WORKS(TRITONSERVER_BufferAttributesByteSize(attributes, &attributed));
    EXPECT(attributed == part);
    WORKS(TRITONSERVER_BufferAttributesMemoryType(attributes, &type));
    EXPECT(type != TRITONSERVER_MEMORY_GPU);
  }
  EXPECT(together == size);
  FAILS(TRITONBACKEND_InputBuffer(input, buffers, &data, &part, &type, &id),
        TRITONSERVER_ERROR_INVALID_ARG);
  FAILS(TRITONBACKEND_InputBufferForHostPolicy(input, NULL, buffers, &data, &part, &type, &id),
        TRITONSERVER_ERROR_INVALID_ARG);
  FAILS(TRITONBACKEND_InputBufferAttributes(input, buffers, &data, &attributes),
        TRITONSERVER_ERROR_INVALID_ARG);
}

TRITONSERVER_Error* probe_read(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Response* response = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  uint32_t inputs = 0;
  size_t size = 0;
  int64_t id = 0;
  const char* name = NULL;
  uint32_t outputs = 0;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  tell_request(report, call.request, response);
  tell_parameters(report, call.request, response);
  WORKS(TRITONBACKEND_RequestInputCount(call.request, &inputs));
  EXPECT(inputs >= 1);
  for (uint32_t i = 0; i < inputs; ++i) {
    read_input(report, call.request, i);
  }
  WORKS(TRITONBACKEND_RequestOutputCount(call.request, &outputs));
  WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "outputs", outputs));
  WORKS(TRITONBACKEND_RequestOutputName(call.request, 0, &name));
  WORKS(TRITONBACKEND_RequestOutputBufferProperties(call.request, name, &size, &type, &id));
  EXPECT(type != TRITONSERVER_MEMORY_GPU);
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}

TRITONSERVER_Error* probe_bounds(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_Request* const request = call.request;
  TRITONBACKEND_Input* input = NULL;
  TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
  const char* name = NULL;
  const void* value = NULL;
  uint32_t count = 0;
  WORKS(TRITONBACKEND_RequestParameterCount(request, &count));
  FAILS(TRITONBACKEND_RequestParameter(request, count, &name, &type, &value),
        TRITONSERVER_ERROR_INVALID_ARG);
  WORKS(TRITONBACKEND_RequestInputCount(request, &count));
  FAILS(TRITONBACKEND_RequestInputName(request, count, &name), TRITONSERVER_ERROR_INVALID_ARG);
  FAILS(TRITONBACKEND_RequestInputByIndex(request, count, &input), TRITONSERVER_ERROR_INVALID_ARG);
  FAILS(TRITONBACKEND_RequestInput(request, "NOBODY", &input), TRITONSERVER_ERROR_INVALID_ARG);
  WORKS(TRITONBACKEND_RequestOutputCount(request, &count));
  FAILS(TRITONBACKEND_RequestOutputName(request, count, &name), TRITONSERVER_ERROR_INVALID_ARG);
  return probe_answer(call);
}
