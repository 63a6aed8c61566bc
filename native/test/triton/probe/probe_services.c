/* What the server offers besides requests and responses: memory, statistics, traces, metrics, and
 * the small objects of tritonserver.h. */
#include <string.h>
#include <time.h>

#include "probe.h"

static void allocate(probe_report* report, TRITONBACKEND_MemoryManager* manager,
                     TRITONSERVER_MemoryType type, uint64_t size) {
  void* memory = NULL;
  TRITONSERVER_Error* const error =
      TRITONBACKEND_MemoryManagerAllocate(manager, &memory, type, 0, size);
  if (error != NULL) {
    /* Only the memory of a device may be missing altogether. */
    EXPECT(type == TRITONSERVER_MEMORY_GPU);
    EXPECT(TRITONSERVER_ErrorMessage(error)[0] != '\0');
    TRITONSERVER_ErrorDelete(error);
    return;
  }
  EXPECT(memory != NULL || size == 0);
  if (type != TRITONSERVER_MEMORY_GPU) {
    memset(memory, 1, size);
  }
  WORKS(TRITONBACKEND_MemoryManagerFree(manager, memory, type, 0));
}

TRITONSERVER_Error* probe_memory(probe_call call) {
  probe_report* const report = call.report;
  TRITONBACKEND_MemoryManager* manager = NULL;
  TRITONBACKEND_Backend* backend = NULL;
  TRITONBACKEND_Model* model = NULL;
  TRITONSERVER_BufferAttributes* usage[2] = {NULL, NULL};
  void* memory = NULL;
  WORKS(TRITONBACKEND_ModelInstanceModel(call.instance, &model));
  WORKS(TRITONBACKEND_ModelBackend(model, &backend));
  WORKS(TRITONBACKEND_BackendMemoryManager(backend, &manager));
  allocate(report, manager, TRITONSERVER_MEMORY_CPU, 64);
  allocate(report, manager, TRITONSERVER_MEMORY_CPU, 10 * 1000 * 1000);
  allocate(report, manager, TRITONSERVER_MEMORY_CPU_PINNED, 100);
  allocate(report, manager, TRITONSERVER_MEMORY_GPU, 100);
  REFUSED(TRITONBACKEND_MemoryManagerAllocate(manager, &memory, TRITONSERVER_MEMORY_CPU, 0,
                                              UINT64_MAX / 2));
  REFUSED(TRITONBACKEND_MemoryManagerAllocate(manager, &memory, (TRITONSERVER_MemoryType)9, 0, 1));
  for (int i = 0; i < 2; ++i) {
    WORKS(TRITONSERVER_BufferAttributesNew(&usage[i]));
    WORKS(TRITONSERVER_BufferAttributesSetMemoryType(usage[i], TRITONSERVER_MEMORY_CPU));
    WORKS(TRITONSERVER_BufferAttributesSetMemoryTypeId(usage[i], i));
    WORKS(TRITONSERVER_BufferAttributesSetByteSize(usage[i], 1000));
  }
  WORKS(TRITONBACKEND_ModelReportMemoryUsage(model, usage, 2));
  WORKS(TRITONBACKEND_ModelInstanceReportMemoryUsage(call.instance, usage, 2));
  for (int i = 0; i < 2; ++i) {
    WORKS(TRITONSERVER_BufferAttributesDelete(usage[i]));
    REFUSED(TRITONSERVER_BufferAttributesDelete(usage[i]));
  }
  return probe_answer(call);
}

/* Times are "start" and one more each. */
TRITONSERVER_Error* probe_statistics(probe_call call) {
  probe_report* const report = call.report;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  TRITONBACKEND_ResponseStatistics* statistics = NULL;
  TRITONBACKEND_ResponseFactory* factory = NULL;
  TRITONSERVER_Error* const error =
      TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "an example");
  WORKS(TRITONBACKEND_ModelInstanceReportStatistics(call.instance, call.request, true, start,
                                                    start + 10, start + 110, start + 115));
  WORKS(TRITONBACKEND_ModelInstanceReportBatchStatistics(call.instance, 1, start, start + 10,
                                                         start + 110, start + 115));
  WORKS(TRITONBACKEND_ResponseFactoryNew(&factory, call.request));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsNew(&statistics));
  /* Of nobody. */
  REFUSED(TRITONBACKEND_ModelInstanceReportResponseStatistics(statistics));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(statistics, call.instance));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(statistics, factory));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(statistics, start));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(statistics, start + 1));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(statistics, start + 2));
  WORKS(TRITONBACKEND_ModelInstanceReportResponseStatistics(statistics));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsSetError(statistics, error));
  WORKS(TRITONBACKEND_ModelInstanceReportResponseStatistics(statistics));
  WORKS(TRITONBACKEND_ModelInstanceResponseStatisticsDelete(statistics));
  WORKS(TRITONBACKEND_ResponseFactoryDelete(factory));
  TRITONSERVER_ErrorDelete(error);
  return probe_answer(call);
}

/* There is a trace when somebody records the request. */
TRITONSERVER_Error* probe_trace(probe_call call) {
  probe_report* const report = call.report;
  TRITONSERVER_InferenceTrace* trace = NULL;
  WORKS(TRITONBACKEND_RequestTrace(call.request, &trace));
  EXPECT((trace != NULL) == (probe_number(call.request, "traced", 0) == 1));
  if (trace != NULL) {
    WORKS(TRITONSERVER_InferenceTraceReportActivity(trace, 12345, "PROBED"));
  }
  return probe_answer(call);
}

/* The model's counter goes up; another family comes and goes. */
TRITONSERVER_Error* probe_metrics(probe_call call) {
  probe_report* const report = call.report;
  TRITONSERVER_MetricKind kind = TRITONSERVER_METRIC_KIND_GAUGE;
  TRITONSERVER_MetricFamily* family = NULL;
  TRITONSERVER_MetricFamily* same = NULL;
  TRITONSERVER_MetricArgs* args = NULL;
  TRITONSERVER_Metric* metric = NULL;
  TRITONSERVER_Parameter* label = NULL;
  const TRITONSERVER_Parameter* labels[1] = {NULL};
  const double buckets[2] = {0.5, 5};
  probe_instance* instance = NULL;
  double value = 0;
  WORKS(TRITONBACKEND_ModelInstanceState(call.instance, (void**)&instance));
  metric = instance->model->metric;
  WORKS(TRITONSERVER_MetricIncrement(metric, 1.5));
  WORKS(TRITONSERVER_MetricValue(metric, &value));
  EXPECT(value >= 1.5);
  REFUSED(TRITONSERVER_MetricIncrement(metric, -1));
  REFUSED(TRITONSERVER_MetricObserve(metric, 1));
  WORKS(TRITONSERVER_GetMetricKind(metric, &kind));
  EXPECT(kind == TRITONSERVER_METRIC_KIND_COUNTER);
  WORKS(TRITONSERVER_GetMetricFamilyKind(instance->model->family, &kind));
  EXPECT(kind == TRITONSERVER_METRIC_KIND_COUNTER);
  REFUSED(TRITONSERVER_MetricNew(&metric, NULL, NULL, 0));

  WORKS(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_HISTOGRAM, "probe_sizes",
                                     "What comes and goes"));
  WORKS(TRITONSERVER_MetricArgsNew(&args));
  WORKS(TRITONSERVER_MetricArgsSetHistogram(args, buckets, 2));
  label = TRITONSERVER_ParameterNew("who", TRITONSERVER_PARAMETER_STRING, "me");
  labels[0] = label;
  WORKS(TRITONSERVER_MetricNewWithArgs(&metric, family, labels, 1, args));
  WORKS(TRITONSERVER_MetricObserve(metric, 1));
  REFUSED(TRITONSERVER_MetricSet(metric, 1));
  REFUSED(TRITONSERVER_MetricValue(metric, &value));
  WORKS(TRITONSERVER_MetricDelete(metric));
  WORKS(TRITONSERVER_MetricArgsDelete(args));
  TRITONSERVER_ParameterDelete(label);
  REFUSED(TRITONSERVER_MetricFamilyNew(&same, TRITONSERVER_METRIC_KIND_GAUGE, "probe_sizes",
                                       "Of another kind"));
  WORKS(TRITONSERVER_MetricFamilyDelete(family));

  WORKS(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_GAUGE, "probe_gauge", "Up"));
  WORKS(TRITONSERVER_MetricNew(&metric, family, NULL, 0));
  WORKS(TRITONSERVER_MetricSet(metric, 4));
  WORKS(TRITONSERVER_MetricIncrement(metric, -1));
  WORKS(TRITONSERVER_MetricValue(metric, &value));
  EXPECT(value == 3);
  WORKS(TRITONSERVER_MetricDelete(metric));
  WORKS(TRITONSERVER_MetricFamilyDelete(family));
  return probe_answer(call);
}

static void errors_and_types(probe_report* report) {
  TRITONSERVER_Error* const error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_NOT_FOUND, "nowhere");
  uint32_t major = 0;
  uint32_t minor = 0;
  EXPECT(TRITONSERVER_ErrorCode(error) == TRITONSERVER_ERROR_NOT_FOUND);
  EXPECT(strcmp(TRITONSERVER_ErrorCodeString(error), "Not found") == 0);
  EXPECT(strcmp(TRITONSERVER_ErrorMessage(error), "nowhere") == 0);
  TRITONSERVER_ErrorDelete(error);
  WORKS(TRITONSERVER_ApiVersion(&major, &minor));
  EXPECT(major == 1 && minor == TRITONSERVER_API_VERSION_MINOR);
  WORKS(TRITONBACKEND_ApiVersion(&major, &minor));
  EXPECT(major == 1 && minor == TRITONBACKEND_API_VERSION_MINOR);
  EXPECT(strcmp(TRITONSERVER_DataTypeString(TRITONSERVER_TYPE_BF16), "BF16") == 0);
  EXPECT(TRITONSERVER_StringToDataType("FP16") == TRITONSERVER_TYPE_FP16);
  EXPECT(TRITONSERVER_StringToDataType("TYPE_FP16") == TRITONSERVER_TYPE_INVALID);
  EXPECT(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_FP64) == 8);
  EXPECT(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_BYTES) == 0);
  EXPECT(strcmp(TRITONSERVER_MemoryTypeString(TRITONSERVER_MEMORY_CPU_PINNED), "CPU_PINNED") == 0);
  EXPECT(strcmp(TRITONSERVER_InstanceGroupKindString(TRITONSERVER_INSTANCEGROUPKIND_MODEL),
                "MODEL") == 0);
  EXPECT(strcmp(TRITONSERVER_ParameterTypeString(TRITONSERVER_PARAMETER_BOOL), "BOOL") == 0);
}

static void attributes_and_parameters(probe_report* report) {
  TRITONSERVER_BufferAttributes* attributes = NULL;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  TRITONSERVER_Parameter* parameter = NULL;
  void* handle = &type;
  int64_t number = 0;
  size_t size = 0;
  WORKS(TRITONSERVER_BufferAttributesNew(&attributes));
  WORKS(TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_CPU_PINNED));
  WORKS(TRITONSERVER_BufferAttributesSetMemoryTypeId(attributes, 3));
  WORKS(TRITONSERVER_BufferAttributesSetByteSize(attributes, 77));
  WORKS(TRITONSERVER_BufferAttributesSetCudaIpcHandle(attributes, &number));
  WORKS(TRITONSERVER_BufferAttributesMemoryType(attributes, &type));
  WORKS(TRITONSERVER_BufferAttributesCudaIpcHandle(attributes, &handle));
  EXPECT(type == TRITONSERVER_MEMORY_CPU_PINNED && handle == &number);
  WORKS(TRITONSERVER_BufferAttributesMemoryTypeId(attributes, &number));
  WORKS(TRITONSERVER_BufferAttributesByteSize(attributes, &size));
  EXPECT(number == 3 && size == 77);
  WORKS(TRITONSERVER_BufferAttributesDelete(attributes));
  REFUSED(TRITONSERVER_BufferAttributesByteSize(attributes, &size));
  parameter = TRITONSERVER_ParameterNew("n", TRITONSERVER_PARAMETER_INT, &number);
  EXPECT(parameter != NULL);
  TRITONSERVER_ParameterDelete(parameter);
  parameter = TRITONSERVER_ParameterBytesNew("b", &number, sizeof(number));
  EXPECT(parameter != NULL);
  TRITONSERVER_ParameterDelete(parameter);
  EXPECT(TRITONSERVER_ParameterNew("b", TRITONSERVER_PARAMETER_BYTES, &number) == NULL);
}

TRITONSERVER_Error* probe_values(probe_call call) {
  probe_report* const report = call.report;
  TRITONSERVER_Message* message = NULL;
  const char* json = NULL;
  size_t size = 0;
  errors_and_types(report);
  attributes_and_parameters(report);
  WORKS(TRITONSERVER_MessageNewFromSerializedJson(&message, "{\"a\":1}", 7));
  WORKS(TRITONSERVER_MessageSerializeToJson(message, &json, &size));
  EXPECT(size == 7 && memcmp(json, "{\"a\":1}", 7) == 0);
  WORKS(TRITONSERVER_MessageDelete(message));
  REFUSED(TRITONSERVER_MessageSerializeToJson(message, &json, &size));
  REFUSED(TRITONSERVER_MessageDelete(message));
  EXPECT(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_ERROR));
  WORKS(TRITONSERVER_LogMessage(TRITONSERVER_LOG_INFO, "probe.c", 12, "the probe was here"));
  return probe_answer(call);
}
