// Writes ONNX files for the tests: files too large to keep, or that no tool would write.
#ifndef NEREID_TEST_ONNX_WRITER_H_
#define NEREID_TEST_ONNX_WRITER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "onnxruntime/ort_api.h"

namespace nereid::test {

struct OnnxGraph {
  struct Value {
    std::string name;
    std::vector<int64_t> dims;  // -1: free
    OrtElementType type = OrtElementType::kFloat;
  };
  struct Node {
    std::string type;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
  };

  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Value>
      weights;  // FP32: numbers between 0 and 1, no two alike: ONNX Runtime would share
  std::vector<Node> nodes;
};

// A file of its own, there as long as the object.
class OnnxFile {
 public:
  explicit OnnxFile(const OnnxGraph& graph);
  ~OnnxFile();
  OnnxFile(const OnnxFile&) = delete;
  OnnxFile& operator=(const OnnxFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] uint64_t byte_size() const { return std::filesystem::file_size(path_); }

 private:
  std::string path_;
};

}  // namespace nereid::test

#endif  // NEREID_TEST_ONNX_WRITER_H_
