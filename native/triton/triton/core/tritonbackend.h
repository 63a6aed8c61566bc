/* Functions that a server offers to backends made for Triton, and that they offer to it. Names,
 * signatures and numbers are those that Triton publishes (backend interface 1.19);
 * libtritonserver.so of Nereid exports the first kind. Backends include
 * "triton/core/tritonbackend.h".
 *
 * A pointer that is given out lives as long as the object that was asked, unless it says otherwise.
 * A caller may pass NULL for a result that it does not want if a function gives several. */
#ifndef NEREID_TRITON_CORE_TRITONBACKEND_H_
#define NEREID_TRITON_CORE_TRITONBACKEND_H_

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The prefix of most server functions, and of all backend functions. */
#define TRITONBACKEND_CALL TRITONSERVER_CALL
#define TRITONBACKEND_OFFER TRITONSERVER_CALL

#define TRITONBACKEND_API_VERSION_MAJOR 1
#define TRITONBACKEND_API_VERSION_MINOR 19

/* Handles. */
typedef struct TRITONBACKEND_Backend TRITONBACKEND_Backend;
typedef struct TRITONBACKEND_BackendAttribute TRITONBACKEND_BackendAttribute;
typedef struct TRITONBACKEND_Batcher TRITONBACKEND_Batcher; /* the backend's own */
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
typedef struct TRITONBACKEND_MemoryManager TRITONBACKEND_MemoryManager;
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
typedef struct TRITONBACKEND_ModelInstance TRITONBACKEND_ModelInstance;
typedef struct TRITONBACKEND_ModelInstanceResponseStatistics
    TRITONBACKEND_ModelInstanceResponseStatistics;
typedef struct TRITONBACKEND_Output TRITONBACKEND_Output;
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;
typedef struct TRITONBACKEND_Response TRITONBACKEND_Response;
typedef struct TRITONBACKEND_ResponseFactory TRITONBACKEND_ResponseFactory;
typedef struct TRITONBACKEND_State TRITONBACKEND_State;

TRITONBACKEND_CALL TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor);

typedef enum TRITONBACKEND_artifacttype_enum {
  TRITONBACKEND_ARTIFACT_FILESYSTEM = 0
} TRITONBACKEND_ArtifactType;

/* ---- Memory ---------------------------------------------------------------------------------- */

/* UNSUPPORTED: no such memory exists; UNAVAILABLE: too little of it is free. */
TRITONBACKEND_CALL TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager* manager,
                                                       void** buffer,
                                                       const TRITONSERVER_MemoryType type,
                                                       const int64_t id, const uint64_t byte_size);
TRITONBACKEND_CALL TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager* manager,
                                                   void* buffer, const TRITONSERVER_MemoryType type,
                                                   const int64_t id);

/* ---- Inputs and outputs ---------------------------------------------------------------------- */

TRITONBACKEND_CALL TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                 TRITONSERVER_DataType* datatype,
                                                 const int64_t** shape, uint32_t* rank,
                                                 uint64_t* byte_size, uint32_t* buffer_count);
TRITONBACKEND_CALL TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* rank, uint64_t* byte_size,
    uint32_t* buffer_count);
/* Type and id hold the caller's wish, and then the actual place; the same for all buffers below. */
TRITONBACKEND_CALL TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, const uint32_t index,
                                             const void** buffer, uint64_t* byte_size,
                                             TRITONSERVER_MemoryType* type, int64_t* id);
TRITONBACKEND_CALL TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy, const uint32_t index, const void** buffer,
    uint64_t* byte_size, TRITONSERVER_MemoryType* type, int64_t* id);
TRITONBACKEND_CALL TRITONBACKEND_InputBufferAttributes(TRITONBACKEND_Input* input,
                                                       const uint32_t index, const void** buffer,
                                                       TRITONSERVER_BufferAttributes** attributes);

TRITONBACKEND_CALL TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                              const uint64_t byte_size,
                                              TRITONSERVER_MemoryType* type, int64_t* id);
/* After TRITONBACKEND_OutputBuffer. */
TRITONBACKEND_CALL TRITONBACKEND_OutputBufferAttributes(TRITONBACKEND_Output* output,
                                                        TRITONSERVER_BufferAttributes** attributes);

/* ---- Requests -------------------------------------------------------------------------------- */

TRITONBACKEND_CALL TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id);
TRITONBACKEND_CALL TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                    bool* cancelled);
TRITONBACKEND_CALL TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request, uint64_t* id);
TRITONBACKEND_CALL TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request,
                                                            const char** id);
TRITONBACKEND_CALL TRITONBACKEND_InferenceRequestTimeoutMicroseconds(TRITONBACKEND_Request* request,
                                                                     uint64_t* timeout_us);
TRITONBACKEND_CALL TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags);
TRITONBACKEND_CALL TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                       uint32_t* count);
TRITONBACKEND_CALL TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                  const uint32_t index, const char** key,
                                                  TRITONSERVER_ParameterType* type,
                                                  const void** value);
TRITONBACKEND_CALL TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request, uint32_t* count);
TRITONBACKEND_CALL TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request,
                                                  const uint32_t index, const char** name);
TRITONBACKEND_CALL TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                              TRITONBACKEND_Input** input);
TRITONBACKEND_CALL TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                     const uint32_t index,
                                                     TRITONBACKEND_Input** input);
TRITONBACKEND_CALL TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count);
TRITONBACKEND_CALL TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** name);
/* UNAVAILABLE: not known yet. */
TRITONBACKEND_CALL TRITONBACKEND_RequestOutputBufferProperties(TRITONBACKEND_Request* request,
                                                               const char* name, size_t* byte_size,
                                                               TRITONSERVER_MemoryType* type,
                                                               int64_t* id);
/* After an error the backend still owns the request. */
TRITONBACKEND_CALL TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags);
/* NULL for a request that is not traced. */
TRITONBACKEND_CALL TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                              TRITONSERVER_InferenceTrace** trace);

/* ---- Responses ------------------------------------------------------------------------------- */

TRITONBACKEND_CALL TRITONBACKEND_ResponseFactoryNew(TRITONBACKEND_ResponseFactory** factory,
                                                    TRITONBACKEND_Request* request);
TRITONBACKEND_CALL TRITONBACKEND_ResponseFactoryDelete(TRITONBACKEND_ResponseFactory* factory);
TRITONBACKEND_CALL TRITONBACKEND_ResponseFactoryIsCancelled(TRITONBACKEND_ResponseFactory* factory,
                                                            bool* cancelled);
TRITONBACKEND_CALL TRITONBACKEND_ResponseFactorySendFlags(TRITONBACKEND_ResponseFactory* factory,
                                                          const uint32_t flags);

TRITONBACKEND_CALL TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                             TRITONBACKEND_Request* request);
TRITONBACKEND_CALL TRITONBACKEND_ResponseNewFromFactory(TRITONBACKEND_Response** response,
                                                        TRITONBACKEND_ResponseFactory* factory);
TRITONBACKEND_CALL TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response);
TRITONBACKEND_CALL TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                            const char* name, const char* value);
TRITONBACKEND_CALL TRITONBACKEND_ResponseSetIntParameter(TRITONBACKEND_Response* response,
                                                         const char* name, const int64_t value);
TRITONBACKEND_CALL TRITONBACKEND_ResponseSetBoolParameter(TRITONBACKEND_Response* response,
                                                          const char* name, const bool value);
TRITONBACKEND_CALL TRITONBACKEND_ResponseSetDoubleParameter(TRITONBACKEND_Response* response,
                                                            const char* name, const double value);
TRITONBACKEND_CALL TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                TRITONBACKEND_Output** output, const char* name,
                                                const TRITONSERVER_DataType datatype,
                                                const int64_t* shape, const uint32_t rank);
/* The server owns the response from here on; the caller keeps the error. */
TRITONBACKEND_CALL TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                              const uint32_t flags, TRITONSERVER_Error* error);
TRITONBACKEND_CALL TRITONBACKEND_InferenceResponseOutputByName(TRITONBACKEND_Response* response,
                                                               const char* name,
                                                               TRITONSERVER_DataType* datatype,
                                                               const int64_t** shape,
                                                               uint64_t* rank);
TRITONBACKEND_CALL TRITONBACKEND_InferenceResponseOutput(TRITONBACKEND_Response* response,
                                                         const uint32_t index, const char** name,
                                                         TRITONSERVER_DataType* datatype,
                                                         const int64_t** shape, uint64_t* rank);

/* ---- State of sequences ---------------------------------------------------------------------- */

TRITONBACKEND_CALL TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                          TRITONBACKEND_Request* request, const char* name,
                                          const TRITONSERVER_DataType datatype,
                                          const int64_t* shape, const uint32_t rank);
TRITONBACKEND_CALL TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state);
TRITONBACKEND_CALL TRITONBACKEND_StateBuffer(TRITONBACKEND_State* state, void** buffer,
                                             const uint64_t byte_size,
                                             TRITONSERVER_MemoryType* type, int64_t* id);
TRITONBACKEND_CALL TRITONBACKEND_StateBufferAttributes(TRITONBACKEND_State* state,
                                                       TRITONSERVER_BufferAttributes** attributes);

/* ---- Backends -------------------------------------------------------------------------------- */

typedef enum TRITONBACKEND_execpolicy_enum TRITONSERVER_ANY {
  TRITONBACKEND_EXECUTION_BLOCKING = 0,
  TRITONBACKEND_EXECUTION_DEVICE_BLOCKING = 1
} TRITONBACKEND_ExecutionPolicy;

TRITONBACKEND_CALL TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend, const char** name);
TRITONBACKEND_CALL TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                               TRITONSERVER_Message** config);
TRITONBACKEND_CALL TRITONBACKEND_BackendExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                        TRITONBACKEND_ExecutionPolicy* policy);
TRITONBACKEND_CALL TRITONBACKEND_BackendSetExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                           TRITONBACKEND_ExecutionPolicy policy);
TRITONBACKEND_CALL TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                  TRITONBACKEND_ArtifactType* type,
                                                  const char** location);
TRITONBACKEND_CALL TRITONBACKEND_BackendMemoryManager(TRITONBACKEND_Backend* backend,
                                                      TRITONBACKEND_MemoryManager** manager);
TRITONBACKEND_CALL TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state);
TRITONBACKEND_CALL TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state);
TRITONBACKEND_CALL TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* attribute, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t* devices, const uint64_t device_count);
TRITONBACKEND_CALL TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* attribute, bool enabled);

/* ---- Models ---------------------------------------------------------------------------------- */

TRITONBACKEND_CALL TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name);
TRITONBACKEND_CALL TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version);
TRITONBACKEND_CALL TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                 TRITONBACKEND_ArtifactType* type,
                                                 const char** location);
/* The caller owns and deletes the message. config_version is 1. */
TRITONBACKEND_CALL TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                             const uint32_t config_version,
                                             TRITONSERVER_Message** config);
TRITONBACKEND_CALL TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                         bool* completes);
/* Call it within TRITONBACKEND_ModelInitialize. The caller keeps the message. */
TRITONBACKEND_CALL TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model,
                                                const uint32_t config_version,
                                                TRITONSERVER_Message* config);
TRITONBACKEND_CALL TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                             TRITONSERVER_Server** server);
TRITONBACKEND_CALL TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                              TRITONBACKEND_Backend** backend);
TRITONBACKEND_CALL TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state);
TRITONBACKEND_CALL TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state);
TRITONBACKEND_CALL TRITONBACKEND_ModelReportMemoryUsage(TRITONBACKEND_Model* model,
                                                        TRITONSERVER_BufferAttributes** usage,
                                                        uint32_t usage_count);

/* ---- Instances ------------------------------------------------------------------------------- */

TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance* instance,
                                                   const char** name);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* instance,
                                                   TRITONSERVER_InstanceGroupKind* kind);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance* instance,
                                                       int32_t* device);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceHostPolicy(TRITONBACKEND_ModelInstance* instance,
                                                         TRITONSERVER_Message** policy);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceIsPassive(TRITONBACKEND_ModelInstance* instance,
                                                        bool* passive);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceProfileCount(TRITONBACKEND_ModelInstance* instance,
                                                           uint32_t* count);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceProfileName(TRITONBACKEND_ModelInstance* instance,
                                                          const uint32_t index, const char** name);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                    TRITONBACKEND_Model** model);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                    void** state);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                       void* state);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_count);

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Times are those of CLOCK_MONOTONIC. Call it before the request is released. */
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t execute_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t execute_end_ns);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size,
    const uint64_t execute_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t execute_end_ns);

typedef TRITONBACKEND_ModelInstanceResponseStatistics TRITONBACKEND_ResponseStatistics;
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ResponseStatistics** statistics);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ResponseStatistics* statistics);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ResponseStatistics* statistics, TRITONBACKEND_ModelInstance* instance);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ResponseStatistics* statistics, TRITONBACKEND_ResponseFactory* factory);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ResponseStatistics* statistics, uint64_t time_ns);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ResponseStatistics* statistics, uint64_t time_ns);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ResponseStatistics* statistics, uint64_t time_ns);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ResponseStatistics* statistics, TRITONSERVER_Error* error);
TRITONBACKEND_CALL TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ResponseStatistics* statistics);

/* ---- What a backend offers ------------------------------------------------------------------- */

/* The only function that a backend must have. An error returned means that the requests stay the
 * server's; otherwise the backend answers and releases each of them, at any time and on any thread.
 */
TRITONBACKEND_OFFER TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count);
TRITONBACKEND_OFFER TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend);
TRITONBACKEND_OFFER TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend);
TRITONBACKEND_OFFER TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model);
TRITONBACKEND_OFFER TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model);
TRITONBACKEND_OFFER TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance);
TRITONBACKEND_OFFER TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance);
TRITONBACKEND_OFFER TRITONBACKEND_ModelInstanceReady(TRITONBACKEND_ModelInstance* instance);
TRITONBACKEND_OFFER TRITONBACKEND_GetBackendAttribute(TRITONBACKEND_Backend* backend,
                                                      TRITONBACKEND_BackendAttribute* attribute);

/* A backend has all of these, or none. The batcher and `userp` are the backend's own. */
TRITONBACKEND_OFFER TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher** batcher,
                                                         TRITONBACKEND_Model* model);
TRITONBACKEND_OFFER TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher* batcher);
TRITONBACKEND_OFFER TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request* request,
                                                           void* userp, bool* included);
TRITONBACKEND_OFFER TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher* batcher,
                                                       void** userp);
TRITONBACKEND_OFFER TRITONBACKEND_ModelBatchFinalize(void* userp);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_TRITON_CORE_TRITONBACKEND_H_ */
