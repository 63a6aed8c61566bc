// Adds what a file of ONNX has to a network, by the functions that any caller of TensorRT has.
#ifndef NEREID_REHEARSAL_TENSORRT_ONNX_IMPORT_H_
#define NEREID_REHEARSAL_TENSORRT_ONNX_IMPORT_H_

#include <map>
#include <string>
#include <vector>

#include "interfaces/network.h"
#include "model.h"

namespace rehearsal::trt {

class Import {
 public:
  // The weights of the network will be the model's memory.
  Import(const OnnxModel& model, Held& network);

  void Inputs();
  void AddNode(const OnnxNode& node);
  void Outputs();
  // Gives the network's weights the names that the model has for them.
  void Names();

 private:
  using Adder = void (Import::*)(const OnnxNode& node);
  static const std::map<std::string, Adder>& Adders();

  void Activation(const OnnxNode& node);
  void Cast(const OnnxNode& node);
  void Conv(const OnnxNode& node);
  void ElementWise(const OnnxNode& node);
  void Flatten(const OnnxNode& node);
  void Gemm(const OnnxNode& node);
  void GlobalAveragePool(const OnnxNode& node);
  void Identity(const OnnxNode& node);
  void MatMul(const OnnxNode& node);
  void MaxPool(const OnnxNode& node);
  void Neg(const OnnxNode& node);
  void NonZero(const OnnxNode& node);
  void Quantize(const OnnxNode& node);
  void Reshape(const OnnxNode& node);
  void SoftMax(const OnnxNode& node);

  // A tensor that a node takes: one that was computed, or weights, which become a constant.
  Held& Input(const OnnxNode& node, std::size_t index);
  // The same with so many dimensions, if it is weights.
  Held& Input(const OnnxNode& node, std::size_t index, std::size_t rank);
  // Weights that a node takes; null: that input is none.
  [[nodiscard]] const OnnxTensor* WeightsOf(const OnnxNode& node, std::size_t index) const;
  Held& Constant(const OnnxTensor& tensor, const Shape& shape);
  // Makes the output of a layer that of a node.
  void Give(const OnnxNode& node, Held* layer);
  static Held& OutputOf(Held* layer);
  static Shape ShapeOfTensor(Held& tensor);

  const OnnxModel& model_;
  NetworkDefinitionCalls& network_;
  std::map<std::string, Held*> tensors_;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_ONNX_IMPORT_H_
