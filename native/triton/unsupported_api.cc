// Functions that Triton publishes for programs that embed a server, and a few more that no plug-in
// needs: a library that names them can be loaded, and the functions fail when called.
#include "triton/core/tritonserver.h"
#include "triton/errors.h"

namespace {

TRITONSERVER_Error* Unsupported(const char* function) {
  return nereid::triton::NewError(TRITONSERVER_ERROR_UNSUPPORTED,
                                  std::string(function) + " is not supported by Nereid");
}

}  // namespace

// The parameters stand as in the header, without names. A semicolon follows.
#define NRT_UNSUPPORTED(name, ...)                                     \
  TRITONSERVER_Error* name(__VA_ARGS__) { return Unsupported(#name); } \
  static_assert(true)
#define NRT_OPTION(name, ...) \
  NRT_UNSUPPORTED(TRITONSERVER_ServerOptions##name, TRITONSERVER_ServerOptions*, __VA_ARGS__)

extern "C" {

NRT_UNSUPPORTED(TRITONSERVER_ServerNew, TRITONSERVER_Server**, TRITONSERVER_ServerOptions*);
NRT_UNSUPPORTED(TRITONSERVER_ServerDelete, TRITONSERVER_Server*);
NRT_UNSUPPORTED(TRITONSERVER_ServerStop, TRITONSERVER_Server*);
NRT_UNSUPPORTED(TRITONSERVER_ServerSetExitTimeout, TRITONSERVER_Server*, unsigned int);
NRT_UNSUPPORTED(TRITONSERVER_ServerRegisterModelRepository, TRITONSERVER_Server*, const char*,
                const TRITONSERVER_Parameter**, uint32_t);
NRT_UNSUPPORTED(TRITONSERVER_ServerUnregisterModelRepository, TRITONSERVER_Server*, const char*);
NRT_UNSUPPORTED(TRITONSERVER_ServerPollModelRepository, TRITONSERVER_Server*);
NRT_UNSUPPORTED(TRITONSERVER_ServerMetrics, TRITONSERVER_Server*, TRITONSERVER_Metrics**);
NRT_UNSUPPORTED(TRITONSERVER_MetricsDelete, TRITONSERVER_Metrics*);
NRT_UNSUPPORTED(TRITONSERVER_MetricsFormatted, TRITONSERVER_Metrics*, TRITONSERVER_MetricFormat,
                const char**, size_t*);
NRT_UNSUPPORTED(TRITONSERVER_InferenceRequestAddRawInput, TRITONSERVER_InferenceRequest*,
                const char*);
NRT_UNSUPPORTED(TRITONSERVER_InferenceResponseOutputClassificationLabel,
                TRITONSERVER_InferenceResponse*, uint32_t, size_t, const char**);
NRT_UNSUPPORTED(TRITONSERVER_ServerOptionsNew, TRITONSERVER_ServerOptions**);
NRT_UNSUPPORTED(TRITONSERVER_ServerOptionsDelete, TRITONSERVER_ServerOptions*);
NRT_OPTION(SetServerId, const char*);
NRT_OPTION(SetModelRepositoryPath, const char*);
NRT_OPTION(SetModelControlMode, TRITONSERVER_ModelControlMode);
NRT_OPTION(SetStartupModel, const char*);
NRT_OPTION(SetStrictModelConfig, bool);
NRT_OPTION(SetModelConfigName, const char*);
NRT_OPTION(SetRateLimiterMode, TRITONSERVER_RateLimitMode);
NRT_OPTION(AddRateLimiterResource, const char*, size_t, int);
NRT_OPTION(SetPinnedMemoryPoolByteSize, uint64_t);
NRT_OPTION(SetCudaMemoryPoolByteSize, int, uint64_t);
NRT_OPTION(SetCudaVirtualAddressSize, int, size_t);
NRT_OPTION(SetResponseCacheByteSize, uint64_t);
NRT_OPTION(SetCacheConfig, const char*, const char*);
NRT_OPTION(SetCacheDirectory, const char*);
NRT_OPTION(SetMinSupportedComputeCapability, double);
NRT_OPTION(SetExitOnError, bool);
NRT_OPTION(SetStrictReadiness, bool);
NRT_OPTION(SetExitTimeout, unsigned int);
NRT_OPTION(SetBufferManagerThreadCount, unsigned int);
NRT_OPTION(SetModelLoadThreadCount, unsigned int);
NRT_OPTION(SetModelLoadRetryCount, unsigned int);
NRT_OPTION(SetModelNamespacing, bool);
NRT_OPTION(SetEnablePeerAccess, bool);
NRT_OPTION(SetLogFile, const char*);
NRT_OPTION(SetLogInfo, bool);
NRT_OPTION(SetLogWarn, bool);
NRT_OPTION(SetLogError, bool);
NRT_OPTION(SetLogFormat, TRITONSERVER_LogFormat);
NRT_OPTION(SetLogVerbose, int);
NRT_OPTION(SetMetrics, bool);
NRT_OPTION(SetGpuMetrics, bool);
NRT_OPTION(SetCpuMetrics, bool);
NRT_OPTION(SetMetricsInterval, uint64_t);
NRT_OPTION(SetBackendDirectory, const char*);
NRT_OPTION(SetRepoAgentDirectory, const char*);
NRT_OPTION(SetModelLoadDeviceLimit, TRITONSERVER_InstanceGroupKind, int, double);
NRT_OPTION(SetBackendConfig, const char*, const char*, const char*);
NRT_OPTION(SetHostPolicy, const char*, const char*, const char*);
NRT_OPTION(SetMetricsConfig, const char*, const char*, const char*);

}  // extern "C"
