#ifndef NEREID_ISOLATION_CHILD_PROCESS_H_
#define NEREID_ISOLATION_CHILD_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/status.h"
#include "isolation/control_socket.h"
#include "isolation/isolation_options.h"

namespace nereid {

// A child that nobody asks any more has this long to close its models and end.
constexpr int64_t kFarewellNs = 2'000'000'000;

using SayLine = std::function<void(std::string_view line)>;

// A child: the process, its output on standard error, and its end. The thread that starts the
// process also awaits its end, and must live as long: the system kills a child when its starting
// thread ends. Any thread may call the other functions.
class ChildProcess {
 public:
  // `title` is shown in lists of processes. A call waits for load_ms at most.
  static Status Start(const IsolationOptions& options, const std::string& title,
                      std::shared_ptr<ChildProcess>* child_out);
  virtual ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns when the process and all that it started have ended. `say` gets each line of standard
  // error, without the line's end.
  virtual void AwaitEnd(const SayLine& say);

  // Sends a message and waits for the answer; one call at a time. UNAVAILABLE: the child has ended;
  // the message has the reason.
  Status Call(MessageKind kind, std::string_view body, int descriptor, std::string* reply_out);

  // Kills the process with all that it started. The first reason is the one that is reported.
  virtual void Kill(std::string_view reason);
  // Closes the socket, so that the child ends by itself.
  virtual void HangUp() { socket_.HangUp(); }

  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_acquire); }
  // "was killed by signal 11 (Segmentation fault); its last lines: ...", valid after its end.
  [[nodiscard]] const std::string& end() const { return end_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // 0: unknown.
  [[nodiscard]] uint64_t ResidentBytes() const;

 protected:
  ChildProcess(pid_t pid, int socket, uint64_t patience_ms, int errors);
  ControlSocket& socket() { return socket_; }
  void NoteEnd(std::string end);

 private:
  void ReadErrors(const SayLine& say);
  void SayLines(std::string_view piece, const SayLine& say);
  bool HasEnded();
  void Reap(const SayLine& say);
  [[nodiscard]] std::string LastLines() const;

  const pid_t pid_;
  const int pid_descriptor_;  // below 0: the system has no such descriptors
  const int errors_;
  ControlSocket socket_;
  Mutex call_mutex_;
  std::string last_bytes_;  // last bytes of standard error
  std::string begun_line_;  // the same

  Mutex mutex_;
  std::string kill_reason_ NRD_GUARDED_BY(mutex_);
  bool reaped_ NRD_GUARDED_BY(mutex_) = false;
  std::string end_;  // written before `ended_`
  std::atomic<bool> ended_{false};
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_PROCESS_H_
