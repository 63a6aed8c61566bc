/* Functions get handles that are NULL, gone, or of another kind. */
#include "probe.h"

static void wrong_request(probe_report* report, TRITONBACKEND_Request* wrong) {
  TRITONBACKEND_ResponseFactory* factory = NULL;
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Input* input = NULL;
  TRITONBACKEND_State* state = NULL;
  TRITONSERVER_InferenceTrace* trace = NULL;
  TRITONSERVER_ParameterType parameter = TRITONSERVER_PARAMETER_INT;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  const int64_t shape[1] = {1};
  const char* text = NULL;
  const void* value = NULL;
  uint64_t number = 0;
  uint32_t count = 0;
  int64_t id = 0;
  size_t size = 0;
  bool yes = false;
  REFUSED(TRITONBACKEND_RequestId(wrong, &text));
  REFUSED(TRITONBACKEND_RequestIsCancelled(wrong, &yes));
  REFUSED(TRITONBACKEND_RequestCorrelationId(wrong, &number));
  REFUSED(TRITONBACKEND_RequestCorrelationIdString(wrong, &text));
  REFUSED(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(wrong, &number));
  REFUSED(TRITONBACKEND_RequestFlags(wrong, &count));
  REFUSED(TRITONBACKEND_RequestParameterCount(wrong, &count));
  REFUSED(TRITONBACKEND_RequestParameter(wrong, 0, &text, &parameter, &value));
  REFUSED(TRITONBACKEND_RequestInputCount(wrong, &count));
  REFUSED(TRITONBACKEND_RequestInputName(wrong, 0, &text));
  REFUSED(TRITONBACKEND_RequestInput(wrong, "INPUT0", &input));
  REFUSED(TRITONBACKEND_RequestInputByIndex(wrong, 0, &input));
  REFUSED(TRITONBACKEND_RequestOutputCount(wrong, &count));
  REFUSED(TRITONBACKEND_RequestOutputName(wrong, 0, &text));
  REFUSED(TRITONBACKEND_RequestOutputBufferProperties(wrong, "OUTPUT0", &size, &type, &id));
  REFUSED(TRITONBACKEND_RequestRelease(wrong, TRITONSERVER_REQUEST_RELEASE_ALL));
  REFUSED(TRITONBACKEND_RequestTrace(wrong, &trace));
  REFUSED(TRITONBACKEND_ResponseFactoryNew(&factory, wrong));
  REFUSED(TRITONBACKEND_ResponseNew(&response, wrong));
  REFUSED(TRITONBACKEND_StateNew(&state, wrong, "S", TRITONSERVER_TYPE_INT32, shape, 1));
}

static void wrong_input(probe_report* report, TRITONBACKEND_Input* wrong) {
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  const char* name = NULL;
  const void* data = NULL;
  uint64_t size = 0;
  int64_t id = 0;
  REFUSED(TRITONBACKEND_InputProperties(wrong, &name, NULL, NULL, NULL, NULL, NULL));
  REFUSED(
      TRITONBACKEND_InputPropertiesForHostPolicy(wrong, "", &name, NULL, NULL, NULL, NULL, NULL));
  REFUSED(TRITONBACKEND_InputBuffer(wrong, 0, &data, &size, &type, &id));
  REFUSED(TRITONBACKEND_InputBufferForHostPolicy(wrong, "", 0, &data, &size, &type, &id));
  REFUSED(TRITONBACKEND_InputBufferAttributes(wrong, 0, &data, &attributes));
}

static void wrong_response(probe_report* report, TRITONBACKEND_Response* wrong) {
  TRITONBACKEND_Output* output = NULL;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  const int64_t shape[1] = {1};
  const int64_t* seen = NULL;
  const char* name = NULL;
  uint64_t rank = 0;
  REFUSED(TRITONBACKEND_ResponseSetStringParameter(wrong, "a", "b"));
  REFUSED(TRITONBACKEND_ResponseSetIntParameter(wrong, "a", 1));
  REFUSED(TRITONBACKEND_ResponseSetBoolParameter(wrong, "a", true));
  REFUSED(TRITONBACKEND_ResponseSetDoubleParameter(wrong, "a", 0.5));
  REFUSED(
      TRITONBACKEND_ResponseOutput(wrong, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape, 1));
  REFUSED(TRITONBACKEND_InferenceResponseOutputByName(wrong, "OUTPUT0", &datatype, &seen, &rank));
  REFUSED(TRITONBACKEND_InferenceResponseOutput(wrong, 0, &name, &datatype, &seen, &rank));
  REFUSED(TRITONBACKEND_ResponseSend(wrong, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  REFUSED(TRITONBACKEND_ResponseDelete(wrong));
}

static void wrong_output(probe_report* report, TRITONBACKEND_Output* wrong) {
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* data = NULL;
  REFUSED(TRITONBACKEND_OutputBuffer(wrong, &data, 4, &type, &id));
  REFUSED(TRITONBACKEND_OutputBufferAttributes(wrong, &attributes));
}

static void wrong_factory(probe_report* report, TRITONBACKEND_ResponseFactory* wrong) {
  TRITONBACKEND_Response* response = NULL;
  bool yes = false;
  REFUSED(TRITONBACKEND_ResponseFactoryIsCancelled(wrong, &yes));
  REFUSED(TRITONBACKEND_ResponseNewFromFactory(&response, wrong));
  REFUSED(TRITONBACKEND_ResponseFactorySendFlags(wrong, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  REFUSED(TRITONBACKEND_ResponseFactoryDelete(wrong));
}

static void wrong_state(probe_report* report, TRITONBACKEND_State* wrong) {
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  void* data = NULL;
  REFUSED(TRITONBACKEND_StateBuffer(wrong, &data, 4, &type, &id));
  REFUSED(TRITONBACKEND_StateBufferAttributes(wrong, &attributes));
  REFUSED(TRITONBACKEND_StateUpdate(wrong));
}

static void wrong_backend(probe_report* report, TRITONBACKEND_Backend* wrong) {
  TRITONBACKEND_ExecutionPolicy policy = TRITONBACKEND_EXECUTION_BLOCKING;
  TRITONBACKEND_MemoryManager* manager = NULL;
  TRITONBACKEND_ArtifactType artifact = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  TRITONSERVER_Message* message = NULL;
  const char* text = NULL;
  void* state = NULL;
  REFUSED(TRITONBACKEND_BackendName(wrong, &text));
  REFUSED(TRITONBACKEND_BackendConfig(wrong, &message));
  REFUSED(TRITONBACKEND_BackendExecutionPolicy(wrong, &policy));
  REFUSED(TRITONBACKEND_BackendSetExecutionPolicy(wrong, policy));
  REFUSED(TRITONBACKEND_BackendArtifacts(wrong, &artifact, &text));
  REFUSED(TRITONBACKEND_BackendMemoryManager(wrong, &manager));
  REFUSED(TRITONBACKEND_BackendState(wrong, &state));
  REFUSED(TRITONBACKEND_BackendSetState(wrong, state));
}

static void wrong_model(probe_report* report, TRITONBACKEND_Model* wrong) {
  TRITONBACKEND_ArtifactType artifact = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  TRITONSERVER_BufferAttributes* usage = NULL;
  TRITONSERVER_Message* message = NULL;
  TRITONBACKEND_Backend* backend = NULL;
  TRITONSERVER_Server* server = NULL;
  const char* text = NULL;
  uint64_t version = 0;
  void* state = NULL;
  bool yes = false;
  REFUSED(TRITONBACKEND_ModelName(wrong, &text));
  REFUSED(TRITONBACKEND_ModelVersion(wrong, &version));
  REFUSED(TRITONBACKEND_ModelRepository(wrong, &artifact, &text));
  REFUSED(TRITONBACKEND_ModelConfig(wrong, 1, &message));
  REFUSED(TRITONBACKEND_ModelAutoCompleteConfig(wrong, &yes));
  REFUSED(TRITONBACKEND_ModelSetConfig(wrong, 1, message));
  REFUSED(TRITONBACKEND_ModelServer(wrong, &server));
  REFUSED(TRITONBACKEND_ModelBackend(wrong, &backend));
  REFUSED(TRITONBACKEND_ModelState(wrong, &state));
  REFUSED(TRITONBACKEND_ModelSetState(wrong, state));
  REFUSED(TRITONBACKEND_ModelReportMemoryUsage(wrong, &usage, 0));
}

static void wrong_instance(probe_report* report, TRITONBACKEND_ModelInstance* wrong,
                           TRITONBACKEND_Request* request) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  TRITONSERVER_BufferAttributes* usage = NULL;
  TRITONSERVER_Message* message = NULL;
  TRITONBACKEND_Model* model = NULL;
  const char* text = NULL;
  uint32_t count = 0;
  int32_t device = 0;
  int64_t id = 0;
  void* state = NULL;
  bool yes = false;
  REFUSED(TRITONBACKEND_ModelInstanceName(wrong, &text));
  REFUSED(TRITONBACKEND_ModelInstanceKind(wrong, &kind));
  REFUSED(TRITONBACKEND_ModelInstanceDeviceId(wrong, &device));
  REFUSED(TRITONBACKEND_ModelInstanceHostPolicy(wrong, &message));
  REFUSED(TRITONBACKEND_ModelInstanceIsPassive(wrong, &yes));
  REFUSED(TRITONBACKEND_ModelInstanceProfileCount(wrong, &count));
  REFUSED(TRITONBACKEND_ModelInstanceProfileName(wrong, 0, &text));
  REFUSED(TRITONBACKEND_ModelInstanceSecondaryDeviceCount(wrong, &count));
  REFUSED(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(wrong, 0, &text, &id));
  REFUSED(TRITONBACKEND_ModelInstanceModel(wrong, &model));
  REFUSED(TRITONBACKEND_ModelInstanceState(wrong, &state));
  REFUSED(TRITONBACKEND_ModelInstanceSetState(wrong, state));
  REFUSED(TRITONBACKEND_ModelInstanceReportMemoryUsage(wrong, &usage, 0));
  REFUSED(TRITONBACKEND_ModelInstanceReportStatistics(wrong, request, true, 1, 2, 3, 4));
  REFUSED(TRITONBACKEND_ModelInstanceReportBatchStatistics(wrong, 1, 1, 2, 3, 4));
}

static void wrong_services(probe_report* report, TRITONBACKEND_ResponseStatistics* wrong,
                           TRITONBACKEND_MemoryManager* manager) {
  void* memory = NULL;
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsDelete(wrong));
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(wrong, NULL));
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(wrong, NULL));
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(wrong, 1));
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(wrong, 1));
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(wrong, 1));
  REFUSED(TRITONBACKEND_ModelInstanceResponseStatisticsSetError(wrong, NULL));
  REFUSED(TRITONBACKEND_ModelInstanceReportResponseStatistics(wrong));
  REFUSED(TRITONBACKEND_MemoryManagerAllocate(manager, &memory, TRITONSERVER_MEMORY_CPU, 0, 64));
  REFUSED(TRITONBACKEND_MemoryManagerFree(manager, memory, TRITONSERVER_MEMORY_CPU, 0));
}

/* Each function gets the same address, whatever it stands for. */
static void all_wrong(probe_call call, void* handle) {
  wrong_request(call.report, handle);
  wrong_input(call.report, handle);
  wrong_response(call.report, handle);
  wrong_output(call.report, handle);
  wrong_factory(call.report, handle);
  wrong_state(call.report, handle);
  wrong_backend(call.report, handle);
  wrong_model(call.report, handle);
  wrong_instance(call.report, handle, call.request);
  wrong_services(call.report, handle, handle);
}

TRITONSERVER_Error* probe_nothing(probe_call call) {
  all_wrong(call, NULL);
  return probe_answer(call);
}

/* A message is a handle, too, but none that these functions take. */
TRITONSERVER_Error* probe_kinds(probe_call call) {
  probe_report* const report = call.report;
  TRITONSERVER_Message* message = NULL;
  WORKS(TRITONSERVER_MessageNewFromSerializedJson(&message, "{}", 2));
  all_wrong(call, message);
  WORKS(TRITONSERVER_MessageDelete(message));
  wrong_request(report, (TRITONBACKEND_Request*)(void*)call.instance);
  wrong_response(report, (TRITONBACKEND_Response*)(void*)call.request);
  wrong_model(report, (TRITONBACKEND_Model*)(void*)call.request);
  wrong_instance(report, (TRITONBACKEND_ModelInstance*)(void*)call.request, call.request);
  return probe_answer(call);
}

TRITONSERVER_Error* probe_released(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_ResponseStatistics* statistics = NULL;
  TRITONBACKEND_ResponseFactory* factory = NULL;
  TRITONBACKEND_Response* response = NULL;
  TRITONBACKEND_Output* output = NULL;
  TRITONBACKEND_Input* input = NULL;
  const int64_t shape[2] = {1, 1};
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsNew(&statistics));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsDelete(statistics));
  wrong_services(report, statistics, NULL);
  WORKS(TRITONBACKEND_RequestInput(call.request, "INPUT0", &input));
  WORKS(TRITONBACKEND_ResponseFactoryNew(&factory, call.request));
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_INT32, shape,
                                     2));
  WORKS(TRITONBACKEND_ResponseDelete(response));
  wrong_response(report, response);
  wrong_output(report, output);
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  wrong_request(report, call.request);
  wrong_input(report, input);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  wrong_response(report, response);
  WORKS(TRITONBACKEND_ResponseFactoryDelete(factory));
  wrong_factory(report, factory);
  probe_keep(report);
  return NULL;
}
