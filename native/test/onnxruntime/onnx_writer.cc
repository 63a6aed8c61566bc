#include "test/onnxruntime/onnx_writer.h"

#include <unistd.h>

#include <fstream>
#include <string_view>

#include "doctest/doctest.h"

namespace nereid::test {
namespace {

// A message of the protobuf wire format: fields one after another, each behind its number and kind.
class Message {
 public:
  Message& Number(uint32_t field, int64_t value) {
    Varint(field << 3U);
    Varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& Bytes(uint32_t field, std::string_view bytes) {
    Varint(field << 3U | 2U);
    Varint(bytes.size());
    text_ += bytes;
    return *this;
  }
  Message& Sub(uint32_t field, const Message& message) { return Bytes(field, message.text_); }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) {
      text_ += static_cast<char>(value | 0x80U);
    }
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

constexpr int64_t kFp32 = 1;
constexpr int64_t kIrVersion = 8;
constexpr int64_t kOpsetVersion = 14;

// ValueInfoProto. A free dimension is one without a size.
Message ValueInfo(const OnnxGraph::Value& value) {
  Message shape;
  for (const int64_t dim : value.dims) {
    shape.Sub(1, dim < 0 ? Message() : Message().Number(1, dim));
  }
  const Message tensor = Message().Number(1, static_cast<int64_t>(value.type)).Sub(2, shape);
  return Message().Bytes(1, value.name).Sub(2, Message().Sub(1, tensor));
}

// TensorProto.
Message Weights(const OnnxGraph::Value& value, size_t index) {
  Message tensor;
  size_t count = 1;
  for (const int64_t dim : value.dims) {
    tensor.Number(1, dim);
    count *= static_cast<size_t>(dim);
  }
  std::vector<float> elements(count);
  for (size_t i = 0; i < count; ++i) {
    elements[i] = static_cast<float>((i + index) % 1021) / 1024;
  }
  return tensor.Number(2, kFp32)
      .Bytes(8, value.name)
      .Bytes(9, {reinterpret_cast<const char*>(elements.data()), count * sizeof(float)});
}

// NodeProto.
Message NodeOf(const OnnxGraph::Node& node) {
  Message message;
  for (const std::string& name : node.inputs) {
    message.Bytes(1, name);
  }
  for (const std::string& name : node.outputs) {
    message.Bytes(2, name);
  }
  return message.Bytes(4, node.type);
}

// ModelProto.
Message ModelOf(const OnnxGraph& graph) {
  Message message;
  for (const OnnxGraph::Node& node : graph.nodes) {
    message.Sub(1, NodeOf(node));
  }
  message.Bytes(2, "test");
  for (size_t i = 0; i < graph.weights.size(); ++i) {
    message.Sub(5, Weights(graph.weights[i], i));
  }
  for (const OnnxGraph::Value& value : graph.inputs) {
    message.Sub(11, ValueInfo(value));
  }
  for (const OnnxGraph::Value& value : graph.outputs) {
    message.Sub(12, ValueInfo(value));
  }
  return Message()
      .Number(1, kIrVersion)
      .Sub(7, message)
      .Sub(8, Message().Bytes(1, "").Number(2, kOpsetVersion));
}

}  // namespace

OnnxFile::OnnxFile(const OnnxGraph& graph)
    : path_(std::filesystem::temp_directory_path() / "nereid-test-XXXXXX") {
  const int file = mkstemp(path_.data());
  REQUIRE(file >= 0);
  close(file);
  std::ofstream stream(path_, std::ios::binary);
  stream << ModelOf(graph).text();
  stream.close();
  REQUIRE(stream.good());
}

OnnxFile::~OnnxFile() { std::filesystem::remove(path_); }

}  // namespace nereid::test
