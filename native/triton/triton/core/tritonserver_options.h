/* The part of tritonserver.h for programs that start a server of their own. No plug-in needs it;
 * Nereid answers each of these with TRITONSERVER_ERROR_UNSUPPORTED. */
#ifndef NEREID_TRITON_CORE_TRITONSERVER_OPTIONS_H_
#define NEREID_TRITON_CORE_TRITONSERVER_OPTIONS_H_

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tritonserver_modelcontrolmode_enum {
  TRITONSERVER_MODEL_CONTROL_NONE = 0,
  TRITONSERVER_MODEL_CONTROL_POLL = 1,
  TRITONSERVER_MODEL_CONTROL_EXPLICIT = 2
} TRITONSERVER_ModelControlMode;

typedef enum tritonserver_ratelimitmode_enum {
  TRITONSERVER_RATE_LIMIT_OFF = 0,
  TRITONSERVER_RATE_LIMIT_EXEC_COUNT = 1
} TRITONSERVER_RateLimitMode;

TRITONSERVER_CALL TRITONSERVER_ServerOptionsNew(TRITONSERVER_ServerOptions** options);
TRITONSERVER_CALL TRITONSERVER_ServerOptionsDelete(TRITONSERVER_ServerOptions* options);

/* All others change the options. */
#define TRITONSERVER_OPTION(name, ...)                                                    \
  TRITONSERVER_CALL TRITONSERVER_ServerOptions##name(TRITONSERVER_ServerOptions* options, \
                                                     __VA_ARGS__)
TRITONSERVER_OPTION(SetServerId, const char* id);
TRITONSERVER_OPTION(SetModelRepositoryPath, const char* path);
TRITONSERVER_OPTION(SetModelControlMode, TRITONSERVER_ModelControlMode mode);
TRITONSERVER_OPTION(SetStartupModel, const char* model);
TRITONSERVER_OPTION(SetStrictModelConfig, bool strict);
TRITONSERVER_OPTION(SetModelConfigName, const char* name);
TRITONSERVER_OPTION(SetRateLimiterMode, TRITONSERVER_RateLimitMode mode);
TRITONSERVER_OPTION(AddRateLimiterResource, const char* name, const size_t count, const int device);
TRITONSERVER_OPTION(SetPinnedMemoryPoolByteSize, uint64_t byte_size);
TRITONSERVER_OPTION(SetCudaMemoryPoolByteSize, int device, uint64_t byte_size);
TRITONSERVER_OPTION(SetCudaVirtualAddressSize, int device, size_t byte_size);
TRITONSERVER_OPTION(SetResponseCacheByteSize, uint64_t byte_size);
TRITONSERVER_OPTION(SetCacheConfig, const char* name, const char* json);
TRITONSERVER_OPTION(SetCacheDirectory, const char* path);
TRITONSERVER_OPTION(SetMinSupportedComputeCapability, double capability);
TRITONSERVER_OPTION(SetExitOnError, bool exits);
TRITONSERVER_OPTION(SetStrictReadiness, bool strict);
TRITONSERVER_OPTION(SetExitTimeout, unsigned int seconds);
TRITONSERVER_OPTION(SetBufferManagerThreadCount, unsigned int count);
TRITONSERVER_OPTION(SetModelLoadThreadCount, unsigned int count);
TRITONSERVER_OPTION(SetModelLoadRetryCount, unsigned int count);
TRITONSERVER_OPTION(SetModelNamespacing, bool enabled);
TRITONSERVER_OPTION(SetEnablePeerAccess, bool enabled);
TRITONSERVER_OPTION(SetLogFile, const char* path);
TRITONSERVER_OPTION(SetLogInfo, bool enabled);
TRITONSERVER_OPTION(SetLogWarn, bool enabled);
TRITONSERVER_OPTION(SetLogError, bool enabled);
TRITONSERVER_OPTION(SetLogFormat, const TRITONSERVER_LogFormat format);
TRITONSERVER_OPTION(SetLogVerbose, int level);
TRITONSERVER_OPTION(SetMetrics, bool enabled);
TRITONSERVER_OPTION(SetGpuMetrics, bool enabled);
TRITONSERVER_OPTION(SetCpuMetrics, bool enabled);
TRITONSERVER_OPTION(SetMetricsInterval, uint64_t milliseconds);
TRITONSERVER_OPTION(SetBackendDirectory, const char* path);
TRITONSERVER_OPTION(SetRepoAgentDirectory, const char* path);
TRITONSERVER_OPTION(SetModelLoadDeviceLimit, const TRITONSERVER_InstanceGroupKind kind,
                    const int device, const double fraction);
TRITONSERVER_OPTION(SetBackendConfig, const char* backend, const char* setting, const char* value);
TRITONSERVER_OPTION(SetHostPolicy, const char* policy, const char* setting, const char* value);
TRITONSERVER_OPTION(SetMetricsConfig, const char* name, const char* setting, const char* value);
#undef TRITONSERVER_OPTION

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NEREID_TRITON_CORE_TRITONSERVER_OPTIONS_H_ */
