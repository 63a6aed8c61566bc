// The interface to the log for code that must not depend on the runtime.
#ifndef NEREID_BASE_LOG_TARGET_H_
#define NEREID_BASE_LOG_TARGET_H_

#include <cstdint>
#include <string_view>

namespace nereid {

class LogTarget {
 public:
  // Any thread may call; levels are those of nrd_log_fn.
  virtual void Log(int32_t level, std::string_view message) const = 0;

 protected:
  ~LogTarget() = default;
};

}  // namespace nereid

#endif  // NEREID_BASE_LOG_TARGET_H_
