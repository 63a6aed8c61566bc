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

// A process of several models, each of which has a socket of its own to it. It lives as long as one
// of its members does. Any thread may join; a thread of its own starts the process and awaits its
// end.
class ChildGroup {
 public:
  // Gives a model its part of the group's process, which is started if there is none. `log` tells
  // groups of the same name apart, and outlives the child.
  static Status Join(const IsolationOptions& options, const LogTarget& log,
                     std::shared_ptr<ChildProcess>* child_out);
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

 private:
  ChildGroup() = default;
  Status Start(const IsolationOptions& options, const LogTarget& log);

  std::shared_ptr<ChildProcess> process_;  // from Start on
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_GROUP_H_
