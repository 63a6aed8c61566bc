// Models that share a process, and die together.
#ifndef NEREID_ISOLATION_CHILD_GROUP_H_
#define NEREID_ISOLATION_CHILD_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/log_target.h"
#include "base/status.h"
#include "isolation/child_process.h"

namespace nereid {

// A process of several models, each with its own socket to it. It lives as long as one of its
// members does. Any thread may join; a thread of its own starts the process and awaits its end.
class ChildGroup {
 public:
  // Adds a model to the group's process, which is started if necessary. `log` distinguishes groups
  // of equal name, and outlives the child.
  static Status Join(const IsolationOptions& options, const LogTarget& log,
                     std::shared_ptr<ChildProcess>* child_out);
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

 private:
  ChildGroup() = default;
  Status Start(const IsolationOptions& options, const LogTarget& log);

  std::shared_ptr<ChildProcess> process_;  // set by Start
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_GROUP_H_
