#include "network.h"

#include "handles.h"
#include "layers.h"

namespace rehearsal::trt {

namespace {

constexpr const char* kKind = "TensorRT network";

Parameter ParameterOf(const Weights& weights, const Shape& shape) {
  Parameter parameter;
  parameter.raw = weights;
  parameter.shape = weights.count == 0 ? Shape{0} : shape;
  return parameter;
}

}  // namespace

Network& NetworkOf(Held& held) { return static_cast<Network&>(held); }

int IndexOf(Held& held) { return static_cast<TensorObject&>(held).Index(); }

Network::Network(const Log& log, Life* builder, bool strongly_typed)
    : Held(static_cast<NetworkDefinitionCalls*>(this)),
      log_(log),
      life_(static_cast<Held*>(this), kKind, "IBuilder::createNetworkV2", builder),
      graph_(std::make_unique<Graph>()) {
  graph_->strongly_typed = strongly_typed;
}

void Network::Delete() {
  if (life_.End("~INetworkDefinition")) {
    *graph_ = Graph();
    Bury(this);
  }
}

int Network::NewTensor(const std::string& name, DataType type, const Shape& shape) {
  int index = static_cast<int>(graph_->tensors.size());
  graph_->tensors.push_back({name, type, shape});
  tensors_.push_back(std::make_unique<TensorObject>(this, index));
  return index;
}

Held* Network::Add(const char* call, Node node) {
  if (!Begin(life_, log_, call)) {
    return nullptr;
  }
  std::size_t index = graph_->nodes.size();
  node.name = "(Unnamed Layer* " + std::to_string(index) + ")";
  node.output = NewTensor(node.name + "_output", DataType::kFloat, {});
  LayerType type = node.type;
  graph_->nodes.push_back(std::move(node));
  layers_.push_back(NewLayer(this, index, type));
  return layers_.back().get();
}

Known Network::KnownOf(int tensor) const {
  return Guarded(log_, "ITensor::getDimensions", Known{DataType::kFloat, {-1}, {-1}, nullptr},
                 [&] { return Infer(*graph_)[static_cast<std::size_t>(tensor)]; });
}

// ---- Inputs, outputs and what there is ---------------------------------------------------------

Held* Network::addInput(const char* name, DataType type, const Dims& dims) {
  const char* call = "INetworkDefinition::addInput";
  if (!Begin(life_, log_, call)) {
    return nullptr;
  }
  return Guarded(log_, call, static_cast<Held*>(nullptr), [&]() -> Held* {
    if (graph_->Find(name) >= 0) {
      throw Refusal(std::string("there is a tensor '") + name + "' already");
    }
    int index = NewTensor(name, type, ShapeOf(dims));
    graph_->inputs.push_back(index);
    return TensorAt(index);
  });
}

void Network::markOutput(Held& tensor) {
  if (life_.IsAlive("INetworkDefinition::markOutput") && !graph_->IsOutput(IndexOf(tensor))) {
    graph_->outputs.push_back(IndexOf(tensor));
  }
}

bool Network::markOutputForShapes(Held& tensor) {
  if (!Begin(life_, log_, "INetworkDefinition::markOutputForShapes")) {
    return false;
  }
  markOutput(tensor);
  graph_->host_outputs.push_back(IndexOf(tensor));
  return true;
}

std::int32_t Network::getNbLayers() const { return static_cast<std::int32_t>(layers_.size()); }

Held* Network::getLayer(std::int32_t index) const {
  return layers_.at(static_cast<std::size_t>(index)).get();
}

std::int32_t Network::getNbInputs() const { return static_cast<int>(graph_->inputs.size()); }

Held* Network::getInput(std::int32_t index) const {
  int tensor = graph_->inputs.at(static_cast<std::size_t>(index));
  return tensors_[static_cast<std::size_t>(tensor)].get();
}

std::int32_t Network::getNbOutputs() const { return static_cast<int>(graph_->outputs.size()); }

Held* Network::getOutput(std::int32_t index) const {
  int tensor = graph_->outputs.at(static_cast<std::size_t>(index));
  return tensors_[static_cast<std::size_t>(tensor)].get();
}

Held* Network::addShape(Held& input) {
  Node node{LayerType::kShape, {}, {IndexOf(input)}, 0, {}, {}};
  return Add("INetworkDefinition::addShape", std::move(node));
}

void Network::setName(const char* name) { graph_->name = name; }

const char* Network::getName() const { return graph_->name.c_str(); }

bool Network::setWeightsName(Weights weights, const char* name) {
  if (!Begin(life_, log_, "INetworkDefinition::setWeightsName")) {
    return false;
  }
  bool found = false;
  for (Node& node : graph_->nodes) {
    for (auto& [role, parameter] : node.parameters) {
      if (parameter.raw.values == weights.values && parameter.raw.count == weights.count) {
        parameter.name = name;
        found = true;
      }
    }
  }
  return found;
}

// ---- Layers ------------------------------------------------------------------------------------

Held* Network::addActivation(Held& input, std::int32_t type) {
  Node node{LayerType::kActivation, {}, {IndexOf(input)}, 0, {{"operation", {type}}}, {}};
  return Add("INetworkDefinition::addActivation", std::move(node));
}

Held* Network::addScale(Held& input, std::int32_t mode, Weights shift, Weights scale,
                        Weights power) {
  Node node{LayerType::kScale, {}, {IndexOf(input)}, 0, {{"operation", {mode}}}, {}};
  node.parameters = {{"shift", ParameterOf(shift, {shift.count})},
                     {"scale", ParameterOf(scale, {scale.count})},
                     {"power", ParameterOf(power, {power.count})}};
  return Add("INetworkDefinition::addScale", std::move(node));
}

Held* Network::addSoftMax(Held& input) {
  Node node{LayerType::kSoftMax, {}, {IndexOf(input)}, 0, {}, {}};
  return Add("INetworkDefinition::addSoftMax", std::move(node));
}

Held* Network::addElementWise(Held& left, Held& right, std::int32_t operation) {
  Node node{LayerType::kElementWise,      {}, {IndexOf(left), IndexOf(right)}, 0,
            {{"operation", {operation}}}, {}};
  return Add("INetworkDefinition::addElementWise", std::move(node));
}

Held* Network::addUnary(Held& input, std::int32_t operation) {
  Node node{LayerType::kUnary, {}, {IndexOf(input)}, 0, {{"operation", {operation}}}, {}};
  return Add("INetworkDefinition::addUnary", std::move(node));
}

Held* Network::addShuffle(Held& input) {
  Node node{LayerType::kShuffle, {}, {IndexOf(input)}, 0, {}, {}};
  return Add("INetworkDefinition::addShuffle", std::move(node));
}

Held* Network::addReduce(Held& input, std::int32_t operation, std::uint32_t axes, bool keep) {
  Node node{LayerType::kReduce, {}, {IndexOf(input)}, 0, {}, {}};
  node.settings = {{"operation", {operation}}, {"axes", {axes}}, {"keep", {keep ? 1 : 0}}};
  return Add("INetworkDefinition::addReduce", std::move(node));
}

Held* Network::addMatrixMultiply(Held& left, std::int32_t left_operation, Held& right,
                                 std::int32_t right_operation) {
  Node node{LayerType::kMatrixMultiply, {}, {IndexOf(left), IndexOf(right)}, 0, {}, {}};
  node.settings = {{"left", {left_operation}}, {"right", {right_operation}}};
  return Add("INetworkDefinition::addMatrixMultiply", std::move(node));
}

Held* Network::addConstant(const Dims& dims, Weights values) {
  const char* call = "INetworkDefinition::addConstant";
  return Guarded(log_, call, static_cast<Held*>(nullptr), [&] {
    Shape shape = ShapeOf(dims);
    Node node{LayerType::kConstant, {}, {}, 0, {}, {}};
    node.settings = {{"shape", shape}, {"type", {static_cast<std::int64_t>(values.type)}}};
    node.parameters["values"].raw = values;
    node.parameters["values"].shape = shape;
    (void)node.parameters["values"].Read();  // refuses another number of values
    return Add(call, std::move(node));
  });
}

Held* Network::addIdentity(Held& input) {
  Node node{LayerType::kIdentity, {}, {IndexOf(input)}, 0, {}, {}};
  return Add("INetworkDefinition::addIdentity", std::move(node));
}

Held* Network::addConvolutionNd(Held& input, std::int64_t maps, const Dims& kernel, Weights weights,
                                Weights bias) {
  const char* call = "INetworkDefinition::addConvolutionNd";
  return Guarded(log_, call, static_cast<Held*>(nullptr), [&] {
    Shape window = ShapeOf(kernel);
    if (window.size() != 2 || maps < 1 || window[0] < 1 || window[1] < 1) {
      throw Refusal("expected a window of rows and columns, got " + Text(window));
    }
    std::int64_t channels = weights.count / (maps * window[0] * window[1]);
    Node node{LayerType::kConvolution, {}, {IndexOf(input)}, 0, {{"kernel", window}}, {}};
    node.parameters["kernel"] = ParameterOf(weights, {maps, channels, window[0], window[1]});
    node.parameters["bias"] = ParameterOf(bias, {maps});
    return Add(call, std::move(node));
  });
}

Held* Network::addPoolingNd(Held& input, std::int32_t type, const Dims& window) {
  const char* call = "INetworkDefinition::addPoolingNd";
  return Guarded(log_, call, static_cast<Held*>(nullptr), [&] {
    if (type != 0) {
      throw Refusal("pooling of type " + std::to_string(type) + " is not rehearsed");
    }
    Node node{LayerType::kPooling, {}, {IndexOf(input)}, 0, {{"kernel", ShapeOf(window)}}, {}};
    return Add(call, std::move(node));
  });
}

Held* Network::addNonZero(Held& input) {
  Node node{LayerType::kNonZero, {}, {IndexOf(input)}, 0, {}, {}};
  return Add("INetworkDefinition::addNonZero", std::move(node));
}

namespace {

Node Typed(LayerType kind, std::vector<int> inputs, DataType type) {
  return {kind, {}, std::move(inputs), 0, {{"type", {static_cast<std::int64_t>(type)}}}, {}};
}

}  // namespace

Held* Network::addCast(Held& input, DataType type) {
  return Add("INetworkDefinition::addCast", Typed(LayerType::kCast, {IndexOf(input)}, type));
}

Held* Network::addQuantizeV2(Held& input, Held& scale, DataType type) {
  return Add("INetworkDefinition::addQuantize",
             Typed(LayerType::kQuantize, {IndexOf(input), IndexOf(scale)}, type));
}

Held* Network::addDequantizeV2(Held& input, Held& scale, DataType type) {
  return Add("INetworkDefinition::addDequantize",
             Typed(LayerType::kDequantize, {IndexOf(input), IndexOf(scale)}, type));
}

}  // namespace rehearsal::trt
