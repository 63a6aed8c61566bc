#include "triton/host.h"

#include <atomic>
#include <string>

#include "triton/errors.h"

namespace nereid::triton {

namespace {

nrt_host the_host{};
std::atomic<int32_t> log_level{kLogInfo};

class Server : public Handle {
 public:
  Server() { Open(Kind::kServer, nullptr); }
};

}  // namespace

const nrt_host& TheHost() { return the_host; }

Status StartHost(const nrt_host& host) {
  if (host.struct_size != sizeof(nrt_host)) {
    return Status::InvalidArgument("nrt_host.struct_size is " + std::to_string(host.struct_size) +
                                   ", this library expects " + std::to_string(sizeof(nrt_host)));
  }
  the_host = host;
  if ((host.flags & NRT_HOST_CHECKED) != 0) {
    Handle::CheckAll();
  }
  Error::OutOfMemory();  // while there is memory
  Owner::Current();
  return Status();
}

TRITONSERVER_Server* TheServer() {
  static auto* const server = new Server;
  return Give<TRITONSERVER_Server>(server);
}

void SetLogLevel(int32_t level, int32_t verbosity) {
  log_level.store(level >= kLogVerbose && verbosity <= 0 ? kLogInfo : level,
                  std::memory_order_relaxed);
}

bool LogsLevel(int32_t level) {
  return level <= log_level.load(std::memory_order_relaxed) && the_host.log != nullptr;
}

void Log(int32_t level, std::string_view message, std::string_view file, uint32_t line) {
  if (LogsLevel(level)) {
    the_host.log(the_host.context, level, AsNrdString(file), line, AsNrdString(message));
  }
}

void Log(int32_t level, std::initializer_list<std::string_view> parts) noexcept {
  (void)Caught("logging", [&] {
    std::string message;
    for (const std::string_view part : parts) {
      message += part;
    }
    Log(level, message);
    return Status();
  });
}

}  // namespace nereid::triton
