#include "isolation/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

extern char** environ;

namespace nereid {
namespace {

constexpr int kSocketInChild = 3;
constexpr size_t kLastBytes = 4096;
constexpr size_t kLastLines = 3;
// The interval of polling on systems that cannot report the end.
constexpr int kLookEveryMs = 20;

// A descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  int Take() {
    const int taken = number_;
    number_ = -1;
    return taken;
  }

 private:
  int number_;
};

Status Failed(const std::string& what, int error) {
  return Status(NRD_RESOURCE_EXHAUSTED, what + ": " + std::strerror(error));
}

std::string CannotExecute(const std::string& file, int error) {
  const std::string directory = file.substr(0, file.rfind('/'));
  std::string message =
      "cannot execute " + file + ", which an isolated model runs in: " + std::strerror(error);
  if (error == EACCES || error == EPERM) {
    message += "; the directory " + directory +
               " has to be on a file system that is not mounted with noexec";
  }
  return message;
}

// Moves a descriptor above the child's numbers, so that none is overwritten before its copy.
int AboveStandard(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
  close(descriptor);
  return moved;
}

// Starts the child, which inherits only the socket, and has the signals of a program started from a
// shell. It leads its own process group, so that everything it starts can be ended with it.
int Spawn(const IsolationOptions& options, const std::string& title, int socket, int errors,
          pid_t* pid_out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocketInChild);
  posix_spawn_file_actions_addclosefrom_np(&actions, kSocketInChild + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = "nereid-child";
  std::string argument = title;
  std::string parent = std::to_string(getpid());
  std::string processors = options.cpus;
  std::array<char*, 5> arguments = {name.data(), argument.data(), parent.data(), processors.data(),
                                    nullptr};
  const int error = posix_spawn(pid_out, options.child_path.c_str(), &actions, &attributes,
                                arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string DescribeEnd(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) {
    return "ended by itself with status " + std::to_string(info.si_status);
  }
  const char* const name = strsignal(info.si_status);
  std::string text = "was killed by signal " + std::to_string(info.si_status) + " (" +
                     (name == nullptr ? "unknown" : name) + ")";
  if (info.si_status == SIGKILL) {
    text += ", by somebody else or for lack of memory";
  }
  return text;
}

// Reduces a crashed JVM's output to the signal and the function.
std::string TellsOfCrash(const std::string& text) {
  const size_t crash = text.rfind("# A fatal error has been detected by the Java Runtime");
  const size_t reason = crash == std::string::npos ? crash : text.find("\n#  ", crash);
  if (reason == std::string::npos) {
    return text;
  }
  constexpr std::string_view kFrame = "\n# Problematic frame:\n# ";
  std::string told = text.substr(reason + 4, text.find('\n', reason + 1) - reason - 4);
  const size_t frame = text.find(kFrame, reason);
  if (frame != std::string::npos) {
    const size_t begin = frame + kFrame.size();
    told += '\n' + text.substr(begin, text.find('\n', begin) - begin);
  }
  return told;
}

}  // namespace

Status ChildProcess::Start(const IsolationOptions& options, const std::string& title,
                           std::shared_ptr<ChildProcess>* child_out) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return Failed("cannot make a socket for an isolated model", errno);
  }
  Descriptor socket(pair[0]);
  const Descriptor other_socket(AboveStandard(pair[1]));
  if (pipe2(pair, O_CLOEXEC) != 0) {
    return Failed("cannot make a pipe for an isolated model", errno);
  }
  Descriptor errors(pair[0]);
  const Descriptor other_errors(AboveStandard(pair[1]));
  fcntl(errors.number(), F_SETFL, O_NONBLOCK);
  pid_t pid = 0;
  const int error = Spawn(options, title, other_socket.number(), other_errors.number(), &pid);
  if (error != 0) {
    return Status(NRD_FAILED_PRECONDITION, CannotExecute(options.child_path, error));
  }
  child_out->reset(new ChildProcess(pid, socket.Take(), options.load_ms, errors.Take()));
  return Status();
}

ChildProcess::ChildProcess(pid_t pid, int socket, uint64_t patience_ms, int errors)
    : pid_(pid),
      pid_descriptor_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      errors_(errors),
      socket_(socket, patience_ms) {
  last_bytes_.reserve(2 * kLastBytes);  // reserved, so that reading never lacks memory
}

ChildProcess::~ChildProcess() {
  if (pid_descriptor_ >= 0) {
    close(pid_descriptor_);
  }
  if (errors_ >= 0) {
    close(errors_);
  }
}

void ChildProcess::AwaitEnd(const SayLine& say) {
  pollfd watched[2] = {{.fd = errors_, .events = POLLIN, .revents = 0},
                       {.fd = pid_descriptor_, .events = POLLIN, .revents = 0}};
  while (!HasEnded()) {
    poll(watched, 2, pid_descriptor_ < 0 ? kLookEveryMs : -1);
    ReadErrors(say);
    if ((watched[0].revents & POLLHUP) != 0 && (watched[0].revents & POLLIN) == 0) {
      watched[0].fd = -1;  // the child closed its standard error, but has not ended
    }
  }
  Reap(say);
}

bool ChildProcess::HasEnded() {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return found != 0 ? errno == ECHILD : info.si_pid != 0;
}

// Kills the child's process group, which exists until the child is reaped, then reaps the child.
void ChildProcess::Reap(const SayLine& say) {
  siginfo_t info{};
  std::string end;
  {
    const MutexLock lock(mutex_);
    kill(-pid_, SIGKILL);
    const bool known = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) == 0;
    reaped_ = true;
    end = !kill_reason_.empty() ? "was killed: " + kill_reason_
          : known               ? DescribeEnd(info)
                                : "has ended";
  }
  ReadErrors(say);
  try {
    end += LastLines();
  } catch (const std::exception&) {  // only memory for the text can be lacking
  }
  NoteEnd(std::move(end));
}

void ChildProcess::NoteEnd(std::string end) {
  end_ = std::move(end);
  ended_.store(true, std::memory_order_release);
  socket_.HangUp();
}

void ChildProcess::ReadErrors(const SayLine& say) {
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t count = read(errors_, piece.data(), piece.size());
    if (count <= 0) {
      return;
    }
    SayLines({piece.data(), static_cast<size_t>(count)}, say);
    if (last_bytes_.size() > kLastBytes) {
      last_bytes_.erase(0, last_bytes_.size() - kLastBytes);
    }
    last_bytes_.append(piece.data(), static_cast<size_t>(count));
  }
}

// Reports complete lines; a very long line in pieces.
void ChildProcess::SayLines(std::string_view piece, const SayLine& say) {
  try {
    begun_line_ += piece;
    size_t begin = 0;
    for (size_t end = 0; (end = begun_line_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      say(std::string_view(begun_line_).substr(begin, end - begin));
    }
    begun_line_.erase(0, begin);
    if (begun_line_.size() > kLastBytes) {
      say(begun_line_);
      begun_line_.clear();
    }
  } catch (const std::exception&) {  // without memory the line is dropped
    begun_line_.clear();
  }
}

// "; its last lines: a | b", or nothing.
std::string ChildProcess::LastLines() const {
  std::string text = TellsOfCrash(last_bytes_);
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  size_t begin = text.size();
  for (size_t lines = 0; lines < kLastLines && begin != 0; ++lines) {
    const size_t found = begin < 2 ? std::string::npos : text.rfind('\n', begin - 2);
    begin = found == std::string::npos ? 0 : found + 1;
  }
  text = text.substr(begin, std::min<size_t>(text.size() - begin, 400));
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3)) {
    text.replace(at, 1, " | ");
  }
  return text.empty() ? "" : "; its last lines: " + text;
}

void ChildProcess::Kill(std::string_view reason) {
  const MutexLock lock(mutex_);
  if (reaped_) {
    return;
  }
  kill(-pid_, SIGKILL);
  if (kill_reason_.empty()) {
    kill_reason_ = reason;
  }
}

Status ChildProcess::Call(MessageKind kind, std::string_view body, int descriptor,
                          std::string* reply_out) {
  const MutexLock lock(call_mutex_);
  MessageKind answer{};
  if (socket_.Send(kind, body, descriptor) && socket_.Receive(&answer, reply_out)) {
    MessageReader reader(*reply_out);
    const auto code = reader.Get<int32_t>();
    const std::string message(reader.GetText());
    if (answer == MessageKind::kReply && reader.ok()) {
      return code == NRD_OK ? Status() : Status(code, message);
    }
    Kill("it gave an answer that none is");
  }
  // Waits for the end, which tells more than a closed socket. A child that only closed the socket
  // is ended.
  Kill(socket_.timed_out() ? "it took longer than isolation_load_ms to load the model" : "");
  while (!ended()) {
    usleep(1000);
  }
  return Status::Unavailable(end_);
}

uint64_t ChildProcess::ResidentBytes() const {
  if (ended()) {
    return 0;
  }
  const std::string path = "/proc/" + std::to_string(pid_) + "/statm";
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) {
    return 0;
  }
  unsigned long long size = 0;
  unsigned long long resident = 0;
  unsigned long long shared = 0;
  const int found = std::fscanf(file, "%llu %llu %llu", &size, &resident, &shared);
  std::fclose(file);
  return found == 3 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace nereid
