/* What the backend, its models and its instances are told while they are made. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

static char g_state[] = "the backend's own";

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  probe_report* const report = calloc(1, sizeof(*report));
  TRITONBACKEND_ExecutionPolicy policy = TRITONBACKEND_EXECUTION_DEVICE_BLOCKING;
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  TRITONBACKEND_MemoryManager* manager = NULL;
  TRITONSERVER_Message* message = NULL;
  const char* text = NULL;
  size_t size = 0;
  void* state = &policy;
  WORKS(TRITONBACKEND_BackendName(backend, &text));
  EXPECT(strcmp(text, "probe") == 0);
  WORKS(TRITONBACKEND_BackendConfig(backend, &message));
  WORKS(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
  EXPECT(strstr(text, "\"cmdline\"") != NULL);
  EXPECT(strstr(text, "\"colour\":\"blue\"") != NULL);
  WORKS(TRITONBACKEND_BackendExecutionPolicy(backend, &policy));
  EXPECT(policy == TRITONBACKEND_EXECUTION_BLOCKING);
  WORKS(TRITONBACKEND_BackendSetExecutionPolicy(backend, TRITONBACKEND_EXECUTION_BLOCKING));
  WORKS(TRITONBACKEND_BackendArtifacts(backend, &type, &text));
  EXPECT(text[0] == '/');
  WORKS(TRITONBACKEND_BackendMemoryManager(backend, &manager));
  WORKS(TRITONBACKEND_BackendState(backend, &state));
  EXPECT(state == NULL);
  WORKS(TRITONBACKEND_BackendSetState(backend, g_state));
  WORKS(TRITONBACKEND_BackendState(backend, &state));
  EXPECT(state == g_state);
  probe_keep(report);
  free(report);
  return NULL;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  void* state = NULL;
  probe_join_background();
  TRITONSERVER_Error* const error = TRITONBACKEND_BackendState(backend, &state);
  if (error == NULL && state != g_state) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "the backend's state is another");
  }
  return error;
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_BackendAttribute* attribute) {
  const uint64_t devices[1] = {0};
  const char* name = NULL;
  TRITONSERVER_Error* error = TRITONBACKEND_BackendName(backend, &name);
  if (error == NULL) {
    error = TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(attribute, true);
  }
  if (error == NULL) {
    error = TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
        attribute, TRITONSERVER_INSTANCEGROUPKIND_GPU, 0, devices, 1);
  }
  if (error == NULL) {
    error = TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
        attribute, TRITONSERVER_INSTANCEGROUPKIND_CPU, 2, NULL, 0);
  }
  return error;
}

/* Completes the configuration by an output when it may. */
static TRITONSERVER_Error* complete(TRITONBACKEND_Model* model, probe_report* report) {
  static const char kOutput[] =
      "\"output\":[{\"name\":\"OUTPUT0\",\"data_type\":\"TYPE_INT32\",\"dims\":[-1]}]";
  TRITONSERVER_Message* config = NULL;
  TRITONSERVER_Message* completed = NULL;
  TRITONSERVER_Error* error = NULL;
  const char* json = NULL;
  const char* hole = NULL;
  char text[8192];
  size_t size = 0;
  bool completes = false;
  WORKS(TRITONBACKEND_ModelAutoCompleteConfig(model, &completes));
  WORKS(TRITONBACKEND_ModelConfig(model, 1, &config));
  FAILS(TRITONBACKEND_ModelConfig(model, 2, &completed), TRITONSERVER_ERROR_INVALID_ARG);
  WORKS(TRITONSERVER_MessageSerializeToJson(config, &json, &size));
  hole = strstr(json, "\"output\":[]");
  if (completes && hole != NULL) {
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - json), json, kOutput,
             hole + strlen("\"output\":[]"));
    WORKS(TRITONSERVER_MessageNewFromSerializedJson(&completed, text, strlen(text)));
    FAILS(TRITONBACKEND_ModelSetConfig(model, 2, completed), TRITONSERVER_ERROR_INVALID_ARG);
    error = TRITONBACKEND_ModelSetConfig(model, 1, completed);
    WORKS(TRITONSERVER_MessageDelete(completed));
  }
  WORKS(TRITONSERVER_MessageDelete(config));
  return error;
}

static void make_metric(probe_model* model, const char* name) {
  probe_report* const report = &model->report;
  TRITONSERVER_Parameter* const label =
      TRITONSERVER_ParameterNew("model", TRITONSERVER_PARAMETER_STRING, name);
  const TRITONSERVER_Parameter* labels[1] = {label};
  WORKS(TRITONSERVER_MetricFamilyNew(&model->family, TRITONSERVER_METRIC_KIND_COUNTER,
                                     "probe_requests", "What the probe counted"));
  WORKS(TRITONSERVER_MetricNew(&model->metric, model->family, labels, 1));
  TRITONSERVER_ParameterDelete(label);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(
    TRITONBACKEND_Model* model) {
  probe_model* const self = calloc(1, sizeof(*self));
  probe_report* const report = &self->report;
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  TRITONBACKEND_Backend* backend = NULL;
  TRITONSERVER_Server* server = NULL;
  TRITONSERVER_Error* error = NULL;
  const char* name = NULL;
  const char* text = NULL;
  uint64_t version = 0;
  void* state = self;
  self->handle = model;
  WORKS(TRITONBACKEND_ModelName(model, &name));
  WORKS(TRITONBACKEND_ModelVersion(model, &version));
  EXPECT(version == 1);
  WORKS(TRITONBACKEND_ModelRepository(model, &type, &text));
  EXPECT(text[0] == '/');
  WORKS(TRITONBACKEND_ModelServer(model, &server));
  EXPECT(server != NULL);
  WORKS(TRITONBACKEND_ModelBackend(model, &backend));
  WORKS(TRITONBACKEND_BackendState(backend, &state));
  EXPECT(state == g_state);
  WORKS(TRITONBACKEND_ModelState(model, &state));
  EXPECT(state == NULL);
  error = complete(model, report);
  if (error == NULL && strcmp(name, "refused") == 0) {
    error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "the probe does not want it");
  }
  if (error == NULL && strcmp(name, "unhealthy") == 0) { /* as the Python backend says it */
    error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL,
                                  "Stub process 'unhealthy_0_0' is not healthy.");
  }
  if (error != NULL) {
    free(self);
    return error;
  }
  make_metric(self, name);
  return TRITONBACKEND_ModelSetState(model, self);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  probe_model* self = NULL;
  TRITONSERVER_Error* const error = TRITONBACKEND_ModelState(model, (void**)&self);
  if (error != NULL || self == NULL) {
    return error;
  }
  probe_join_background();
  TRITONSERVER_ErrorDelete(TRITONSERVER_MetricDelete(self->metric));
  TRITONSERVER_ErrorDelete(TRITONSERVER_MetricFamilyDelete(self->family));
  const bool whole = self->passive == 0;
  free(self);
  return whole ? NULL
               : TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "passive instances are left");
}

/* Profiles, secondary devices and the host policy: as many as there are, and no more. */
static void look_around(probe_report* report, TRITONBACKEND_ModelInstance* instance) {
  TRITONSERVER_Message* policy = NULL;
  const char* text = NULL;
  uint32_t count = 0;
  int64_t id = 0;
  size_t size = 0;
  WORKS(TRITONBACKEND_ModelInstanceHostPolicy(instance, &policy));
  WORKS(TRITONSERVER_MessageSerializeToJson(policy, &text, &size));
  EXPECT(text[0] == '{');
  WORKS(TRITONBACKEND_ModelInstanceProfileCount(instance, &count));
  for (uint32_t i = 0; i < count; ++i) {
    WORKS(TRITONBACKEND_ModelInstanceProfileName(instance, i, &text));
    EXPECT(strncmp(text, "profile", 7) == 0);
  }
  FAILS(TRITONBACKEND_ModelInstanceProfileName(instance, count, &text),
        TRITONSERVER_ERROR_INVALID_ARG);
  WORKS(TRITONBACKEND_ModelInstanceSecondaryDeviceCount(instance, &count));
  for (uint32_t i = 0; i < count; ++i) {
    WORKS(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(instance, i, &text, &id));
    EXPECT(strcmp(text, "KIND_NVDLA") == 0 && id == 1);
  }
  FAILS(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(instance, count, &text, &id),
        TRITONSERVER_ERROR_INVALID_ARG);
}

/* Returns when a second instance is there, too. */
static void meet(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  static unsigned came;
  pthread_mutex_lock(&mutex);
  const unsigned pair = came++ / 2;
  pthread_cond_broadcast(&changed);
  while (came < 2 * (pair + 1)) {
    pthread_cond_wait(&changed, &mutex);
  }
  pthread_mutex_unlock(&mutex);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  probe_instance* const self = calloc(1, sizeof(*self));
  probe_report* const report = &self->report;
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  TRITONBACKEND_Model* model = NULL;
  const char* name = NULL;
  int32_t device = -1;
  void* state = self;
  WORKS(TRITONBACKEND_ModelInstanceModel(instance, &model));
  WORKS(TRITONBACKEND_ModelState(model, (void**)&self->model));
  WORKS(TRITONBACKEND_ModelInstanceName(instance, &name));
  WORKS(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  EXPECT(kind == TRITONSERVER_INSTANCEGROUPKIND_CPU);
  WORKS(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  EXPECT(device == 0);
  WORKS(TRITONBACKEND_ModelInstanceState(instance, &state));
  EXPECT(state == NULL);
  look_around(report, instance);
  WORKS(TRITONBACKEND_ModelInstanceIsPassive(instance, &self->passive));
  EXPECT(self->passive == (strstr(name, "passive") != NULL));
  if (self->passive && strncmp(name, "shy", 3) == 0) {
    free(self);
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "this instance is shy");
  }
  if (self->passive) { /* they begin one after another, before the others */
    ++self->model->passive;
    probe_add(&self->model->report, report->wrong);
  }
  if (strncmp(name, "meeting", 7) == 0) {
    meet();
  }
  if (strncmp(name, "unwilling", 9) == 0) {
    free(self);
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "this instance is unwilling");
  }
  return TRITONBACKEND_ModelInstanceSetState(instance, self);
}

TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  probe_instance* self = NULL;
  TRITONSERVER_Error* const error = TRITONBACKEND_ModelInstanceState(instance, (void**)&self);
  if (self != NULL && self->passive) {
    --self->model->passive;
  }
  free(self);
  return error;
}

/* Whether the server answers within the server's own call. */
static TRITONSERVER_Error* read_config(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = NULL;
  TRITONSERVER_Message* config = NULL;
  TRITONSERVER_Error* error = TRITONBACKEND_ModelInstanceModel(instance, &model);
  if (error == NULL) {
    error = TRITONBACKEND_ModelConfig(model, 1, &config);
  }
  return error != NULL ? error : TRITONSERVER_MessageDelete(config);
}

/* Not ready when it broke, or when the model's name says so. */
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance) {
  const char* name = NULL;
  TRITONSERVER_Error* const error = TRITONBACKEND_ModelInstanceName(instance, &name);
  if (error == NULL && strncmp(name, "sleepy", 6) == 0) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "the instance sleeps");
  }
  if (error == NULL && strncmp(name, "curious", 7) == 0) {
    return read_config(instance);
  }
  probe_instance* self = NULL;
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelInstanceState(instance, (void**)&self));
  if (self != NULL && self->broken) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "the instance broke");
  }
  return error;
}

/* Tells what was found while the model and the instance were made. */
TRITONSERVER_Error* probe_lifecycle(probe_call call) {
  probe_report* const report = call.report;
  probe_instance* instance = NULL;
  WORKS(TRITONBACKEND_ModelInstanceState(call.instance, (void**)&instance));
  EXPECT(instance->report.checks > 10 && instance->model->report.checks > 10);
  probe_add(report, instance->report.wrong);
  probe_add(report, instance->model->report.wrong);
  TRITONBACKEND_Response* response = NULL;
  WORKS(TRITONBACKEND_ResponseNew(&response, call.request));
  WORKS(TRITONBACKEND_ResponseSetIntParameter(response, "passive", instance->model->passive));
  probe_fill(report, call.request, response);
  WORKS(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, NULL));
  WORKS(TRITONBACKEND_RequestRelease(call.request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return NULL;
}
