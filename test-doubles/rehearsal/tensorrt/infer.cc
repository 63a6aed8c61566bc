// Types and shapes of what nodes compute.
#include <algorithm>

#include "nodes.h"

namespace rehearsal::trt {

namespace {

// Larger values are never computed ahead: what decides on shapes is small.
constexpr std::int64_t kMostFolded = 64;

[[noreturn]] void Refuse(const Node& node, const std::string& why) {
  throw Refusal("layer '" + node.name + "': " + why);
}

Shape Broadcast(const Node& node, const Shape& left, const Shape& right) {
  bool fits = left.size() == right.size();
  Shape shape(left.size());
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    bool equal = left[i] == right[i] || left[i] < 0 || right[i] < 0;
    fits = equal || left[i] == 1 || right[i] == 1;
    bool take_right = left[i] == 1 || (left[i] < 0 && right[i] > 1);
    shape[i] = take_right ? right[i] : left[i];
  }
  if (!fits) {
    Refuse(node, "expected shapes of which one can be spread over the other, got " + Text(left) +
                     " and " + Text(right));
  }
  return shape;
}

// The planes that a window goes over: rows and columns behind images and channels.
Shape Windows(const Node& node, const Shape& input, std::int64_t channels) {
  if (input.size() != 4) {
    Refuse(node, "expected images, channels, rows and columns, got " + Text(input));
  }
  Shape kernel = node.Setting("kernel", 2, 1);
  Shape stride = node.Setting("stride", 2, 1);
  Shape padding = node.Setting("padding", 2, 0);
  Shape shape = {input[0], channels, -1, -1};
  for (std::size_t i = 0; i < 2; ++i) {
    if (input[i + 2] < 0) {
      continue;
    }
    std::int64_t room = input[i + 2] + 2 * padding[i] - kernel[i];
    if (room < 0 || stride[i] < 1) {
      Refuse(node, "expected a window that fits into " + Text(input) + ", got " + Text(kernel));
    }
    shape[i + 2] = room / stride[i] + 1;
  }
  return shape;
}

Shape Product(const Node& node, const Shape& left, const Shape& right) {
  bool flip_left = node.Setting("left", 0) == kTransposed;
  bool flip_right = node.Setting("right", 0) == kTransposed;
  if (left.size() != 2 || right.size() != 2) {
    Refuse(node, "expected matrices, got " + Text(left) + " and " + Text(right));
  }
  std::int64_t inner = left[flip_left ? 0 : 1];
  std::int64_t other = right[flip_right ? 1 : 0];
  if (inner >= 0 && other >= 0 && inner != other) {
    Refuse(node,
           "expected matrices that can be multiplied, got " + Text(left) + " and " + Text(right));
  }
  return {left[flip_left ? 1 : 0], right[flip_right ? 0 : 1]};
}

Shape Reduced(const Node& node, const Shape& input) {
  std::vector<std::size_t> axes = AxesOf(node.Setting("axes", 0), input.size());
  bool keep = node.Setting("keep", 0) != 0;
  Shape shape;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      shape.push_back(input[i]);
    } else if (keep) {
      shape.push_back(1);
    }
  }
  return shape;
}

// 0 takes the size of the input at the same place, -1 what is left.
Shape Reshaped(const Node& node, const Shape& input, const Shape& wanted) {
  Shape shape = wanted;
  int open = 0;
  std::int64_t rest = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < input.size() && node.Setting("zero_is_size", 1) != 0) {
      shape[i] = input[i];
      open += input[i] < 0 ? 2 : 0;  // of unknown size, and nobody may work it out
    } else if (shape[i] == -1) {
      ++open;
    }
    rest *= shape[i] < 0 ? 1 : shape[i];
  }
  if (!IsKnown(input) || open > 1) {
    return shape;
  }
  std::int64_t count = Elements(input);
  for (std::int64_t& size : shape) {
    if (size == -1 && rest != 0) {
      size = count / rest;
    }
  }
  return shape;
}

void RequireElements(const Node& node, const Shape& input, const Shape& shape) {
  if (IsKnown(input) && IsKnown(shape) && Elements(shape) != Elements(input)) {
    Refuse(node, "expected a shape of " + std::to_string(Elements(input)) + " elements, got " +
                     Text(shape));
  }
}

Shape Shuffled(const Node& node, const Shape& input, const std::vector<Shape>& inputs,
               const Values& values) {
  if (inputs.size() == 1) {
    auto wanted = node.settings.find("reshape");
    Shape shape = wanted == node.settings.end() ? input : Reshaped(node, input, wanted->second);
    RequireElements(node, input, shape);
    return shape;
  }
  if (values[1] != nullptr) {
    // Whether the number of elements is right is seen by what has them: the largest shapes of a
    // profile need not go together.
    Shape shape = Reshaped(node, input, values[1]->integers);
    if (values[0] != nullptr) {
      RequireElements(node, input, shape);
    }
    return shape;
  }
  if (inputs[1].size() != 1 || inputs[1][0] < 0) {
    Refuse(node, "expected a list of sizes as the shape, got a tensor of " + Text(inputs[1]));
  }
  return Shape(static_cast<std::size_t>(inputs[1][0]), -1);
}

}  // namespace

std::vector<std::size_t> AxesOf(std::int64_t mask, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (((mask >> i) & 1) != 0) {
      axes.push_back(i);
    }
  }
  return axes;
}

DataType OutputType(const Node& node, const std::vector<DataType>& inputs) {
  for (DataType type : inputs) {
    // As TensorRT: these come in and go out by one kind of node alone.
    bool by_cast = type == DataType::kUint8 && node.type != LayerType::kCast;
    bool by_quantizing = type == DataType::kFp8 && node.type != LayerType::kDequantize;
    if (by_cast || by_quantizing) {
      Refuse(node, std::string("takes no input of the type ") + NameOf(type));
    }
  }
  switch (node.type) {
    case LayerType::kConstant:
      return static_cast<DataType>(node.Setting("type", 0));
    case LayerType::kCast:
    case LayerType::kQuantize:
    case LayerType::kDequantize:
      return static_cast<DataType>(node.Setting("type", 0));
    case LayerType::kNonZero:
      return DataType::kInt32;
    case LayerType::kShape:
      return DataType::kInt64;
    case LayerType::kElementWise:
    case LayerType::kMatrixMultiply:
      if (inputs[0] != inputs[1]) {
        Refuse(node, std::string("expected two inputs of one type, got ") + NameOf(inputs[0]) +
                         " and " + NameOf(inputs[1]));
      }
      return inputs[0];
    default:
      return inputs[0];
  }
}

Shape OutputShape(const Node& node, const std::vector<Shape>& inputs, const Values& values) {
  switch (node.type) {
    case LayerType::kConstant:
      return node.settings.at("shape");
    case LayerType::kConvolution: {
      const Shape& kernel = node.parameters.at("kernel").shape;
      if (inputs[0].size() == 4 && inputs[0][1] >= 0 && inputs[0][1] != kernel[1]) {
        Refuse(node, "expected " + std::to_string(kernel[1]) + " channels, got " + Text(inputs[0]));
      }
      return Windows(node, inputs[0], kernel[0]);
    }
    case LayerType::kPooling:
      return Windows(node, inputs[0], inputs[0].size() == 4 ? inputs[0][1] : 0);
    case LayerType::kElementWise:
      return Broadcast(node, inputs[0], inputs[1]);
    case LayerType::kMatrixMultiply:
      return Product(node, inputs[0], inputs[1]);
    case LayerType::kReduce:
      return Reduced(node, inputs[0]);
    case LayerType::kShuffle:
      return Shuffled(node, inputs[0], inputs, values);
    case LayerType::kNonZero:
      return {static_cast<std::int64_t>(inputs[0].size()), -1};
    case LayerType::kShape:
      return {static_cast<std::int64_t>(inputs[0].size())};
    default:
      return inputs[0];
  }
}

std::vector<Known> Infer(const Graph& graph, const std::map<int, Known>& inputs) {
  std::vector<Known> known(graph.tensors.size());
  for (const auto& [index, input] : inputs) {
    known[static_cast<std::size_t>(index)] = input;
  }
  for (const Node& node : graph.nodes) {
    std::vector<DataType> types;
    std::vector<Shape> shapes;
    std::vector<Shape> most;
    Values values;
    bool small = true;
    for (int index : node.inputs) {
      const Known& input = known[static_cast<std::size_t>(index)];
      types.push_back(input.type);
      shapes.push_back(input.shape);
      most.push_back(input.most);
      values.push_back(input.value);
      small = small && input.value != nullptr;
    }
    Known output;
    output.type = OutputType(node, types);
    output.shape = OutputShape(node, shapes, values);
    output.most = OutputShape(node, most, values);
    if (node.type == LayerType::kNonZero && IsKnown(most[0])) {
      output.most[1] = Elements(most[0]);
    }
    if (node.type == LayerType::kShape && IsKnown(shapes[0])) {
      output.value = std::make_shared<Value>(Value{output.type, output.shape, {}, shapes[0]});
    } else if (small && IsKnown(output.shape) && Elements(output.shape) <= kMostFolded) {
      Value value = Value::Of(output.type, output.shape);
      Compute(node, values, &value);
      output.value = std::make_shared<Value>(std::move(value));
    }
    known[static_cast<std::size_t>(node.output)] = std::move(output);
  }
  return known;
}

std::vector<Known> Infer(const Graph& graph) {
  std::map<int, Known> inputs;
  for (int index : graph.inputs) {
    const Tensor& tensor = graph.tensors[static_cast<std::size_t>(index)];
    inputs[index] = {tensor.type, tensor.shape, tensor.shape, nullptr};
  }
  return Infer(graph, inputs);
}

}  // namespace rehearsal::trt
