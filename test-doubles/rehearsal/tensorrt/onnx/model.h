// A file of ONNX, read.
#ifndef NEREID_REHEARSAL_TENSORRT_ONNX_MODEL_H_
#define NEREID_REHEARSAL_TENSORRT_ONNX_MODEL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "value.h"

namespace rehearsal::trt {

// Weights; the bytes live in the model.
struct OnnxTensor {
  DataType type = DataType::kFloat;
  Shape shape;
  std::string_view bytes;

  [[nodiscard]] Weights weights() const;
};

struct OnnxAttribute {
  std::vector<std::int64_t> numbers;  // of one number, or of several
  float real = 0;
};

struct OnnxNode {
  std::string operation;
  std::string name;
  std::vector<std::string> inputs;  // an empty name: the input is not given
  std::vector<std::string> outputs;
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxValue {
  std::string name;
  DataType type = DataType::kFloat;
  Shape shape;
};

class OnnxModel {
 public:
  // Throws Refusal.
  explicit OnnxModel(std::string file);
  OnnxModel(const OnnxModel&) = delete;
  OnnxModel& operator=(const OnnxModel&) = delete;

  std::int64_t version = 0;  // of the operators
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> tensors;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;

  // Overwrites all weights: who reads them from now on gets numbers that are none.
  void Spoil();

 private:
  void ReadGraph(std::string_view bytes);
  void ReadTensor(std::string_view bytes);

  std::string file_;
  std::deque<std::string> unpacked_;  // of tensors that have their numbers one by one
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_ONNX_MODEL_H_
