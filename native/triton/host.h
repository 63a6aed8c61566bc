// The control plane, as plug-ins' calls reach it. There is one at a time.
#ifndef NEREID_TRITON_HOST_H_
#define NEREID_TRITON_HOST_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/status.h"
#include "triton/core/tritonserver.h"
#include "triton/nereid_triton.h"

namespace nereid::triton {

// The host that nrt_start was given; all zero before it.
const nrt_host& TheHost();

// A second call is allowed only when all plug-ins of the host before are closed.
Status StartHost(const nrt_host& host);

// The server handle that plug-ins get.
TRITONSERVER_Server* TheServer();

// `level` is as in nrd_log_fn.
void SetLogLevel(int32_t level, int32_t verbosity);
[[nodiscard]] bool LogsLevel(int32_t level);
void Log(int32_t level, std::string_view message, std::string_view file = "native/triton",
         uint32_t line = 0);
// Logs a message of several parts; it is dropped if memory is short.
void Log(int32_t level, std::initializer_list<std::string_view> parts) noexcept;

enum : int32_t { kLogError = 0, kLogWarning = 1, kLogInfo = 2, kLogVerbose = 3 };

}  // namespace nereid::triton

#endif  // NEREID_TRITON_HOST_H_
