// Passes a model's file in memory to its reader piece by piece, freeing the pieces.
#ifndef NEREID_ONNXRUNTIME_CONSUMED_FILE_H_
#define NEREID_ONNXRUNTIME_CONSUMED_FILE_H_

#include <memory>
#include <string>
#include <thread>

namespace nereid {

// Without it, a file in memory (memfd) and the weights read from it would exist at the same time. A
// thread writes the file into a pipe, and gives each piece back to the system, so the file can be
// read only once. For one thread, which reads the pipe while the object lives.
class ConsumedFile {
 public:
  // Null unless the file is in this process's memory and alone in its directory: other files could
  // be looked up beside its path, but not beside a pipe.
  static std::unique_ptr<ConsumedFile> Open(const std::string& path);

  ~ConsumedFile();
  ConsumedFile(const ConsumedFile&) = delete;
  ConsumedFile& operator=(const ConsumedFile&) = delete;

  // The path of the pipe.
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
