#include "onnxruntime/consumed_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace nereid {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

// True for a link, alone in its directory, to a file that this process has open.
bool IsOwn(const std::filesystem::path& path) {
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(path, error);
  if (error || target.rfind("/proc/" + std::to_string(getpid()) + "/fd/", 0) != 0) {
    return false;
  }
  const std::filesystem::directory_iterator files(path.parent_path(), error);
  return !error && std::distance(begin(files), end(files)) == 1;
}

}  // namespace

std::unique_ptr<ConsumedFile> ConsumedFile::Open(const std::string& path) {
  if (!IsOwn(path)) {
    return nullptr;
  }
  const int memory = open(path.c_str(), O_RDWR | O_CLOEXEC);
  std::array<int, 2> ends{};
  // Only files in memory have seals.
  if (memory < 0 || fcntl(memory, F_GET_SEALS) < 0 || pipe2(ends.data(), O_CLOEXEC) != 0) {
    close(memory);
    return nullptr;
  }
  return std::unique_ptr<ConsumedFile>(new ConsumedFile(memory, ends[0], ends[1]));
}

ConsumedFile::ConsumedFile(int memory, int reading, int writing)
    : reading_(reading),
      path_("/proc/self/fd/" + std::to_string(reading)),
      thread_(Write, memory, writing) {}

ConsumedFile::~ConsumedFile() {
  close(reading_);  // makes a thread that still writes fail
  thread_.join();
}

void ConsumedFile::Write(int memory, int writing) {
  pthread_setname_np(pthread_self(), "nrd-ort-file");
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, nullptr);
  std::array<char, kPieceBytes> piece{};
  off_t offset = 0;
  bool wanted = true;
  for (ssize_t count = 0;
       wanted && (count = pread(memory, piece.data(), piece.size(), offset)) > 0;) {
    for (ssize_t done = 0; wanted && done < count;) {
      const ssize_t written = write(writing, piece.data() + done, count - done);
      wanted = written > 0;
      done += written;
    }
    fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
    offset += count;
  }
  close(writing);
  close(memory);
}

}  // namespace nereid
