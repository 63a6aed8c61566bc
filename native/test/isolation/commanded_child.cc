// A child whose backend copies its inputs, unless the first element of a row is a command.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "base/status.h"
#include "isolation/child/child_server.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"
#include "test/isolation/commands.h"

namespace nereid::test {
namespace {

int* volatile nowhere = nullptr;

struct Mapping {
  uint8_t* begin;
  size_t size;
};

// Shared memory that this process can write, as an attacker finds it; the control block comes
// first.
std::vector<Mapping> WritableChannels() {
  std::vector<Mapping> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    char flags[5] = "";
    if (line.find("nereid-channel") != std::string::npos &&
        std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, flags) == 3 && flags[1] == 'w') {
      found.push_back({reinterpret_cast<uint8_t*>(begin), static_cast<size_t>(end - begin)});
    }
  }
  return found;
}

void Scribble(uint32_t seed) {
  std::mt19937 random(seed);
  for (const Mapping& mapping : WritableChannels()) {
    const size_t reach = std::min<size_t>(mapping.size, sizeof(ChannelControl) + 65'536);
    for (int i = 0; i < 20'000; ++i) {
      mapping.begin[random() % reach] = static_cast<uint8_t>(random());
    }
  }
}

int64_t WildNumber(std::mt19937* random) {
  switch ((*random)() % 6) {
    case 0:
      return 0;
    case 1:
      return static_cast<int64_t>((*random)() % 16);
    case 2:
      return -1;
    case 3:
      return INT64_MIN + static_cast<int64_t>((*random)() % 4);
    case 4:
      return static_cast<int64_t>((uint64_t{1} << 30) - 8 + (*random)() % 16);
    default:
      return static_cast<int64_t>((uint64_t{(*random)()} << 32) | (*random)());
  }
}

void SendWildRecords(uint32_t seed) {
  std::mt19937 random(seed);
  for (const Mapping& mapping : WritableChannels()) {
    if (mapping.size > (size_t{1} << 20)) {
      continue;  // outputs
    }
    RingMemory& ring = reinterpret_cast<ChannelControl*>(mapping.begin)->to_parent;
    uint32_t written = ring.written.load();
    const uint32_t count = 1 + random() % 8;
    for (uint32_t i = 0; i < count; ++i) {
      Record record{};
      record.kind = static_cast<RecordKind>(random() % (kRecordKinds + 1));
      record.index = static_cast<uint32_t>(WildNumber(&random));
      record.datatype = random() % 2 == 0 ? NRD_TYPE_INT32 : static_cast<int32_t>(random() % 20);
      record.rank = random() % 2 == 0 ? 2 : static_cast<uint32_t>(WildNumber(&random));
      record.offset = static_cast<uint64_t>(WildNumber(&random));
      record.byte_size = static_cast<uint64_t>(WildNumber(&random));
      for (int64_t& dim : record.shape) {
        dim = WildNumber(&random);
      }
      record.number = WildNumber(&random);
      record.request = random() % 2 == 0 ? 0 : static_cast<uint32_t>(WildNumber(&random));
      ring.records[written++ % kRingRecords] = record;
    }
    ring.written.store(random() % 8 == 0 ? static_cast<uint32_t>(random()) : written);
    RingReader::Wake(&ring);
  }
}

[[noreturn]] void Sleep() {
  for (;;) {
    pause();
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
int OverflowStack(int depth) {
  std::array<volatile char, 4096> frame;
  frame[static_cast<size_t>(depth) % frame.size()] = 1;
  return depth < 0 ? 0 : OverflowStack(depth + 1) + frame[0];
}

[[noreturn]] void EatMemory() {
  constexpr size_t kPiece = size_t{16} << 20;
  for (;;) {
    void* const piece = std::malloc(kPiece);
    if (piece == nullptr) {
      std::abort();
    }
    std::memset(piece, 1, kPiece);
  }
}

[[noreturn]] void Fork() {
  if (fork() == 0) {
    for (;;) {
      Scribble(1);
    }
  }
  raise(SIGSEGV);
  Sleep();
}

// The processors of a thread started by a backend, as its libraries start theirs.
std::string Processors() {
  std::string found;
  std::thread([&found] {
    cpu_set_t usable;
    sched_getaffinity(0, sizeof(usable), &usable);
    for (size_t i = 0; i < CPU_SETSIZE; ++i) {
      found += CPU_ISSET(i, &usable) ? ' ' + std::to_string(i) : "";
    }
  }).join();
  return found;
}

// Ways to the parent process, as an attacker would look for them. The function changes nothing
// there.
std::string WaysToParent() {
  std::string ways;
  const pid_t parent = getppid();
  const std::string folder = "/proc/" + std::to_string(parent);
  if (const int memory = open((folder + "/mem").c_str(), O_RDWR | O_CLOEXEC); memory >= 0) {
    ways += " memory";
    close(memory);
  }
  char byte = 0;
  const iovec from{.iov_base = &byte, .iov_len = 1};
  const iovec to{.iov_base = nullptr, .iov_len = 1};
  if (process_vm_writev(parent, &from, 1, &to, 1, 0) >= 0 || errno != EPERM) {
    ways += " process_vm_writev";
  }
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0));
  ways += descriptor >= 0 || access((folder + "/fd/2").c_str(), F_OK) == 0 ? " descriptors" : "";
  close(descriptor);
  close(process);
  return ways + (kill(parent, 0) == 0 ? " signals" : "");
}

Status Obey(Command command, int32_t argument, const nrd_tensor& input) {
  switch (command) {
    case Command::kSegfault:
      *nowhere = 1;
      break;
    case Command::kAbort:
      std::abort();
    case Command::kExit:
      _exit(argument);
    case Command::kKill:
      raise(SIGKILL);
      break;
    case Command::kOverflowStack:
      OverflowStack(0);
      break;
    case Command::kEatMemory:
      EatMemory();
    case Command::kWriteInput:
      *static_cast<volatile int32_t*>(input.data) = 0;
      break;
    case Command::kHang:
      Sleep();
    case Command::kCloseAll:
      close_range(0, ~0U, 0);
      Sleep();
    case Command::kFork:
      Fork();
    case Command::kSayAndDie:
      std::fputs("first line\nsecond line\nthird line\nfourth line\n", stderr);
      std::abort();
    case Command::kFail:
      return Status(NRD_NOT_FOUND, "told to fail with " + std::to_string(argument));
    case Command::kReachParent:
      return Status(NRD_NOT_FOUND, "ways:" + WaysToParent());
    case Command::kTellProcessors:
      return Status(NRD_NOT_FOUND, "processors" + Processors());
    case Command::kScribble:
      Scribble(static_cast<uint32_t>(argument));
      break;
    case Command::kWildRecords:
      SendWildRecords(static_cast<uint32_t>(argument));
      break;
    default:
      break;
  }
  return Status();
}

Status ObeyRows(const nrd_tensor& input) {
  const auto* const values = static_cast<const int32_t*>(input.data);
  const int64_t columns = input.shape[1];
  for (int64_t row = 0; row < input.shape[0]; ++row) {
    NRD_RETURN_IF_ERROR(
        Obey(static_cast<Command>(values[row * columns]), values[row * columns + 1], input));
  }
  return Status();
}

// Executes the batch as a whole, or request by request where inputs are separate.
Status Execute(nrd_batch* batch) {
  const bool whole = batch->request_count == 0;
  for (uint32_t i = 0; i < std::max(batch->request_count, 1U); ++i) {
    const nrd_tensor& input = whole ? batch->inputs[0] : batch->requests[i]->inputs[0];
    NRD_RETURN_IF_ERROR(ObeyRows(input));
    void* data = nullptr;
    nrd_error error{};
    const int32_t code =
        whole ? nrd_batch_output(batch, 0, input.datatype, input.rank, input.shape, input.byte_size,
                                 &data, &error)
              : nrd_batch_request_output(batch, i, 0, input.datatype, input.rank, input.shape,
                                         input.byte_size, &data, &error);
    NRD_RETURN_IF_ERROR(StatusFromCallback(code, error, "making the output"));
    std::memcpy(data, input.data, input.byte_size);
  }
  return Status();
}

// A parameter chooses a misbehaviour, which lasts while the file named by its value exists.
int32_t OpenModel(void* /*context*/, const nrd_model_options* options, void** model_out,
                  nrd_error* error_out) {
  for (uint64_t i = 0; i < options->parameter_count; ++i) {
    const std::string value(View(options->parameters[i].value));
    if (View(options->parameters[i].key) == "dies_with" && access(value.c_str(), F_OK) == 0) {
      std::fputs("no weights in the file\n", stderr);
      _exit(3);
    }
    if (View(options->parameters[i].key) == "moves") {
      std::filesystem::rename(value, value + ".d/moved");
    }
    if (View(options->parameters[i].key) == "hangs_with" && access(value.c_str(), F_OK) == 0) {
      Sleep();
    }
    if (View(options->parameters[i].key) == "fails_with" && access(value.c_str(), F_OK) == 0) {
      return Report(Status::InvalidArgument("the file has no weights"), error_out);
    }
  }
  *model_out = nullptr;
  return NRD_OK;
}

Status Find(std::string_view /*name*/, const nrd_model_options& /*options*/,
            ChildBackend* backend_out) {
  backend_out->table = {
      .struct_size = sizeof(nrd_backend),
      .flags = 0,
      .context = nullptr,
      .open_model = OpenModel,
      .describe = nullptr,
      .configure = nullptr,
      .memory_read = nullptr,
      .open_instance = [](void*, uint32_t, void** instance_out, nrd_error*) -> int32_t {
        *instance_out = nullptr;
        return NRD_OK;
      },
      .execute = [](void*, nrd_batch* batch, nrd_error* error_out) -> int32_t {
        return Report(Execute(batch), error_out);
      },
      .close_instance = [](void*) {},
      .close_model = [](void*) {},
      .release_state = nullptr};
  return Status();
}

}  // namespace
}  // namespace nereid::test

int main(int argument_count, char** arguments) {
  return nereid::RunChild(argument_count, arguments, nereid::test::Find);
}
