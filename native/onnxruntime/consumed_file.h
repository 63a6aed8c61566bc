// A model's file that is only in memory, handed to its reader piece by piece.
#ifndef NEREID_ONNXRUNTIME_CONSUMED_FILE_H_
#define NEREID_ONNXRUNTIME_CONSUMED_FILE_H_

#include <memory>
#include <string>
#include <thread>

namespace nereid {

// Without it a file in memory (memfd) and the weights that were read from it are there at the same
// time. A thread writes the file into a pipe, and gives each piece of it back to the system: so the
// file can be read once. For one thread, which reads the pipe while the object lives.
class ConsumedFile {
 public:
  // Null, for all but files in the memory of this process, which are alone in their directory: what
  // another file could be found by is the path, and a pipe has none.
  static std::unique_ptr<ConsumedFile> Open(const std::string& path);

  ~ConsumedFile();
  ConsumedFile(const ConsumedFile&) = delete;
  ConsumedFile& operator=(const ConsumedFile&) = delete;

  // Leads to the pipe.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ConsumedFile(int memory, int reading, int writing);
  static void Write(int memory, int writing);

  const int reading_;
  const std::string path_;
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_CONSUMED_FILE_H_
