#include "graph.h"

#include <algorithm>
#include <set>

namespace rehearsal::trt {

std::shared_ptr<const Value> Parameter::Read() const {
  if (built != nullptr) {
    return built;
  }
  if (raw.count != Elements(shape)) {
    throw Refusal("expected " + std::to_string(Elements(shape)) + " weights for the shape " +
                  Text(shape) + ", got " + std::to_string(raw.count));
  }
  return std::make_shared<Value>(Value::Read(raw.type, shape, raw.values));
}

std::int64_t Node::Setting(const std::string& setting, std::int64_t otherwise) const {
  return Setting(setting, 1, otherwise)[0];
}

Shape Node::Setting(const std::string& setting, std::size_t count, std::int64_t otherwise) const {
  auto found = settings.find(setting);
  if (found == settings.end()) {
    return Shape(count, otherwise);
  }
  if (found->second.size() != count) {
    throw Refusal("layer '" + name + "': expected " + std::to_string(count) + " numbers as its " +
                  setting + ", got " + Text(found->second));
  }
  return found->second;
}

int Graph::Find(const std::string& tensor) const {
  for (const std::vector<int>* some : {&inputs, &outputs}) {
    for (int index : *some) {
      if (tensors[static_cast<std::size_t>(index)].name == tensor) {
        return index;
      }
    }
  }
  return -1;
}

bool Graph::IsInput(int tensor) const {
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

bool Graph::IsOutput(int tensor) const {
  return std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
}

bool Graph::IsHostOutput(int tensor) const {
  return std::find(host_outputs.begin(), host_outputs.end(), tensor) != host_outputs.end();
}

bool Graph::IsShapeInput(int tensor) const {
  std::set<int> decide;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (node->type == LayerType::kShuffle && node->inputs.size() == 2) {
      decide.insert(node->inputs[1]);
    }
    // Of what a shape is taken, the values decide nothing.
    if (decide.count(node->output) != 0 && node->type != LayerType::kShape) {
      decide.insert(node->inputs.begin(), node->inputs.end());
    }
  }
  return IsInput(tensor) && decide.count(tensor) != 0;
}

void Graph::CopyWeights() {
  for (Node& node : nodes) {
    for (auto& [role, parameter] : node.parameters) {
      parameter.built = parameter.Read();
      parameter.raw = {};
      if (parameter.name.empty()) {
        parameter.name = node.name + " " + role;
      }
    }
  }
}

std::size_t Graph::WeightBytes() const {
  std::size_t bytes = 0;
  for (const Node& node : nodes) {
    for (const auto& [role, parameter] : node.parameters) {
      bool halved = rounding != DataType::kFloat && parameter.built->type == DataType::kFloat;
      bytes += parameter.built->ByteSize() / (halved ? 2 : 1);
    }
  }
  return bytes;
}

}  // namespace rehearsal::trt
