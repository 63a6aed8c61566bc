#include "layers.h"

#include <algorithm>

namespace rehearsal::trt {

// ---- Tensors -----------------------------------------------------------------------------------

TensorObject::TensorObject(Network* network, int index)
    : Held(static_cast<TensorCalls*>(this)), network_(network), index_(index) {}

// The network's: callers delete none.
void TensorObject::Delete() {}

void TensorObject::setName(const char* name) {
  if (network_->IsAlive("ITensor::setName")) {
    network_->graph().tensors[static_cast<std::size_t>(index_)].name = name;
  }
}

const char* TensorObject::getName() const {
  if (!network_->IsAlive("ITensor::getName")) {
    return nullptr;
  }
  return network_->graph().tensors[static_cast<std::size_t>(index_)].name.c_str();
}

Dims TensorObject::getDimensions() const {
  if (!network_->IsAlive("ITensor::getDimensions")) {
    return {};
  }
  return DimsOf(network_->KnownOf(index_).shape);
}

DataType TensorObject::getType() const {
  return network_->IsAlive("ITensor::getType") ? network_->KnownOf(index_).type : DataType::kFloat;
}

bool TensorObject::isNetworkInput() const {
  return network_->IsAlive("ITensor::isNetworkInput") && network_->graph().IsInput(index_);
}

bool TensorObject::isNetworkOutput() const {
  return network_->IsAlive("ITensor::isNetworkOutput") && network_->graph().IsOutput(index_);
}

bool TensorObject::isShapeTensor() const {
  return network_->IsAlive("ITensor::isShapeTensor") && network_->graph().IsShapeInput(index_);
}

// ---- What all layers have ----------------------------------------------------------------------

LayerObject::LayerObject(Network* network, std::size_t index, void* own_functions)
    : HeldLayer(static_cast<LayerCalls*>(this), own_functions), network_(network), index_(index) {}

// The network's: callers delete none.
void LayerObject::Delete() {}

Node& LayerObject::node() const { return network_->graph().nodes.at(index_); }

void LayerObject::Set(const char* call, const char* setting, const Shape& numbers) {
  if (network_->IsAlive(call)) {
    node().settings[setting] = numbers;
  }
}

LayerType LayerObject::getType() const {
  return network_->IsAlive("ILayer::getType") ? node().type : LayerType::kIdentity;
}

void LayerObject::setName(const char* name) {
  if (network_->IsAlive("ILayer::setName")) {
    node().name = name;
  }
}

const char* LayerObject::getName() const {
  return network_->IsAlive("ILayer::getName") ? node().name.c_str() : nullptr;
}

std::int32_t LayerObject::getNbInputs() const {
  return network_->IsAlive("ILayer::getNbInputs") ? static_cast<int>(node().inputs.size()) : 0;
}

Held* LayerObject::getInput(std::int32_t index) const {
  if (!network_->IsAlive("ILayer::getInput") || index >= getNbInputs()) {
    return nullptr;
  }
  return network_->TensorAt(node().inputs[static_cast<std::size_t>(index)]);
}

std::int32_t LayerObject::getNbOutputs() const { return 1; }

Held* LayerObject::getOutput(std::int32_t index) const {
  if (!network_->IsAlive("ILayer::getOutput") || index != 0) {
    return nullptr;
  }
  return network_->TensorAt(node().output);
}

void LayerObject::setInput(std::int32_t index, Held& tensor) {
  if (!network_->IsAlive("ILayer::setInput") || index < 0 || index > getNbInputs()) {
    return;
  }
  node().inputs.resize(static_cast<std::size_t>(std::max(getNbInputs(), index + 1)));
  node().inputs[static_cast<std::size_t>(index)] = IndexOf(tensor);
}

// ---- Kinds of layers ---------------------------------------------------------------------------

namespace {

// Of which callers use nothing but what all layers have.
class PlainLayer final : public LayerObject {
 public:
  PlainLayer(Network* network, std::size_t index) : LayerObject(network, index, nullptr) {}
};

// The functions that convolutions and poolings have in common, under the same names.
template <typename Calls>
class WindowLayer final : public LayerObject, public Calls {
 public:
  WindowLayer(Network* network, std::size_t index)
      : LayerObject(network, index, static_cast<Calls*>(this)) {}

  void setStrideNd(const Dims& stride) override { Set("setStrideNd", "stride", ShapeOf(stride)); }
  void setPaddingNd(const Dims& padding) override {
    Set("setPaddingNd", "padding", ShapeOf(padding));
  }
};

class SoftMaxLayer final : public LayerObject, public SoftMaxLayerCalls {
 public:
  SoftMaxLayer(Network* network, std::size_t index)
      : LayerObject(network, index, static_cast<SoftMaxLayerCalls*>(this)) {}

  void setAxes(std::uint32_t axes) override { Set("ISoftMaxLayer::setAxes", "axes", {axes}); }
};

class ShuffleLayer final : public LayerObject, public ShuffleLayerCalls {
 public:
  ShuffleLayer(Network* network, std::size_t index)
      : LayerObject(network, index, static_cast<ShuffleLayerCalls*>(this)) {}

  void setReshapeDimensions(const Dims& dims) override {
    Set("IShuffleLayer::setReshapeDimensions", "reshape", ShapeOf(dims));
  }
};

}  // namespace

std::unique_ptr<LayerObject> NewLayer(Network* network, std::size_t index, LayerType type) {
  switch (type) {
    case LayerType::kConvolution:
      return std::make_unique<WindowLayer<ConvolutionLayerCalls>>(network, index);
    case LayerType::kPooling:
      return std::make_unique<WindowLayer<PoolingLayerCalls>>(network, index);
    case LayerType::kSoftMax:
      return std::make_unique<SoftMaxLayer>(network, index);
    case LayerType::kShuffle:
      return std::make_unique<ShuffleLayer>(network, index);
    default:
      return std::make_unique<PlainLayer>(network, index);
  }
}

}  // namespace rehearsal::trt
