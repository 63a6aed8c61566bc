#include "isolation/child/child_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "isolation/child/child_instance.h"
#include "isolation/control_socket.h"
#include "isolation/isolation_options.h"
#include "isolation/options_message.h"

namespace nereid {
namespace {

constexpr int kSocket = 3;

// Rights of Landlock that an older linux/landlock.h may lack.
constexpr uint64_t kMoveBetweenDirectories = 1 << 13;
constexpr uint64_t kSignals = 1 << 1;

// Keeps the child from its user's other processes, such as the parent: in a domain of Landlock it
// cannot write to their memory, take their descriptors or signal them. A domain must restrict files
// in some way: here by a right that is granted again for all of them.
void KeepFromOthers() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  if (version < 2) {
    return;  // the system has no Landlock, or lacks that right
  }
  // Rights of files and of the network, and the scopes of the domain.
  const uint64_t rules[] = {kMoveBetweenDirectories, 0, version < 6 ? 0 : kSignals};
  const int ruleset =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, rules, sizeof(rules), 0));
  const int root = open("/", O_PATH | O_CLOEXEC);
  const landlock_path_beneath_attr all{.allowed_access = kMoveBetweenDirectories,
                                       .parent_fd = root};
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &all, 0) == 0) {
    syscall(SYS_landlock_restrict_self, ruleset, 0);
  }
  close(root);
  close(ruleset);
}

// Limits the child to what its model needs, disables core dumps, and makes it the first to be
// killed when the system lacks memory.
bool GiveUpPrivileges(pid_t parent) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  KeepFromOthers();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (std::FILE* const file = std::fopen("/proc/self/oom_score_adj", "we"); file != nullptr) {
    std::fputs("500", file);
    std::fclose(file);
  }
  return getppid() == parent;  // else the parent ended before it could be watched
}

// Limits this thread's processors, and so those of the threads that backends start.
Status LimitProcessors(std::string_view list) {
  cpu_set_t processors;
  if (list.empty()) {
    return Status();
  }
  NRD_RETURN_IF_ERROR(ReadProcessors(list, &processors));
  return sched_setaffinity(0, sizeof(processors), &processors) == 0
             ? Status()
             : Status::Internal("the system refuses the processors " + std::string(list));
}

void LimitMemory(std::string_view megabytes) {
  const rlim_t bytes = std::strtoull(std::string(megabytes).c_str(), nullptr, 10) << 20;
  rlimit limit{};
  if (bytes != 0 && getrlimit(RLIMIT_DATA, &limit) == 0 && bytes < limit.rlim_cur) {
    limit = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
}

// Serves one model for its parent; or no model, but passes on the sockets of others.
class ChildServer {
 public:
  ChildServer(FindBackend find, int socket) : find_(find), socket_(socket) {}

  void Serve() {
    MessageKind kind{};
    std::string body;
    for (int descriptor = -1; socket_.Receive(&kind, &body, &descriptor); descriptor = -1) {
      MessageWriter details;
      Status status;
      try {
        status = Handle(kind, body, descriptor, &details);
      } catch (const std::exception& failure) {
        status = Status(NRD_RESOURCE_EXHAUSTED, failure.what());
      }
      MessageWriter reply;
      reply.Put(status.code());
      reply.PutText(status.message());
      if (!socket_.Send(MessageKind::kReply, reply.bytes() + details.bytes())) {
        break;
      }
    }
    Close();
  }

 private:
  Status Handle(MessageKind kind, std::string_view body, int descriptor, MessageWriter* details) {
    switch (kind) {
      case MessageKind::kOpen:
        return Open(body, details);
      case MessageKind::kConfigure:
        return Configure(body);
      case MessageKind::kOpenInstance:
        return OpenInstance(body, descriptor, details);
      case MessageKind::kJoin:
        // The thread ends with its socket, or with the process.
        std::thread([find = find_, descriptor] { ChildServer(find, descriptor).Serve(); }).detach();
        return Status();
      default:
        return Status::Internal("the child was asked for what it cannot do");
    }
  }

  Status Open(std::string_view body, MessageWriter* details) {
    ReadOptions options;
    NRD_RETURN_IF_ERROR(options.Read(body));
    LimitMemory(ParameterOf(options.options(), kIsolationMemory));
    NRD_RETURN_IF_ERROR(
        find_(ParameterOf(options.options(), kIsolatedBackend), options.options(), &found_));
    nrd_error error{};
    const int32_t code = backend_.open_model(backend_.context, &options.options(), &model_, &error);
    NRD_RETURN_IF_ERROR(StatusFromCallback(code, error, "opening the model"));
    is_open_ = true;
    nrd_tensor_spec first{};
    const bool tells = backend_.describe != nullptr &&
                       backend_.describe(model_, NRD_TENSOR_INPUT, 0, &first) != NRD_UNIMPLEMENTED;
    details->Put(static_cast<uint8_t>(tells ? 1 : 0));
    for (const int32_t kind : {NRD_TENSOR_INPUT, NRD_TENSOR_OUTPUT}) {
      Describe(kind, details);
    }
    details->PutText(found_.completed == nullptr ? std::string_view() : *found_.completed);
    return Status();
  }

  void Describe(int32_t kind, MessageWriter* details) {
    MessageWriter specs;
    uint32_t count = 0;
    nrd_tensor_spec spec{};
    while (backend_.describe != nullptr &&
           backend_.describe(model_, kind, count, &spec) == NRD_OK) {
      WriteSpec(spec, &specs);
      spec = {};
      ++count;
    }
    details->Put(count);
    details->Append(specs);
  }

  Status Configure(std::string_view body) {
    NRD_RETURN_IF_ERROR(options_.Read(body));
    if (backend_.configure == nullptr) {
      return Status();
    }
    nrd_error error{};
    const int32_t code = backend_.configure(model_, &options_.options(), &error);
    return StatusFromCallback(code, error, "configuring the model");
  }

  Status OpenInstance(std::string_view body, int descriptor, MessageWriter* details) {
    MessageReader reader(body);
    const auto index = reader.Get<uint32_t>();
    const auto area_bytes = reader.Get<uint64_t>();
    std::unique_ptr<SharedChannel> channel;
    NRD_RETURN_IF_ERROR(SharedChannel::Map(descriptor, area_bytes, &channel));
    auto instance =
        std::make_unique<ChildInstance>(backend_, options_.options(), std::move(channel));
    NRD_RETURN_IF_ERROR(instance->Open(model_, index));
    instances_.push_back(std::move(instance));
    uint64_t weight_bytes = 0;
    uint64_t working_bytes = 0;
    if (backend_.memory_read != nullptr) {
      backend_.memory_read(model_, &weight_bytes, &working_bytes);
    }
    details->Put(weight_bytes);
    details->Put(working_bytes);
    return Status();
  }

  void Close() {
    instances_.clear();
    if (is_open_) {
      backend_.close_model(model_);
    }
  }

  const FindBackend find_;
  ControlSocket socket_;
  ChildBackend found_;
  const nrd_backend& backend_ = found_.table;
  void* model_ = nullptr;
  bool is_open_ = false;
  ReadOptions options_;  // the options of the configured model
  std::vector<std::unique_ptr<ChildInstance>> instances_;
};

}  // namespace

Status OpenLibrary(std::string_view file, void** library_out) {
  *library_out = dlopen(std::string(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  return *library_out != nullptr
             ? Status()
             : Status(NRD_FAILED_PRECONDITION,
                      std::string("the process of an isolated model cannot load ") + dlerror());
}

int RunChild(int argument_count, char** arguments, FindBackend find) {
  if (argument_count != 4 || fcntl(kSocket, F_GETFD) < 0) {
    std::fputs("nereid-child: Nereid starts this program for models with isolation=process\n",
               stderr);
    return EXIT_FAILURE;
  }
  if (!GiveUpPrivileges(static_cast<pid_t>(std::strtol(arguments[2], nullptr, 10)))) {
    return EXIT_FAILURE;
  }
  if (const Status limited = LimitProcessors(arguments[3]); !limited.ok()) {
    std::fprintf(stderr, "%s\n", std::string(limited.message()).c_str());
    return EXIT_FAILURE;
  }
  ChildServer(find, kSocket).Serve();
  std::fflush(nullptr);
  std::_Exit(EXIT_SUCCESS);  // libraries of backends may still have threads
}

}  // namespace nereid
