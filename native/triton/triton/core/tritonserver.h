/* The functions that a server offers to plug-ins made for Triton, as far as they concern all of
 * them: errors, parameters, messages, memory, logging and metrics. Names, signatures and numbers
 * are those that Triton publishes (server interface 1.34); libtritonserver.so of Nereid exports
 * them. A plug-in includes this file as "triton/core/tritonserver.h".
 *
 * A function that can fail returns NULL, or an error that the caller deletes. Whatever a function
 * gives out by `const char**` or `const void**` belongs to the object that was asked. */
#ifndef NEREID_TRITON_CORE_TRITONSERVER_H_
#define NEREID_TRITON_CORE_TRITONSERVER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRITONSERVER_DECLSPEC __attribute__((visibility("default")))
/* The prefix of most functions. */
#define TRITONSERVER_CALL TRITONSERVER_DECLSPEC struct TRITONSERVER_Error*

/* In C++, too, an enum holds any number that a plug-in passes. */
#ifdef __cplusplus
#define TRITONSERVER_ANY : unsigned int
#else
#define TRITONSERVER_ANY
#endif

#define TRITONSERVER_API_VERSION_MAJOR 1
#define TRITONSERVER_API_VERSION_MINOR 34

/* Handles. */
typedef struct TRITONSERVER_BufferAttributes TRITONSERVER_BufferAttributes;
typedef struct TRITONSERVER_Error TRITONSERVER_Error;
typedef struct TRITONSERVER_InferenceRequest TRITONSERVER_InferenceRequest;
typedef struct TRITONSERVER_InferenceResponse TRITONSERVER_InferenceResponse;
typedef struct TRITONSERVER_InferenceTrace TRITONSERVER_InferenceTrace;
typedef struct TRITONSERVER_Message TRITONSERVER_Message;
typedef struct TRITONSERVER_Metric TRITONSERVER_Metric;
typedef struct TRITONSERVER_MetricArgs TRITONSERVER_MetricArgs;
typedef struct TRITONSERVER_MetricFamily TRITONSERVER_MetricFamily;
typedef struct TRITONSERVER_Metrics TRITONSERVER_Metrics;
typedef struct TRITONSERVER_Parameter TRITONSERVER_Parameter;
typedef struct TRITONSERVER_ResponseAllocator TRITONSERVER_ResponseAllocator;
typedef struct TRITONSERVER_Server TRITONSERVER_Server;
typedef struct TRITONSERVER_ServerOptions TRITONSERVER_ServerOptions;

TRITONSERVER_CALL TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor);

/* ---- Types ----------------------------------------------------------------------------------- */

typedef enum TRITONSERVER_datatype_enum TRITONSERVER_ANY {
  TRITONSERVER_TYPE_INVALID = 0,
  TRITONSERVER_TYPE_BOOL = 1,
  TRITONSERVER_TYPE_UINT8 = 2,
  TRITONSERVER_TYPE_UINT16 = 3,
  TRITONSERVER_TYPE_UINT32 = 4,
  TRITONSERVER_TYPE_UINT64 = 5,
  TRITONSERVER_TYPE_INT8 = 6,
  TRITONSERVER_TYPE_INT16 = 7,
  TRITONSERVER_TYPE_INT32 = 8,
  TRITONSERVER_TYPE_INT64 = 9,
  TRITONSERVER_TYPE_FP16 = 10,
  TRITONSERVER_TYPE_FP32 = 11,
  TRITONSERVER_TYPE_FP64 = 12,
  TRITONSERVER_TYPE_BYTES = 13,
  TRITONSERVER_TYPE_BF16 = 14
} TRITONSERVER_DataType;

typedef enum TRITONSERVER_memorytype_enum TRITONSERVER_ANY {
  TRITONSERVER_MEMORY_CPU = 0,
  TRITONSERVER_MEMORY_CPU_PINNED = 1,
  TRITONSERVER_MEMORY_GPU = 2
} TRITONSERVER_MemoryType;

typedef enum TRITONSERVER_instancegroupkind_enum TRITONSERVER_ANY {
  TRITONSERVER_INSTANCEGROUPKIND_AUTO = 0,
  TRITONSERVER_INSTANCEGROUPKIND_CPU = 1,
  TRITONSERVER_INSTANCEGROUPKIND_GPU = 2,
  TRITONSERVER_INSTANCEGROUPKIND_MODEL = 3
} TRITONSERVER_InstanceGroupKind;

/* "FP32"; "<invalid>" for an unknown number. */
TRITONSERVER_DECLSPEC const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype);
TRITONSERVER_DECLSPEC TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* name);
/* The size of an element; 0 for BYTES. */
TRITONSERVER_DECLSPEC uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype);
TRITONSERVER_DECLSPEC const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType type);
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InstanceGroupKindString(
    TRITONSERVER_InstanceGroupKind kind);

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef enum TRITONSERVER_errorcode_enum TRITONSERVER_ANY {
  TRITONSERVER_ERROR_UNKNOWN = 0,
  TRITONSERVER_ERROR_INTERNAL = 1,
  TRITONSERVER_ERROR_NOT_FOUND = 2,
  TRITONSERVER_ERROR_INVALID_ARG = 3,
  TRITONSERVER_ERROR_UNAVAILABLE = 4,
  TRITONSERVER_ERROR_UNSUPPORTED = 5,
  TRITONSERVER_ERROR_ALREADY_EXISTS = 6,
  TRITONSERVER_ERROR_CANCELLED = 7
} TRITONSERVER_Error_Code;

TRITONSERVER_CALL TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* message);
TRITONSERVER_DECLSPEC void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);
TRITONSERVER_DECLSPEC TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error);
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error);
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error);

/* ---- Log ------------------------------------------------------------------------------------- */

typedef enum TRITONSERVER_loglevel_enum TRITONSERVER_ANY {
  TRITONSERVER_LOG_INFO = 0,
  TRITONSERVER_LOG_WARN = 1,
  TRITONSERVER_LOG_ERROR = 2,
  TRITONSERVER_LOG_VERBOSE = 3
} TRITONSERVER_LogLevel;

typedef enum TRITONSERVER_logformat_enum TRITONSERVER_ANY {
  TRITONSERVER_LOG_DEFAULT = 0,
  TRITONSERVER_LOG_ISO8601 = 1
} TRITONSERVER_LogFormat;

TRITONSERVER_DECLSPEC bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level);
TRITONSERVER_CALL TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char* file,
                                          const int line, const char* message);

/* ---- Parameters and messages ----------------------------------------------------------------- */

/* The value is a text, int64_t*, bool*, double* or bytes. */
typedef enum TRITONSERVER_parametertype_enum TRITONSERVER_ANY {
  TRITONSERVER_PARAMETER_STRING = 0,
  TRITONSERVER_PARAMETER_INT = 1,
  TRITONSERVER_PARAMETER_BOOL = 2,
  TRITONSERVER_PARAMETER_DOUBLE = 3,
  TRITONSERVER_PARAMETER_BYTES = 4
} TRITONSERVER_ParameterType;

TRITONSERVER_DECLSPEC const char* TRITONSERVER_ParameterTypeString(TRITONSERVER_ParameterType type);
/* Copies name and value; NULL if it cannot. Not for BYTES. */
TRITONSERVER_DECLSPEC TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(
    const char* name, const TRITONSERVER_ParameterType type, const void* value);
/* The bytes are not copied: they must outlive the parameter. */
TRITONSERVER_DECLSPEC TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(const char* name,
                                                                             const void* bytes,
                                                                             const uint64_t size);
TRITONSERVER_DECLSPEC void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* parameter);

TRITONSERVER_CALL TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                            const char* json, size_t byte_size);
TRITONSERVER_CALL TRITONSERVER_MessageDelete(TRITONSERVER_Message* message);
/* The message owns the text. */
TRITONSERVER_CALL TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                      const char** json, size_t* byte_size);

/* ---- Buffer attributes ----------------------------------------------------------------------- */

TRITONSERVER_CALL TRITONSERVER_BufferAttributesNew(TRITONSERVER_BufferAttributes** attributes);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesDelete(TRITONSERVER_BufferAttributes* attributes);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesSetMemoryTypeId(
    TRITONSERVER_BufferAttributes* attributes, int64_t id);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesSetMemoryType(
    TRITONSERVER_BufferAttributes* attributes, TRITONSERVER_MemoryType type);
/* The handle is not copied. */
TRITONSERVER_CALL TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    TRITONSERVER_BufferAttributes* attributes, void* handle);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* attributes, size_t byte_size);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* attributes, int64_t* id);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesMemoryType(TRITONSERVER_BufferAttributes* attributes,
                                                          TRITONSERVER_MemoryType* type);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* attributes, void** handle);
TRITONSERVER_CALL TRITONSERVER_BufferAttributesByteSize(TRITONSERVER_BufferAttributes* attributes,
                                                        size_t* byte_size);

/* ---- Metrics --------------------------------------------------------------------------------- */

typedef enum TRITONSERVER_metrickind_enum TRITONSERVER_ANY {
  TRITONSERVER_METRIC_KIND_COUNTER = 0,
  TRITONSERVER_METRIC_KIND_GAUGE = 1,
  TRITONSERVER_METRIC_KIND_HISTOGRAM = 2
} TRITONSERVER_MetricKind;

typedef enum tritonserver_metricformat_enum TRITONSERVER_ANY {
  TRITONSERVER_METRIC_PROMETHEUS = 0
} TRITONSERVER_MetricFormat;

TRITONSERVER_CALL TRITONSERVER_MetricsDelete(TRITONSERVER_Metrics* metrics);
TRITONSERVER_CALL TRITONSERVER_MetricsFormatted(TRITONSERVER_Metrics* metrics,
                                                TRITONSERVER_MetricFormat format, const char** text,
                                                size_t* byte_size);

TRITONSERVER_CALL TRITONSERVER_MetricFamilyNew(TRITONSERVER_MetricFamily** family,
                                               const TRITONSERVER_MetricKind kind, const char* name,
                                               const char* description);
/* Delete the family's metrics before it. */
TRITONSERVER_CALL TRITONSERVER_MetricFamilyDelete(TRITONSERVER_MetricFamily* family);
TRITONSERVER_CALL TRITONSERVER_GetMetricFamilyKind(TRITONSERVER_MetricFamily* family,
                                                   TRITONSERVER_MetricKind* kind);

TRITONSERVER_CALL TRITONSERVER_MetricArgsNew(TRITONSERVER_MetricArgs** args);
/* The upper bounds of a histogram's buckets, ascending, without infinity. */
TRITONSERVER_CALL TRITONSERVER_MetricArgsSetHistogram(TRITONSERVER_MetricArgs* args,
                                                      const double* buckets,
                                                      const uint64_t bucket_count);
TRITONSERVER_CALL TRITONSERVER_MetricArgsDelete(TRITONSERVER_MetricArgs* args);

/* Labels are parameters of texts; they are copied. Not for histograms. */
TRITONSERVER_CALL TRITONSERVER_MetricNew(TRITONSERVER_Metric** metric,
                                         TRITONSERVER_MetricFamily* family,
                                         const TRITONSERVER_Parameter** labels,
                                         const uint64_t label_count);
TRITONSERVER_CALL TRITONSERVER_MetricNewWithArgs(TRITONSERVER_Metric** metric,
                                                 TRITONSERVER_MetricFamily* family,
                                                 const TRITONSERVER_Parameter** labels,
                                                 const uint64_t label_count,
                                                 const TRITONSERVER_MetricArgs* args);
TRITONSERVER_CALL TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric);
TRITONSERVER_CALL TRITONSERVER_MetricValue(TRITONSERVER_Metric* metric, double* value);
TRITONSERVER_CALL TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric, double value);
TRITONSERVER_CALL TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric, double value);
TRITONSERVER_CALL TRITONSERVER_MetricObserve(TRITONSERVER_Metric* metric, double value);
TRITONSERVER_CALL TRITONSERVER_GetMetricKind(TRITONSERVER_Metric* metric,
                                             TRITONSERVER_MetricKind* kind);

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "triton/core/tritonserver_infer.h"
#include "triton/core/tritonserver_options.h"

#endif /* NEREID_TRITON_CORE_TRITONSERVER_H_ */
