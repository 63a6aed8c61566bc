// A network as plans carry it: tensors, and nodes that compute them from others.
#ifndef NEREID_REHEARSAL_TENSORRT_GRAPH_H_
#define NEREID_REHEARSAL_TENSORRT_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interfaces/network.h"
#include "value.h"

namespace rehearsal::trt {

// Weights of a node. They are read where the caller has them until the build has copied them.
struct Parameter {
  Weights raw;
  Shape shape;
  std::shared_ptr<const Value> built;
  std::string name;       // empty until somebody gives it one, or the network is built
  bool stripped = false;  // the plan has none: what was built is no numbers

  // Whether a refitter can change it: real numbers alone, so that no shape depends on them.
  [[nodiscard]] bool IsRefittable() const { return IsReal(built->type) && built->Count() > 0; }

  [[nodiscard]] std::shared_ptr<const Value> Read() const;
};

struct Node {
  LayerType type = LayerType::kIdentity;
  std::string name;
  std::vector<int> inputs;  // of Graph::tensors
  int output = 0;
  // What the layer was told beside its inputs, such as "stride"; what it was not told is absent.
  std::map<std::string, Shape> settings;
  std::map<std::string, Parameter> parameters;

  // A setting of one number.
  [[nodiscard]] std::int64_t Setting(const std::string& setting, std::int64_t otherwise) const;
  // A setting of so many numbers, each of which is `otherwise` where it was not told.
  [[nodiscard]] Shape Setting(const std::string& setting, std::size_t count,
                              std::int64_t otherwise) const;
};

struct Tensor {
  std::string name;
  // Of inputs of the network; the others have what their node computes.
  DataType type = DataType::kFloat;
  Shape shape;
};

struct Graph {
  std::string name;
  bool strongly_typed = false;
  // What FP32 may be rounded to between nodes; kFloat: nothing.
  DataType rounding = DataType::kFloat;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;  // each after those whose outputs it takes
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<int> host_outputs;  // those of them that go to the processor's memory

  // The tensor of that name among inputs and outputs; -1: there is none.
  [[nodiscard]] int Find(const std::string& tensor) const;
  [[nodiscard]] bool IsInput(int tensor) const;
  [[nodiscard]] bool IsOutput(int tensor) const;
  [[nodiscard]] bool IsHostOutput(int tensor) const;
  // The input's values decide on the shape of something.
  [[nodiscard]] bool IsShapeInput(int tensor) const;
  // Copies the weights of all nodes, and names those that have no name after their layer.
  void CopyWeights();
  [[nodiscard]] std::size_t WeightBytes() const;
};

// What is known of a tensor before the network runs.
struct Known {
  DataType type = DataType::kFloat;
  Shape shape;                         // -1: any size, or one that the data decide
  Shape most;                          // -1: any size; what the data decide is at most this
  std::shared_ptr<const Value> value;  // of small tensors that are known altogether; else null
};

// What is known of all tensors out of what is known of the inputs, by their numbers. Throws Refusal
// where nodes do not fit together.
std::vector<Known> Infer(const Graph& graph, const std::map<int, Known>& inputs);

// The same with the inputs as they are defined.
std::vector<Known> Infer(const Graph& graph);

using Values = std::vector<std::shared_ptr<const Value>>;

// Computes the outputs; `inputs` and what comes back are in the order of the graph's.
Values Evaluate(const Graph& graph, const Values& inputs);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_GRAPH_H_
