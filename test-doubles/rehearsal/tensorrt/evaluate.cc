// Computes networks node by node.
#include <algorithm>

#include "nodes.h"

namespace rehearsal::trt {

namespace {

// Where each tensor is taken for the last time: then its memory is given back.
std::vector<std::size_t> LastUses(const Graph& graph) {
  std::vector<std::size_t> last(graph.tensors.size(), graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (int index : graph.nodes[i].inputs) {
      if (!graph.IsOutput(index)) {
        last[static_cast<std::size_t>(index)] = i;
      }
    }
  }
  return last;
}

}  // namespace

void Compute(const Node& node, const Values& inputs, Value* result) {
  switch (node.type) {
    case LayerType::kConstant:
      *result = *node.parameters.at("values").Read();
      return;
    case LayerType::kConvolution:
      return ComputeConvolution(node, *inputs[0], result);
    case LayerType::kPooling:
      return ComputePooling(node, *inputs[0], result);
    case LayerType::kMatrixMultiply:
      return ComputeProduct(node, *inputs[0], *inputs[1], result);
    case LayerType::kSoftMax:
      return ComputeSoftMax(node, *inputs[0], result);
    case LayerType::kReduce:
      return ComputeReduction(node, *inputs[0], result);
    case LayerType::kShape:
      result->integers = inputs[0]->shape;
      return;
    case LayerType::kNonZero:
      return ComputeNonZero(*inputs[0], result);
    case LayerType::kShuffle:
    case LayerType::kIdentity:
      result->reals = inputs[0]->reals;
      result->integers = inputs[0]->integers;
      return;
    default:
      return ComputeElements(node, inputs, result);
  }
}

Values Evaluate(const Graph& graph, const Values& inputs) {
  Values values(graph.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
  }
  std::vector<std::size_t> last = LastUses(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.type == LayerType::kConstant) {  // nothing is copied
      values[static_cast<std::size_t>(node.output)] = node.parameters.at("values").Read();
      continue;
    }
    Values taken;
    std::vector<DataType> types;
    std::vector<Shape> shapes;
    for (int index : node.inputs) {
      taken.push_back(values[static_cast<std::size_t>(index)]);
      types.push_back(taken.back()->type);
      shapes.push_back(taken.back()->shape);
    }
    Shape shape = OutputShape(node, shapes, taken);
    DataType type = OutputType(node, types);
    Value result = Value::Of(type, IsKnown(shape) ? shape : Shape{0});
    Compute(node, taken, &result);
    if (type == DataType::kFloat && graph.rounding != DataType::kFloat &&
        !graph.IsOutput(node.output)) {
      for (float& one : result.reals) {
        one = Rounded(graph.rounding, one);
      }
    }
    values[static_cast<std::size_t>(node.output)] = std::make_shared<Value>(std::move(result));
    for (int index : node.inputs) {
      if (last[static_cast<std::size_t>(index)] == i) {
        values[static_cast<std::size_t>(index)] = nullptr;
      }
    }
  }
  Values outputs;
  for (int index : graph.outputs) {
    outputs.push_back(values[static_cast<std::size_t>(index)]);
  }
  return outputs;
}

}  // namespace rehearsal::trt
