#include "isolation/child_group.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {
namespace {

// One model's share of a group's process.
class Member final : public ChildProcess {
 public:
  Member(std::shared_ptr<ChildGroup> group, std::shared_ptr<ChildProcess> process, int socket,
         uint64_t patience_ms)
      : ChildProcess(process->pid(), socket, patience_ms, -1),
        group_(std::move(group)),
        process_(std::move(process)) {}

  // Waits until the child has closed the model, as it was told to, or has ended.
  void AwaitEnd(const SayLine& /*say*/) override {
    socket().AwaitHangUp();
    const int64_t until_ns = MonotonicNowNs() + kFarewellNs;
    while (!said_goodbye_.load(std::memory_order_acquire) && !process_->ended()) {
      usleep(200);
      if (MonotonicNowNs() > until_ns) {
        process_->Kill("it hung up on a model");
      }
    }
    NoteEnd(process_->ended() ? process_->end() : "has closed the model");
  }

  // Kills the process, unless the call only failed because the model is being closed.
  void Kill(std::string_view reason) override {
    const bool leaves = reason.empty() && said_goodbye_.load(std::memory_order_acquire);
    if (!ended() && !leaves) {
      process_->Kill(reason);
    }
  }

  void HangUp() override {
    said_goodbye_.store(true, std::memory_order_release);
    socket().SayGoodbye();
  }

 private:
  const std::shared_ptr<ChildGroup> group_;
  const std::shared_ptr<ChildProcess> process_;
  std::atomic<bool> said_goodbye_{false};
};

using Key = std::pair<const LogTarget*, std::string>;

struct Groups {
  Mutex mutex;
  std::map<Key, std::weak_ptr<ChildGroup>> all NRD_GUARDED_BY(mutex);
};

Groups& TheGroups() {
  static auto* const groups = new Groups;
  return *groups;
}

}  // namespace

Status ChildGroup::Join(const IsolationOptions& options, const LogTarget& log,
                        std::shared_ptr<ChildProcess>* child_out) {
  std::shared_ptr<ChildGroup> group;
  {
    Groups& groups = TheGroups();
    const MutexLock lock(groups.mutex);
    std::erase_if(groups.all, [](const auto& each) { return each.second.expired(); });
    std::weak_ptr<ChildGroup>& known = groups.all[{&log, options.group}];
    group = known.lock();
    if (group == nullptr || group->process_->ended()) {
      group.reset(new ChildGroup);
      NRD_RETURN_IF_ERROR(group->Start(options, log));
      known = group;
    }
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return Status(
        NRD_RESOURCE_EXHAUSTED,
        std::string("cannot make a socket for an isolated model: ") + std::strerror(errno));
  }
  const auto member = std::make_shared<Member>(group, group->process_, pair[0], options.load_ms);
  std::string reply;
  Status status = group->process_->Call(MessageKind::kJoin, {}, pair[1], &reply);
  close(pair[1]);
  NRD_RETURN_IF_ERROR(std::move(status));
  *child_out = member;
  return Status();
}

// Starts the process on a new thread, since the process ends with that thread.
Status ChildGroup::Start(const IsolationOptions& options, const LogTarget& log) {
  std::promise<Status> started;
  std::future<Status> result = started.get_future();
  thread_ = std::thread([&, name = options.group] {
    pthread_setname_np(pthread_self(), "nrd-child");
    const LogTarget* const target = &log;
    std::shared_ptr<ChildProcess> process;
    Status status = ChildProcess::Start(options, "group:" + name, &process);
    process_ = process;
    started.set_value(std::move(status));
    if (process != nullptr) {
      process->AwaitEnd([&name, target](std::string_view line) {
        target->Log(2, "isolated models of group '" + name + "': says: " + std::string(line));
      });
    }
  });
  return result.get();
}

// Ends the process, after the last model has left.
ChildGroup::~ChildGroup() {
  if (process_ != nullptr) {
    process_->HangUp();
    const int64_t until_ns = MonotonicNowNs() + kFarewellNs;
    while (!process_->ended() && MonotonicNowNs() < until_ns) {
      usleep(1000);
    }
    process_->Kill("its models are closed");
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

}  // namespace nereid
