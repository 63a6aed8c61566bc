// A child: the process, what it leaves on its standard error, and its end.
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

// The thread that starts it also awaits its end, and lives as long as it: the system kills a child
// when the thread ends that started it. Any thread may call the rest.
class ChildProcess {
 public:
  // `title` is its argument, for those who look at processes. A call waits for load_ms at most.
  static Status Start(const IsolationOptions& options, const std::string& title,
                      std::shared_ptr<ChildProcess>* child_out);
  virtual ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns when the process has ended, with all that it started. `say` gets each line of its
  // standard error, without the end of the line.
  virtual void AwaitEnd(const SayLine& say);

  // Asks and waits for the answer, one after another. UNAVAILABLE: the child has ended, and the
  // message says how.
  Status Call(MessageKind kind, std::string_view body, int descriptor, std::string* reply_out);

  // Ends it with all that it started. The first reason is the one that is told.
  virtual void Kill(std::string_view reason);
  // The child, which sees that nobody will ask it again, ends by itself.
  virtual void HangUp() { socket_.HangUp(); }

  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_acquire); }
  // "was killed by signal 11 (Segmentation fault); its last lines: ...", once it has ended.
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
  const int pid_descriptor_;  // below 0: the system has none
  const int errors_;
  ControlSocket socket_;
  Mutex call_mutex_;
  std::string last_bytes_;  // of its standard error
  std::string begun_line_;  // the same

  Mutex mutex_;
  std::string kill_reason_ NRD_GUARDED_BY(mutex_);
  bool reaped_ NRD_GUARDED_BY(mutex_) = false;
  std::string end_;  // written before `ended_`
  std::atomic<bool> ended_{false};
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_PROCESS_H_
