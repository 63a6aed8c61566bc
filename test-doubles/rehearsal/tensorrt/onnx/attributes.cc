#include "attributes.h"

#include <algorithm>

namespace rehearsal::trt {

namespace {

Shape Listed(const OnnxNode& node, const std::string& attribute, const Shape& otherwise) {
  auto found = node.attributes.find(attribute);
  return found == node.attributes.end() ? otherwise : found->second.numbers;
}

}  // namespace

std::int64_t NumberOf(const OnnxNode& node, const std::string& attribute, std::int64_t otherwise) {
  return Listed(node, attribute, {otherwise}).at(0);
}

float RealOf(const OnnxNode& node, const std::string& attribute, float otherwise) {
  auto found = node.attributes.find(attribute);
  return found == node.attributes.end() ? otherwise : found->second.real;
}

Window WindowOf(const OnnxNode& node, const Shape& kernel) {
  Window window;
  window.kernel = Listed(node, "kernel_shape", kernel);
  window.stride = Listed(node, "strides", {1, 1});
  Shape pads = Listed(node, "pads", {0, 0, 0, 0});
  bool plain = window.kernel.size() == 2 && window.stride.size() == 2 && pads.size() == 4 &&
               pads[0] == pads[2] && pads[1] == pads[3] && NumberOf(node, "group", 1) == 1 &&
               NumberOf(node, "ceil_mode", 0) == 0 &&
               Listed(node, "dilations", {1, 1}) == Shape{1, 1};
  if (!plain) {
    throw Refusal(
        "expected a window of two dimensions without groups, dilation and padding on one"
        " side: no other one is rehearsed");
  }
  window.padding = {pads[0], pads[1]};
  return window;
}

DataType OnnxType(std::int64_t number) {
  switch (number) {
    case 1:
      return DataType::kFloat;
    case 2:
      return DataType::kUint8;
    case 3:
      return DataType::kInt8;
    case 6:
      return DataType::kInt32;
    case 7:
      return DataType::kInt64;
    case 9:
      return DataType::kBool;
    case 10:
      return DataType::kHalf;
    case 16:
      return DataType::kBf16;
    case 17:
      return DataType::kFp8;
    default:
      throw Refusal("the type " + std::to_string(number) + " of ONNX is not supported");
  }
}

}  // namespace rehearsal::trt
