#include "plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "archive.h"
#include "version.h"

namespace rehearsal::trt {

namespace {

// The beginning is that of TensorRT's plans as far as its own tools read it.
struct Header {
  char tag[4] = {'f', 't', 'r', 't'};
  std::uint32_t format = 0;
  std::uint64_t bytes = 0;     // of the whole plan
  std::uint64_t checksum = 0;  // of what follows
  std::uint8_t version[4] = {kMajor, kMinor, kPatch, kBuild};
  std::uint32_t unused = 0;
};
static_assert(sizeof(Header) == 32);

std::uint64_t Checksum(const std::byte* bytes, std::size_t size) {
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (std::size_t i = 0; i < size; ++i) {
    sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001B3U;
  }
  return sum;
}

void WriteRanges(Writer* to, const std::map<std::string, Range>& ranges) {
  to->Number(static_cast<std::int64_t>(ranges.size()));
  for (const auto& [input, range] : ranges) {
    to->Text(input);
    for (const Shape& shape : range) {
      to->Numbers(shape);
    }
  }
}

std::map<std::string, Range> ReadRanges(Reader* from) {
  std::map<std::string, Range> ranges;
  for (std::size_t left = from->Count(); left > 0; --left) {
    Range& range = ranges[from->Text()];
    for (Shape& shape : range) {
      shape = from->Numbers();
    }
  }
  return ranges;
}

void WriteNode(Writer* to, const Node& node) {
  to->Number(static_cast<std::int64_t>(node.type));
  to->Text(node.name);
  to->Numbers(Shape(node.inputs.begin(), node.inputs.end()));
  to->Number(node.output);
  to->Number(static_cast<std::int64_t>(node.settings.size()));
  for (const auto& [setting, numbers] : node.settings) {
    to->Text(setting);
    to->Numbers(numbers);
  }
  to->Number(static_cast<std::int64_t>(node.parameters.size()));
  for (const auto& [role, parameter] : node.parameters) {
    to->Text(role);
    to->Text(parameter.name);
    to->Number(parameter.stripped ? 1 : 0);
    if (parameter.stripped) {
      to->Number(static_cast<std::int64_t>(parameter.built->type));
      to->Numbers(parameter.built->shape);
    } else {
      to->Tensor(*parameter.built);
    }
  }
}

// The number of one of so many tensors.
int Index(std::int64_t number, std::size_t count) {
  if (number < 0 || number >= static_cast<std::int64_t>(count)) {
    throw Refusal("the plan names tensor " + std::to_string(number) + " of " +
                  std::to_string(count));
  }
  return static_cast<int>(number);
}

std::vector<int> Indexes(const Shape& numbers, std::size_t count) {
  std::vector<int> indexes;
  for (std::int64_t number : numbers) {
    indexes.push_back(Index(number, count));
  }
  return indexes;
}

// Weights that are not there: no numbers.
Value ReadStripped(Reader* from) {
  auto type = static_cast<DataType>(from->Number());
  Shape shape = from->Numbers();
  if (!IsReal(type) || !IsKnown(shape)) {
    throw Refusal("the plan lacks weights of the shape " + Text(shape));
  }
  Value value = Value::Of(type, shape);
  std::fill(value.reals.begin(), value.reals.end(), std::numeric_limits<float>::quiet_NaN());
  return value;
}

Node ReadNode(Reader* from, std::size_t tensors) {
  Node node;
  node.type = static_cast<LayerType>(from->Number());
  node.name = from->Text();
  node.inputs = Indexes(from->Numbers(), tensors);
  node.output = Index(from->Number(), tensors);
  for (std::size_t left = from->Count(); left > 0; --left) {
    std::string setting = from->Text();
    node.settings[setting] = from->Numbers();
  }
  for (std::size_t left = from->Count(); left > 0; --left) {
    Parameter& parameter = node.parameters[from->Text()];
    parameter.name = from->Text();
    parameter.stripped = from->Number() != 0;
    parameter.built =
        std::make_shared<Value>(parameter.stripped ? ReadStripped(from) : from->Tensor());
    parameter.shape = parameter.built->shape;
  }
  return node;
}

void WriteGraph(Writer* to, const Graph& graph) {
  to->Text(graph.name);
  to->Number(graph.strongly_typed ? 1 : 0);
  to->Number(static_cast<std::int64_t>(graph.rounding));
  to->Number(static_cast<std::int64_t>(graph.tensors.size()));
  for (const Tensor& tensor : graph.tensors) {
    to->Text(tensor.name);
    to->Number(static_cast<std::int64_t>(tensor.type));
    to->Numbers(tensor.shape);
  }
  to->Number(static_cast<std::int64_t>(graph.nodes.size()));
  for (const Node& node : graph.nodes) {
    WriteNode(to, node);
  }
  to->Numbers(Shape(graph.inputs.begin(), graph.inputs.end()));
  to->Numbers(Shape(graph.outputs.begin(), graph.outputs.end()));
  to->Numbers(Shape(graph.host_outputs.begin(), graph.host_outputs.end()));
}

Graph ReadGraph(Reader* from) {
  Graph graph;
  graph.name = from->Text();
  graph.strongly_typed = from->Number() != 0;
  graph.rounding = static_cast<DataType>(from->Number());
  for (std::size_t left = from->Count(); left > 0; --left) {
    Tensor tensor;
    tensor.name = from->Text();
    tensor.type = static_cast<DataType>(from->Number());
    tensor.shape = from->Numbers();
    graph.tensors.push_back(std::move(tensor));
  }
  for (std::size_t left = from->Count(); left > 0; --left) {
    graph.nodes.push_back(ReadNode(from, graph.tensors.size()));
  }
  graph.inputs = Indexes(from->Numbers(), graph.tensors.size());
  graph.outputs = Indexes(from->Numbers(), graph.tensors.size());
  graph.host_outputs = Indexes(from->Numbers(), graph.tensors.size());
  return graph;
}

}  // namespace

std::vector<std::byte> WritePlan(const Plan& plan) {
  Writer body;
  body.Number(plan.compute_capability[0]);
  body.Number(plan.compute_capability[1]);
  body.Number(plan.hardware_compatible ? 1 : 0);
  body.Number(plan.has_host_code ? 1 : 0);
  body.Number(plan.streams_weights ? 1 : 0);
  body.Number(plan.refittable ? 1 : 0);
  body.Number(plan.stripped_bytes);
  body.Number(static_cast<std::int64_t>(plan.profiles.size()));
  for (const Profile& profile : plan.profiles) {
    WriteRanges(&body, profile.shapes);
    WriteRanges(&body, profile.values);
  }
  WriteGraph(&body, plan.graph);
  Header header;
  header.bytes = sizeof(header) + body.bytes().size();
  header.checksum = Checksum(body.bytes().data(), body.bytes().size());
  std::vector<std::byte> bytes(header.bytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), body.bytes().data(), body.bytes().size());
  return bytes;
}

Plan ReadPlan(const void* bytes, std::size_t size) {
  Header expected;
  Header header;
  if (size < sizeof(header)) {
    throw Refusal("expected a plan, got " + std::to_string(size) + " bytes");
  }
  std::memcpy(&header, bytes, sizeof(header));
  if (std::memcmp(header.tag, expected.tag, sizeof(header.tag)) != 0 || header.format != 0) {
    throw Refusal("the magic tag at the beginning does not match: this is no plan");
  }
  if (std::memcmp(header.version, expected.version, sizeof(header.version)) != 0) {
    throw Refusal(
        "The engine plan file is not compatible with this version of TensorRT, expecting"
        " library version " +
        VersionText(expected.version) + " got " + VersionText(header.version) +
        ", please rebuild.");
  }
  const std::byte* body = static_cast<const std::byte*>(bytes) + sizeof(header);
  std::size_t body_size = size - sizeof(header);
  if (header.bytes != size || header.checksum != Checksum(body, body_size)) {
    throw Refusal("expected a plan of " + std::to_string(header.bytes) +
                  " bytes with their checksum, got " + std::to_string(size) +
                  ": it is cut off or damaged");
  }
  Reader from(body, body_size);
  Plan plan;
  plan.compute_capability[0] = static_cast<int>(from.Number());
  plan.compute_capability[1] = static_cast<int>(from.Number());
  plan.hardware_compatible = from.Number() != 0;
  plan.has_host_code = from.Number() != 0;
  plan.streams_weights = from.Number() != 0;
  plan.refittable = from.Number() != 0;
  plan.stripped_bytes = from.Number();
  for (std::size_t left = from.Count(); left > 0; --left) {
    Profile profile;
    profile.shapes = ReadRanges(&from);
    profile.values = ReadRanges(&from);
    plan.profiles.push_back(std::move(profile));
  }
  plan.graph = ReadGraph(&from);
  from.End();
  return plan;
}

std::vector<Known> InferLargest(const Plan& plan, std::size_t profile) {
  std::map<int, Known> inputs;
  const Profile& chosen = plan.profiles.at(profile);
  for (int index : plan.graph.inputs) {
    const Tensor& tensor = plan.graph.tensors[static_cast<std::size_t>(index)];
    const Shape& largest = chosen.shapes.at(tensor.name)[2];
    inputs[index] = {tensor.type, largest, largest, nullptr};
    auto values = chosen.values.find(tensor.name);
    if (values != chosen.values.end()) {
      Value value = Value::Of(tensor.type, largest);
      value.integers = values->second[2];
      inputs[index].value = std::make_shared<Value>(std::move(value));
    }
  }
  return Infer(plan.graph, inputs);
}

std::size_t ActivationBytes(const Plan& plan, std::size_t profile) {
  constexpr std::size_t kUnit = 512;
  std::vector<Known> known = InferLargest(plan, profile);
  std::size_t bytes = 0;
  for (const Node& node : plan.graph.nodes) {
    const Known& output = known[static_cast<std::size_t>(node.output)];
    if (IsKnown(output.most) && node.type != LayerType::kConstant) {
      auto size = static_cast<std::size_t>(Elements(output.most)) * BytesOf(output.type);
      bytes += (size + kUnit - 1) / kUnit * kUnit;
    }
  }
  return std::max(bytes, kUnit);
}

}  // namespace rehearsal::trt
