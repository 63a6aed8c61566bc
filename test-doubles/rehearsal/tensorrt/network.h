// A network that callers define: objects around a graph.
#ifndef NEREID_REHEARSAL_TENSORRT_NETWORK_H_
#define NEREID_REHEARSAL_TENSORRT_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "graph.h"
#include "object.h"

namespace rehearsal::trt {

class Network;

// A tensor of a network; the network's, with which it goes.
class TensorObject final : public Held, public TensorCalls {
 public:
  TensorObject(Network* network, int index);

  void Delete() override;
  void setName(const char* name) override;
  [[nodiscard]] const char* getName() const override;
  [[nodiscard]] Dims getDimensions() const override;
  [[nodiscard]] DataType getType() const override;
  [[nodiscard]] bool isNetworkInput() const override;
  [[nodiscard]] bool isNetworkOutput() const override;
  [[nodiscard]] bool isShapeTensor() const override;

  [[nodiscard]] int Index() const { return index_; }

 private:
  Network* network_;
  int index_;
};

// A layer of a network; the network's, with which it goes.
class LayerObject : public HeldLayer, public LayerCalls {
 public:
  // `own_functions`: those of its kind.
  LayerObject(Network* network, std::size_t index, void* own_functions);

  void Delete() override;
  [[nodiscard]] LayerType getType() const override;
  void setName(const char* name) override;
  [[nodiscard]] const char* getName() const override;
  [[nodiscard]] std::int32_t getNbInputs() const override;
  [[nodiscard]] Held* getInput(std::int32_t index) const override;
  [[nodiscard]] std::int32_t getNbOutputs() const override;
  [[nodiscard]] Held* getOutput(std::int32_t index) const override;
  void setInput(std::int32_t index, Held& tensor) override;

  // What functions of its kind set.
  void Set(const char* call, const char* setting, const Shape& numbers);

 private:
  [[nodiscard]] Node& node() const;

  Network* network_;
  std::size_t index_;
};

class Network final : public Held, public NetworkDefinitionCalls {
 public:
  Network(const Log& log, Life* builder, bool strongly_typed);

  void Delete() override;
  Held* addInput(const char* name, DataType type, const Dims& dims) override;
  void markOutput(Held& tensor) override;
  Held* addActivation(Held& input, std::int32_t type) override;
  Held* addScale(Held& input, std::int32_t mode, Weights shift, Weights scale,
                 Weights power) override;
  Held* addSoftMax(Held& input) override;
  Held* addElementWise(Held& left, Held& right, std::int32_t operation) override;
  Held* addUnary(Held& input, std::int32_t operation) override;
  Held* addShuffle(Held& input) override;
  [[nodiscard]] std::int32_t getNbLayers() const override;
  [[nodiscard]] Held* getLayer(std::int32_t index) const override;
  [[nodiscard]] std::int32_t getNbInputs() const override;
  [[nodiscard]] Held* getInput(std::int32_t index) const override;
  [[nodiscard]] std::int32_t getNbOutputs() const override;
  [[nodiscard]] Held* getOutput(std::int32_t index) const override;
  Held* addReduce(Held& input, std::int32_t operation, std::uint32_t axes, bool keep) override;
  Held* addMatrixMultiply(Held& left, std::int32_t left_operation, Held& right,
                          std::int32_t right_operation) override;
  Held* addConstant(const Dims& dims, Weights values) override;
  Held* addIdentity(Held& input) override;
  void setName(const char* name) override;
  bool setWeightsName(Weights weights, const char* name) override;
  [[nodiscard]] const char* getName() const override;
  Held* addShape(Held& input) override;
  bool markOutputForShapes(Held& tensor) override;
  Held* addConvolutionNd(Held& input, std::int64_t maps, const Dims& kernel, Weights weights,
                         Weights bias) override;
  Held* addPoolingNd(Held& input, std::int32_t type, const Dims& window) override;
  Held* addNonZero(Held& input) override;
  Held* addCast(Held& input, DataType type) override;
  Held* addQuantizeV2(Held& input, Held& scale, DataType type) override;
  Held* addDequantizeV2(Held& input, Held& scale, DataType type) override;

  // A node with what the caller says; null, which is logged: it may not be added. `call` is the
  // function that adds it.
  Held* Add(const char* call, Node node);

  [[nodiscard]] bool IsAlive(const char* call) const { return life_.IsAlive(call); }
  [[nodiscard]] Graph& graph() { return *graph_; }
  [[nodiscard]] Held* TensorAt(int index) {
    return tensors_[static_cast<std::size_t>(index)].get();
  }
  // What is known of a tensor now.
  [[nodiscard]] Known KnownOf(int tensor) const;

 private:
  int NewTensor(const std::string& name, DataType type, const Shape& shape);

  Log log_;
  Life life_;
  std::unique_ptr<Graph> graph_;  // empty once it is deleted
  // Those that callers hold stay when the network is deleted.
  std::vector<std::unique_ptr<TensorObject>> tensors_;
  std::vector<std::unique_ptr<LayerObject>> layers_;
};

// The network that a caller holds.
Network& NetworkOf(Held& held);
// The number of a tensor that a caller holds.
int IndexOf(Held& held);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_NETWORK_H_
