#include "import.h"

#include <algorithm>

#include "attributes.h"

namespace rehearsal::trt {

namespace {

// Numbers of operations, as the network's functions take them.
constexpr int kRelu = 0;
constexpr int kSigmoid = 1;
constexpr int kTanh = 2;
constexpr int kMaximum = 0;
constexpr int kMean = 4;
constexpr int kNegative = 5;
constexpr unsigned kRowsAndColumns = 1U << 2 | 1U << 3;

const std::map<std::string, int> kPairs = {{"Add", 0}, {"Mul", 1}, {"Max", 2},
                                           {"Min", 3}, {"Sub", 4}, {"Div", 5}};
const std::map<std::string, int> kActivations = {
    {"Relu", kRelu}, {"Sigmoid", kSigmoid}, {"Tanh", kTanh}};

template <typename Calls>
void SetWindow(Held* layer, const Window& window) {
  auto* calls = static_cast<Calls*>(static_cast<HeldLayer*>(layer)->own_functions());
  calls->setStrideNd(DimsOf(window.stride));
  calls->setPaddingNd(DimsOf(window.padding));
}

ShuffleLayerCalls* ShuffleOf(Held* layer) {
  return static_cast<ShuffleLayerCalls*>(static_cast<HeldLayer*>(layer)->own_functions());
}

void RequireLayer(const Held* layer) {
  if (layer == nullptr) {
    throw Refusal("the network does not take the layer");
  }
}

}  // namespace

Import::Import(const OnnxModel& model, Held& network)
    : model_(model), network_(static_cast<NetworkDefinitionCalls&>(*network.functions())) {}

const std::map<std::string, Import::Adder>& Import::Adders() {
  static const std::map<std::string, Adder> kAdders = {
      {"Add", &Import::ElementWise},
      {"Cast", &Import::Cast},
      {"Conv", &Import::Conv},
      {"DequantizeLinear", &Import::Quantize},
      {"Div", &Import::ElementWise},
      {"Flatten", &Import::Flatten},
      {"Gemm", &Import::Gemm},
      {"GlobalAveragePool", &Import::GlobalAveragePool},
      {"Identity", &Import::Identity},
      {"MatMul", &Import::MatMul},
      {"Max", &Import::ElementWise},
      {"MaxPool", &Import::MaxPool},
      {"Min", &Import::ElementWise},
      {"Mul", &Import::ElementWise},
      {"Neg", &Import::Neg},
      {"NonZero", &Import::NonZero},
      {"QuantizeLinear", &Import::Quantize},
      {"Relu", &Import::Activation},
      {"Reshape", &Import::Reshape},
      {"Sigmoid", &Import::Activation},
      {"Softmax", &Import::SoftMax},
      {"Sub", &Import::ElementWise},
      {"Tanh", &Import::Activation},
  };
  return kAdders;
}

// ---- Tensors -----------------------------------------------------------------------------------

void Import::Inputs() {
  for (const OnnxValue& input : model_.inputs) {
    if (model_.tensors.count(input.name) == 0) {  // older files name their weights here, too
      Held* added = network_.addInput(input.name.c_str(), input.type, DimsOf(input.shape));
      RequireLayer(added);
      tensors_[input.name] = added;
    }
  }
}

void Import::Outputs() {
  for (const OnnxValue& output : model_.outputs) {
    auto found = tensors_.find(output.name);
    if (found == tensors_.end()) {
      throw Refusal("no node gives the output '" + output.name + "'");
    }
    static_cast<TensorCalls*>(found->second->functions())->setName(output.name.c_str());
    network_.markOutput(*found->second);
  }
}

void Import::Names() {
  for (const auto& [name, tensor] : model_.tensors) {
    (void)network_.setWeightsName(tensor.weights(), name.c_str());
  }
}

void Import::AddNode(const OnnxNode& node) {
  auto adder = Adders().find(node.operation);
  if (adder == Adders().end()) {
    throw Refusal("the operator " + node.operation + " is not rehearsed");
  }
  (this->*adder->second)(node);
}

Shape Import::ShapeOfTensor(Held& tensor) {
  return ShapeOf(static_cast<TensorCalls*>(tensor.functions())->getDimensions());
}

Held& Import::OutputOf(Held* layer) {
  RequireLayer(layer);
  return *static_cast<LayerCalls*>(layer->functions())->getOutput(0);
}

void Import::Give(const OnnxNode& node, Held* layer) {
  RequireLayer(layer);
  static_cast<LayerCalls*>(layer->functions())->setName(node.name.c_str());
  tensors_[node.outputs.at(0)] = &OutputOf(layer);
}

const OnnxTensor* Import::WeightsOf(const OnnxNode& node, std::size_t index) const {
  if (index >= node.inputs.size()) {
    return nullptr;
  }
  auto found = model_.tensors.find(node.inputs[index]);
  return found == model_.tensors.end() ? nullptr : &found->second;
}

Held& Import::Constant(const OnnxTensor& tensor, const Shape& shape) {
  return OutputOf(network_.addConstant(DimsOf(shape), tensor.weights()));
}

Held& Import::Input(const OnnxNode& node, std::size_t index) {
  const OnnxTensor* weights = WeightsOf(node, index);
  return Input(node, index, weights == nullptr ? 0 : weights->shape.size());
}

Held& Import::Input(const OnnxNode& node, std::size_t index, std::size_t rank) {
  const OnnxTensor* weights = WeightsOf(node, index);
  if (weights != nullptr) {
    Shape shape = weights->shape;
    shape.insert(shape.begin(), rank - std::min(rank, shape.size()), 1);
    return Constant(*weights, shape);
  }
  auto found = index < node.inputs.size() ? tensors_.find(node.inputs[index]) : tensors_.end();
  if (found == tensors_.end()) {
    throw Refusal("input " + std::to_string(index) + " is given by no node before");
  }
  return *found->second;
}

// ---- Operators ---------------------------------------------------------------------------------

void Import::Activation(const OnnxNode& node) {
  Give(node, network_.addActivation(Input(node, 0), kActivations.at(node.operation)));
}

void Import::Identity(const OnnxNode& node) { Give(node, network_.addIdentity(Input(node, 0))); }

void Import::Neg(const OnnxNode& node) { Give(node, network_.addUnary(Input(node, 0), kNegative)); }

void Import::Cast(const OnnxNode& node) {
  Give(node, network_.addCast(Input(node, 0), OnnxType(NumberOf(node, "to", 0))));
}

void Import::ElementWise(const OnnxNode& node) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const OnnxTensor* weights = WeightsOf(node, i);
    rank = std::max(
        rank, weights == nullptr ? ShapeOfTensor(Input(node, i)).size() : weights->shape.size());
  }
  Give(node, network_.addElementWise(Input(node, 0, rank), Input(node, 1, rank),
                                     kPairs.at(node.operation)));
}

void Import::Conv(const OnnxNode& node) {
  const OnnxTensor* kernel = WeightsOf(node, 1);
  const OnnxTensor* bias = WeightsOf(node, 2);
  if (kernel == nullptr || kernel->shape.size() != 4) {
    throw Refusal("expected weights of four dimensions in the file");
  }
  Window window = WindowOf(node, {kernel->shape[2], kernel->shape[3]});
  Held* layer =
      network_.addConvolutionNd(Input(node, 0), kernel->shape[0], DimsOf(window.kernel),
                                kernel->weights(), bias == nullptr ? Weights{} : bias->weights());
  RequireLayer(layer);
  SetWindow<ConvolutionLayerCalls>(layer, window);
  Give(node, layer);
}

void Import::MaxPool(const OnnxNode& node) {
  Window window = WindowOf(node, {});
  Held* layer = network_.addPoolingNd(Input(node, 0), kMaximum, DimsOf(window.kernel));
  RequireLayer(layer);
  SetWindow<PoolingLayerCalls>(layer, window);
  Give(node, layer);
}

void Import::GlobalAveragePool(const OnnxNode& node) {
  Give(node, network_.addReduce(Input(node, 0), kMean, kRowsAndColumns, true));
}

void Import::Flatten(const OnnxNode& node) {
  if (NumberOf(node, "axis", 1) != 1) {
    throw Refusal("expected to keep the first dimension: nothing else is rehearsed");
  }
  Held* layer = network_.addShuffle(Input(node, 0));
  RequireLayer(layer);
  ShuffleOf(layer)->setReshapeDimensions(DimsOf({0, -1}));
  Give(node, layer);
}

void Import::Reshape(const OnnxNode& node) {
  Held* layer = network_.addShuffle(Input(node, 0));
  RequireLayer(layer);
  const OnnxTensor* shape = WeightsOf(node, 1);
  if (shape == nullptr) {
    static_cast<LayerCalls*>(layer->functions())->setInput(1, Input(node, 1));
  } else {
    Value sizes = Value::Read(shape->type, shape->shape, shape->bytes.data());
    ShuffleOf(layer)->setReshapeDimensions(DimsOf(sizes.integers));
  }
  Give(node, layer);
}

void Import::Gemm(const OnnxNode& node) {
  if (RealOf(node, "alpha", 1) != 1 || RealOf(node, "beta", 1) != 1) {
    throw Refusal("expected an alpha and a beta of 1: nothing else is rehearsed");
  }
  Held* product =
      network_.addMatrixMultiply(Input(node, 0), static_cast<int>(NumberOf(node, "transA", 0)),
                                 Input(node, 1), static_cast<int>(NumberOf(node, "transB", 0)));
  if (node.inputs.size() < 3) {
    return Give(node, product);
  }
  Give(node, network_.addElementWise(OutputOf(product), Input(node, 2, 2), kPairs.at("Add")));
}

void Import::MatMul(const OnnxNode& node) {
  Give(node, network_.addMatrixMultiply(Input(node, 0), 0, Input(node, 1), 0));
}

void Import::SoftMax(const OnnxNode& node) {
  Held& input = Input(node, 0);
  auto rank = static_cast<std::int64_t>(ShapeOfTensor(input).size());
  std::int64_t axis = NumberOf(node, "axis", model_.version < 13 ? 1 : -1);
  Held* layer = network_.addSoftMax(input);
  RequireLayer(layer);
  auto* calls = static_cast<SoftMaxLayerCalls*>(static_cast<HeldLayer*>(layer)->own_functions());
  calls->setAxes(1U << static_cast<unsigned>(axis < 0 ? axis + rank : axis));
  Give(node, layer);
}

// ONNX has these positions as numbers of 64 bits.
void Import::NonZero(const OnnxNode& node) {
  Held* layer = network_.addNonZero(Input(node, 0));
  Give(node, network_.addCast(OutputOf(layer), DataType::kInt64));
}

// The type of the zero point, which is 0, is that of the quantized tensor.
void Import::Quantize(const OnnxNode& node) {
  const OnnxTensor* zero = WeightsOf(node, 2);
  if (node.operation == "QuantizeLinear") {
    DataType type = zero == nullptr ? DataType::kInt8 : zero->type;
    Give(node, network_.addQuantizeV2(Input(node, 0), Input(node, 1), type));
  } else {
    Give(node, network_.addDequantizeV2(Input(node, 0), Input(node, 1), DataType::kFloat));
  }
}

}  // namespace rehearsal::trt
