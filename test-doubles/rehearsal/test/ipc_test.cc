#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "fixture.h"

namespace rehearsal {
namespace {

int StatusOfPeer(const IpcHandle& handle) {
  std::string text;
  for (const std::byte byte : handle.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(byte));
    text += digits;
  }
  std::string program = REHEARSAL_PEER;
  char* const arguments[] = {program.data(), text.data(), nullptr};
  pid_t process;
  REQUIRE(posix_spawn(&process, REHEARSAL_PEER, nullptr, nullptr, arguments, environ) == 0);
  int status;
  REQUIRE(waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "ipc: another process reads and writes what this one allocated") {
  const Memory memory(5);
  std::byte* const bytes = Backing(memory.address, 5, "test");
  std::memcpy(bytes, "hello", 5);
  IpcHandle handle;
  REQUIRE(ExportIpc(memory.address, "test", &handle) == Code::kSuccess);
  CHECK(StatusOfPeer(handle) == 0);
  CHECK(std::memcmp(bytes, "world", 5) == 0);
  Address address;
  CHECK(OpenIpc(0, handle, "test", &address) == Code::kInvalidContext);  // of this process
}

TEST_CASE_FIXTURE(Fixture, "ipc: what names no memory, or none any more, is refused") {
  IpcHandle handle{};
  Address address;
  CHECK(OpenIpc(0, handle, "test", &address) == Code::kInvalidValue);
  {
    const Memory memory(5);
    REQUIRE(ExportIpc(memory.address, "test", &handle) == Code::kSuccess);
  }
  CHECK(StatusOfPeer(handle) == static_cast<int>(Code::kInvalidHandle) % 251 + 1);
  CHECK(CloseIpc(1, "test") == Code::kInvalidValue);
  CHECK(TakeMisuses() == 1);
}

}  // namespace rehearsal
