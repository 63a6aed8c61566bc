// Functions by which plug-ins ask about types and versions, and write to the log.
#include "base/tensor.h"
#include "triton/core/tritonbackend.h"
#include "triton/errors.h"
#include "triton/host.h"

namespace {

int32_t ToLogLevel(TRITONSERVER_LogLevel level) {
  switch (level) {
    case TRITONSERVER_LOG_ERROR:
      return nereid::triton::kLogError;
    case TRITONSERVER_LOG_WARN:
      return nereid::triton::kLogWarning;
    case TRITONSERVER_LOG_VERBOSE:
      return nereid::triton::kLogVerbose;
    default:
      return nereid::triton::kLogInfo;
  }
}

// Numbers of datatypes are the same in nereid.h.
static_assert(static_cast<int>(TRITONSERVER_TYPE_BF16) == NRD_TYPE_BF16);
static_assert(static_cast<int>(TRITONSERVER_TYPE_BOOL) == NRD_TYPE_BOOL);

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONSERVER_API_VERSION_MAJOR;
  *minor = TRITONSERVER_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONBACKEND_API_VERSION_MAJOR;
  *minor = TRITONBACKEND_API_VERSION_MINOR;
  return nullptr;
}

const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype) {
  // The names are literals, which end with a zero.
  return nereid::IsDataType(datatype) ? nereid::DataTypeName(datatype).data() : "<invalid>";
}

TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* name) {
  for (int32_t type = NRD_TYPE_BOOL; name != nullptr && type <= NRD_TYPE_BF16; ++type) {
    if (nereid::DataTypeName(type) == name) {
      return static_cast<TRITONSERVER_DataType>(type);
    }
  }
  return TRITONSERVER_TYPE_INVALID;
}

uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype) {
  return static_cast<uint32_t>(nereid::DataTypeByteSize(datatype));
}

const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType type) {
  switch (type) {
    case TRITONSERVER_MEMORY_CPU:
      return "CPU";
    case TRITONSERVER_MEMORY_CPU_PINNED:
      return "CPU_PINNED";
    case TRITONSERVER_MEMORY_GPU:
      return "GPU";
    default:
      return "<invalid>";
  }
}

const char* TRITONSERVER_InstanceGroupKindString(TRITONSERVER_InstanceGroupKind kind) {
  switch (kind) {
    case TRITONSERVER_INSTANCEGROUPKIND_AUTO:
      return "AUTO";
    case TRITONSERVER_INSTANCEGROUPKIND_CPU:
      return "CPU";
    case TRITONSERVER_INSTANCEGROUPKIND_GPU:
      return "GPU";
    case TRITONSERVER_INSTANCEGROUPKIND_MODEL:
      return "MODEL";
    default:
      return "<invalid>";
  }
}

bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level) {
  return nereid::triton::LogsLevel(ToLogLevel(level));
}

TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char* file,
                                            const int line, const char* message) {
  // Plug-ins log at unused levels several times a request.
  if (!nereid::triton::LogsLevel(ToLogLevel(level))) [[likely]] {
    return nullptr;
  }
  return nereid::triton::Serve(NRT_SITE, [&] {
    nereid::triton::Log(ToLogLevel(level), message == nullptr ? "" : message,
                        file == nullptr ? "" : file, line < 0 ? 0 : static_cast<uint32_t>(line));
  });
}

}  // extern "C"
