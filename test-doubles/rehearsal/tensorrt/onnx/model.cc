#include "model.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "attributes.h"
#include "wire.h"

namespace rehearsal::trt {

namespace {

OnnxNode ReadNode(std::string_view bytes) {
  OnnxNode node;
  Field field;
  for (Message message(bytes); message.Next(&field);) {
    std::string text(field.bytes);
    if (field.number == 1) {
      node.inputs.push_back(text);
    } else if (field.number == 2) {
      node.outputs.push_back(text);
    } else if (field.number == 3) {
      node.name = text;
    } else if (field.number == 4) {
      node.operation = text;
    } else if (field.number == 5) {
      std::string name;
      OnnxAttribute attribute;
      Field part;
      for (Message parts(field.bytes); parts.Next(&part);) {
        if (part.number == 1) {
          name = std::string(part.bytes);
        } else if (part.number == 2) {
          attribute.real = std::bit_cast<float>(static_cast<std::uint32_t>(part.value));
        } else if (part.number == 3 || part.number == 8) {
          std::vector<std::int64_t> numbers = part.Numbers();
          attribute.numbers.insert(attribute.numbers.end(), numbers.begin(), numbers.end());
        }
      }
      node.attributes[name] = attribute;
    }
  }
  return node;
}

Shape ReadShape(std::string_view bytes) {
  Shape shape;
  Field field;
  for (Message message(bytes); message.Next(&field);) {
    if (field.number == 1) {
      std::int64_t size = -1;
      Field part;
      for (Message parts(field.bytes); parts.Next(&part);) {
        size = part.number == 1 ? static_cast<std::int64_t>(part.value) : size;
      }
      shape.push_back(size);
    }
  }
  return shape;
}

OnnxValue ReadValue(std::string_view bytes) {
  OnnxValue value;
  Field field;
  for (Message message(bytes); message.Next(&field);) {
    if (field.number == 1) {
      value.name = std::string(field.bytes);
    }
    Field kind;
    for (Message kinds(field.number == 2 ? field.bytes : ""); kinds.Next(&kind);) {
      Field part;
      for (Message parts(kind.number == 1 ? kind.bytes : ""); parts.Next(&part);) {
        if (part.number == 1) {
          value.type = OnnxType(static_cast<std::int64_t>(part.value));
        } else if (part.number == 2) {
          value.shape = ReadShape(part.bytes);
        }
      }
    }
  }
  return value;
}

}  // namespace

Weights OnnxTensor::weights() const { return {type, bytes.data(), Elements(shape)}; }

OnnxModel::OnnxModel(std::string file) : file_(std::move(file)) {
  Field field;
  bool has_graph = false;
  for (Message message(file_); message.Next(&field);) {
    if (field.number == 7 && field.has_bytes) {
      ReadGraph(field.bytes);
      has_graph = true;
    } else if (field.number == 8 && field.has_bytes) {
      Field part;
      for (Message parts(field.bytes); parts.Next(&part);) {
        version = part.number == 2 ? static_cast<std::int64_t>(part.value) : version;
      }
    }
  }
  if (!has_graph) {
    throw Refusal("the file has no graph: it is none of ONNX");
  }
}

void OnnxModel::ReadGraph(std::string_view bytes) {
  Field field;
  for (Message message(bytes); message.Next(&field);) {
    if (field.number == 1) {
      nodes.push_back(ReadNode(field.bytes));
    } else if (field.number == 5) {
      ReadTensor(field.bytes);
    } else if (field.number == 11) {
      inputs.push_back(ReadValue(field.bytes));
    } else if (field.number == 12) {
      outputs.push_back(ReadValue(field.bytes));
    }
  }
}

void OnnxModel::ReadTensor(std::string_view bytes) {
  OnnxTensor tensor;
  std::string name;
  std::string reals;                   // bytes of them
  std::vector<std::int64_t> integers;  // of types that are not written as their bytes
  Field field;
  for (Message message(bytes); message.Next(&field);) {
    if (field.number == 1) {
      std::vector<std::int64_t> sizes = field.Numbers();
      tensor.shape.insert(tensor.shape.end(), sizes.begin(), sizes.end());
    } else if (field.number == 2) {
      tensor.type = OnnxType(static_cast<std::int64_t>(field.value));
    } else if (field.number == 4 && field.has_bytes) {
      reals += field.bytes;
    } else if (field.number == 4) {
      auto bits = static_cast<std::uint32_t>(field.value);
      reals.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
    } else if (field.number == 5 || field.number == 7) {
      std::vector<std::int64_t> numbers = field.Numbers();
      integers.insert(integers.end(), numbers.begin(), numbers.end());
    } else if (field.number == 8) {
      name = std::string(field.bytes);
    } else if (field.number == 9) {
      tensor.bytes = field.bytes;
    } else if (field.number == 14 && field.value != 0) {
      throw Refusal("weights in another file are not rehearsed");
    }
  }
  if (!reals.empty()) {
    tensor.bytes = unpacked_.emplace_back(std::move(reals));
  } else if (!integers.empty()) {
    std::string& packed = unpacked_.emplace_back();
    for (std::int64_t number : integers) {  // the low bytes come first
      packed.append(reinterpret_cast<const char*>(&number), BytesOf(tensor.type));
    }
    tensor.bytes = packed;
  }
  if (tensor.bytes.size() !=
      static_cast<std::size_t>(Elements(tensor.shape)) * BytesOf(tensor.type)) {
    throw Refusal("the weights '" + name + "' have " + std::to_string(tensor.bytes.size()) +
                  " bytes for the shape " + Text(tensor.shape));
  }
  tensors[name] = tensor;
}

void OnnxModel::Spoil() {
  constexpr char kNoNumber = '\xFF';
  std::fill(file_.begin(), file_.end(), kNoNumber);
  for (std::string& tensor : unpacked_) {
    std::fill(tensor.begin(), tensor.end(), kNoNumber);
  }
}

}  // namespace rehearsal::trt
