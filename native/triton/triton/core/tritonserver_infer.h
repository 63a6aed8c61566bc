/* The rest of tritonserver.h, which includes this file: requests, responses and traces of
 * inferences that a plug-in starts by itself, and what it may ask the server. */
#ifndef NEREID_TRITON_CORE_TRITONSERVER_INFER_H_
#define NEREID_TRITON_CORE_TRITONSERVER_INFER_H_

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Response allocators --------------------------------------------------------------------- */

typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorAllocFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, const char* tensor, size_t byte_size,
    TRITONSERVER_MemoryType wanted_type, int64_t wanted_id, void* userp, void** buffer,
    void** buffer_userp, TRITONSERVER_MemoryType* actual_type, int64_t* actual_id);
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorBufferAttributesFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, const char* tensor,
    TRITONSERVER_BufferAttributes* attributes, void* userp, void* buffer_userp);
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorQueryFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* userp, const char* tensor, size_t* byte_size,
    TRITONSERVER_MemoryType* type, int64_t* id);
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorReleaseFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* buffer, void* buffer_userp, size_t byte_size,
    TRITONSERVER_MemoryType type, int64_t id);
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorStartFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* userp);

TRITONSERVER_CALL TRITONSERVER_ResponseAllocatorNew(
    TRITONSERVER_ResponseAllocator** allocator, TRITONSERVER_ResponseAllocatorAllocFn_t allocate,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release,
    TRITONSERVER_ResponseAllocatorStartFn_t start);
TRITONSERVER_CALL TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t attributes);
TRITONSERVER_CALL TRITONSERVER_ResponseAllocatorSetQueryFunction(
    TRITONSERVER_ResponseAllocator* allocator, TRITONSERVER_ResponseAllocatorQueryFn_t query);
TRITONSERVER_CALL TRITONSERVER_ResponseAllocatorDelete(TRITONSERVER_ResponseAllocator* allocator);

/* ---- Traces ---------------------------------------------------------------------------------- */

typedef enum tritonserver_tracelevel_enum {
  TRITONSERVER_TRACE_LEVEL_DISABLED = 0,
  TRITONSERVER_TRACE_LEVEL_MIN = 1,
  TRITONSERVER_TRACE_LEVEL_MAX = 2,
  TRITONSERVER_TRACE_LEVEL_TIMESTAMPS = 4,
  TRITONSERVER_TRACE_LEVEL_TENSORS = 8
} TRITONSERVER_InferenceTraceLevel;

typedef enum tritonserver_traceactivity_enum {
  TRITONSERVER_TRACE_REQUEST_START = 0,
  TRITONSERVER_TRACE_QUEUE_START = 1,
  TRITONSERVER_TRACE_COMPUTE_START = 2,
  TRITONSERVER_TRACE_COMPUTE_INPUT_END = 3,
  TRITONSERVER_TRACE_COMPUTE_OUTPUT_START = 4,
  TRITONSERVER_TRACE_COMPUTE_END = 5,
  TRITONSERVER_TRACE_REQUEST_END = 6,
  TRITONSERVER_TRACE_TENSOR_QUEUE_INPUT = 7,
  TRITONSERVER_TRACE_TENSOR_BACKEND_INPUT = 8,
  TRITONSERVER_TRACE_TENSOR_BACKEND_OUTPUT = 9,
  TRITONSERVER_TRACE_CUSTOM_ACTIVITY = 10
} TRITONSERVER_InferenceTraceActivity;

typedef void (*TRITONSERVER_InferenceTraceActivityFn_t)(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    uint64_t time_ns, void* userp);
typedef void (*TRITONSERVER_InferenceTraceTensorActivityFn_t)(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    const char* name, TRITONSERVER_DataType datatype, const void* data, size_t byte_size,
    const int64_t* shape, uint64_t rank, TRITONSERVER_MemoryType type, int64_t id, void* userp);
typedef void (*TRITONSERVER_InferenceTraceReleaseFn_t)(TRITONSERVER_InferenceTrace* trace,
                                                       void* userp);

TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceLevelString(
    TRITONSERVER_InferenceTraceLevel level);
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceActivityString(
    TRITONSERVER_InferenceTraceActivity activity);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceNew(TRITONSERVER_InferenceTrace** trace,
                                                 TRITONSERVER_InferenceTraceLevel level,
                                                 uint64_t parent,
                                                 TRITONSERVER_InferenceTraceActivityFn_t activity,
                                                 TRITONSERVER_InferenceTraceReleaseFn_t release,
                                                 void* userp);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceTensorNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent,
    TRITONSERVER_InferenceTraceActivityFn_t activity,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity,
    TRITONSERVER_InferenceTraceReleaseFn_t release, void* userp);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceReportActivity(TRITONSERVER_InferenceTrace* trace,
                                                            uint64_t time_ns, const char* name);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceDelete(TRITONSERVER_InferenceTrace* trace);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceId(TRITONSERVER_InferenceTrace* trace, uint64_t* id);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceParentId(TRITONSERVER_InferenceTrace* trace,
                                                      uint64_t* parent);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceModelName(TRITONSERVER_InferenceTrace* trace,
                                                       const char** name);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceModelVersion(TRITONSERVER_InferenceTrace* trace,
                                                          int64_t* version);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceRequestId(TRITONSERVER_InferenceTrace* trace,
                                                       const char** id);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceSpawnChildTrace(TRITONSERVER_InferenceTrace* trace,
                                                             TRITONSERVER_InferenceTrace** child);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceSetContext(TRITONSERVER_InferenceTrace* trace,
                                                        const char* context);
TRITONSERVER_CALL TRITONSERVER_InferenceTraceContext(TRITONSERVER_InferenceTrace* trace,
                                                     const char** context);

/* ---- Requests -------------------------------------------------------------------------------- */

typedef enum tritonserver_requestflag_enum {
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1,
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
} TRITONSERVER_RequestFlag;

typedef enum tritonserver_requestreleaseflag_enum {
  TRITONSERVER_REQUEST_RELEASE_ALL = 1,
  TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
} TRITONSERVER_RequestReleaseFlag;

typedef enum tritonserver_responsecompleteflag_enum {
  TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
} TRITONSERVER_ResponseCompleteFlag;

typedef void (*TRITONSERVER_InferenceRequestReleaseFn_t)(TRITONSERVER_InferenceRequest* request,
                                                         const uint32_t flags, void* userp);
/* `response` is NULL if there are only flags. */
typedef void (*TRITONSERVER_InferenceResponseCompleteFn_t)(TRITONSERVER_InferenceResponse* response,
                                                           const uint32_t flags, void* userp);

TRITONSERVER_CALL TRITONSERVER_InferenceRequestNew(TRITONSERVER_InferenceRequest** request,
                                                   TRITONSERVER_Server* server, const char* model,
                                                   const int64_t version);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestDelete(TRITONSERVER_InferenceRequest* request);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestId(TRITONSERVER_InferenceRequest* request,
                                                  const char** id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetId(TRITONSERVER_InferenceRequest* request,
                                                     const char* id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestFlags(TRITONSERVER_InferenceRequest* request,
                                                     uint32_t* flags);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetFlags(TRITONSERVER_InferenceRequest* request,
                                                        uint32_t flags);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestCorrelationId(TRITONSERVER_InferenceRequest* request,
                                                             uint64_t* id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestCorrelationIdString(
    TRITONSERVER_InferenceRequest* request, const char** id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetCorrelationId(
    TRITONSERVER_InferenceRequest* request, uint64_t id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetCorrelationIdString(
    TRITONSERVER_InferenceRequest* request, const char* id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestCancel(TRITONSERVER_InferenceRequest* request);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestIsCancelled(TRITONSERVER_InferenceRequest* request,
                                                           bool* cancelled);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestPriority(TRITONSERVER_InferenceRequest* request,
                                                        uint32_t* priority);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestPriorityUInt64(
    TRITONSERVER_InferenceRequest* request, uint64_t* priority);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetPriority(TRITONSERVER_InferenceRequest* request,
                                                           uint32_t priority);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetPriorityUInt64(
    TRITONSERVER_InferenceRequest* request, uint64_t priority);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* request, uint64_t* timeout_us);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* request, uint64_t timeout_us);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestAddInput(TRITONSERVER_InferenceRequest* request,
                                                        const char* name,
                                                        const TRITONSERVER_DataType datatype,
                                                        const int64_t* shape, uint64_t rank);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestAddRawInput(TRITONSERVER_InferenceRequest* request,
                                                           const char* name);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestRemoveInput(TRITONSERVER_InferenceRequest* request,
                                                           const char* name);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestRemoveAllInputs(
    TRITONSERVER_InferenceRequest* request);
/* The bytes are not copied: they must stay valid until the request's release. */
TRITONSERVER_CALL TRITONSERVER_InferenceRequestAppendInputData(
    TRITONSERVER_InferenceRequest* request, const char* name, const void* data, size_t byte_size,
    TRITONSERVER_MemoryType type, int64_t id);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    TRITONSERVER_InferenceRequest* request, const char* name, const void* data, size_t byte_size,
    TRITONSERVER_MemoryType type, int64_t id, const char* host_policy);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    TRITONSERVER_InferenceRequest* request, const char* name, const void* data,
    TRITONSERVER_BufferAttributes* attributes);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestRemoveAllInputData(
    TRITONSERVER_InferenceRequest* request, const char* name);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestAddRequestedOutput(
    TRITONSERVER_InferenceRequest* request, const char* name);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    TRITONSERVER_InferenceRequest* request, const char* name);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    TRITONSERVER_InferenceRequest* request);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* request, TRITONSERVER_InferenceRequestReleaseFn_t release,
    void* userp);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* request, TRITONSERVER_ResponseAllocator* allocator,
    void* allocator_userp, TRITONSERVER_InferenceResponseCompleteFn_t complete, void* userp);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetStringParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const char* value);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetIntParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const int64_t value);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetBoolParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const bool value);
TRITONSERVER_CALL TRITONSERVER_InferenceRequestSetDoubleParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const double value);

/* ---- Responses ------------------------------------------------------------------------------- */

TRITONSERVER_CALL TRITONSERVER_InferenceResponseDelete(TRITONSERVER_InferenceResponse* response);
/* The response owns the error: the caller does not delete it. */
TRITONSERVER_CALL TRITONSERVER_InferenceResponseError(TRITONSERVER_InferenceResponse* response);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseModel(TRITONSERVER_InferenceResponse* response,
                                                      const char** name, int64_t* version);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseId(TRITONSERVER_InferenceResponse* response,
                                                   const char** id);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseParameterCount(
    TRITONSERVER_InferenceResponse* response, uint32_t* count);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseParameter(TRITONSERVER_InferenceResponse* response,
                                                          const uint32_t index, const char** name,
                                                          TRITONSERVER_ParameterType* type,
                                                          const void** value);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseOutputCount(
    TRITONSERVER_InferenceResponse* response, uint32_t* count);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseOutput(
    TRITONSERVER_InferenceResponse* response, const uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* rank, const void** data,
    size_t* byte_size, TRITONSERVER_MemoryType* type, int64_t* id, void** userp);
TRITONSERVER_CALL TRITONSERVER_InferenceResponseOutputClassificationLabel(
    TRITONSERVER_InferenceResponse* response, const uint32_t index, const size_t class_index,
    const char** label);

/* ---- Server ---------------------------------------------------------------------------------- */

typedef enum tritonserver_batchflag_enum {
  TRITONSERVER_BATCH_UNKNOWN = 1,
  TRITONSERVER_BATCH_FIRST_DIM = 2
} TRITONSERVER_ModelBatchFlag;

typedef enum tritonserver_modelindexflag_enum {
  TRITONSERVER_INDEX_FLAG_READY = 1
} TRITONSERVER_ModelIndexFlag;

typedef enum tritonserver_txn_property_flag_enum {
  TRITONSERVER_TXN_ONE_TO_ONE = 1,
  TRITONSERVER_TXN_DECOUPLED = 2
} TRITONSERVER_ModelTxnPropertyFlag;

TRITONSERVER_CALL TRITONSERVER_ServerNew(TRITONSERVER_Server** server,
                                         TRITONSERVER_ServerOptions* options);
TRITONSERVER_CALL TRITONSERVER_ServerDelete(TRITONSERVER_Server* server);
TRITONSERVER_CALL TRITONSERVER_ServerStop(TRITONSERVER_Server* server);
TRITONSERVER_CALL TRITONSERVER_ServerSetExitTimeout(TRITONSERVER_Server* server, unsigned int s);
TRITONSERVER_CALL TRITONSERVER_ServerRegisterModelRepository(TRITONSERVER_Server* server,
                                                             const char* path,
                                                             const TRITONSERVER_Parameter** mapping,
                                                             const uint32_t mapping_count);
TRITONSERVER_CALL TRITONSERVER_ServerUnregisterModelRepository(TRITONSERVER_Server* server,
                                                               const char* path);
TRITONSERVER_CALL TRITONSERVER_ServerPollModelRepository(TRITONSERVER_Server* server);
TRITONSERVER_CALL TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server, bool* live);
TRITONSERVER_CALL TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server, bool* ready);
TRITONSERVER_CALL TRITONSERVER_ServerModelIsReady(TRITONSERVER_Server* server, const char* model,
                                                  const int64_t version, bool* ready);
TRITONSERVER_CALL TRITONSERVER_ServerModelBatchProperties(TRITONSERVER_Server* server,
                                                          const char* model, const int64_t version,
                                                          uint32_t* flags, void** reserved);
TRITONSERVER_CALL TRITONSERVER_ServerModelTransactionProperties(TRITONSERVER_Server* server,
                                                                const char* model,
                                                                const int64_t version,
                                                                uint32_t* flags, void** reserved);
TRITONSERVER_CALL TRITONSERVER_ServerMetadata(TRITONSERVER_Server* server,
                                              TRITONSERVER_Message** metadata);
TRITONSERVER_CALL TRITONSERVER_ServerModelMetadata(TRITONSERVER_Server* server, const char* model,
                                                   const int64_t version,
                                                   TRITONSERVER_Message** metadata);
TRITONSERVER_CALL TRITONSERVER_ServerModelStatistics(TRITONSERVER_Server* server, const char* model,
                                                     const int64_t version,
                                                     TRITONSERVER_Message** statistics);
TRITONSERVER_CALL TRITONSERVER_ServerModelConfig(TRITONSERVER_Server* server, const char* model,
                                                 const int64_t version,
                                                 const uint32_t config_version,
                                                 TRITONSERVER_Message** config);
TRITONSERVER_CALL TRITONSERVER_ServerModelIndex(TRITONSERVER_Server* server, uint32_t flags,
                                                TRITONSERVER_Message** index);
TRITONSERVER_CALL TRITONSERVER_ServerLoadModel(TRITONSERVER_Server* server, const char* model);
TRITONSERVER_CALL TRITONSERVER_ServerLoadModelWithParameters(
    TRITONSERVER_Server* server, const char* model, const TRITONSERVER_Parameter** parameters,
    const uint64_t parameter_count);
TRITONSERVER_CALL TRITONSERVER_ServerUnloadModel(TRITONSERVER_Server* server, const char* model);
TRITONSERVER_CALL TRITONSERVER_ServerUnloadModelAndDependents(TRITONSERVER_Server* server,
                                                              const char* model);
TRITONSERVER_CALL TRITONSERVER_ServerMetrics(TRITONSERVER_Server* server,
                                             TRITONSERVER_Metrics** metrics);
TRITONSERVER_CALL TRITONSERVER_ServerInferAsync(TRITONSERVER_Server* server,
                                                TRITONSERVER_InferenceRequest* request,
                                                TRITONSERVER_InferenceTrace* trace);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_TRITON_CORE_TRITONSERVER_INFER_H_ */
