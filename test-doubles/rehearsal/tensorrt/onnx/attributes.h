// What nodes of ONNX say beside their inputs.
#ifndef NEREID_REHEARSAL_TENSORRT_ONNX_ATTRIBUTES_H_
#define NEREID_REHEARSAL_TENSORRT_ONNX_ATTRIBUTES_H_

#include <string>

#include "model.h"

namespace rehearsal::trt {

std::int64_t NumberOf(const OnnxNode& node, const std::string& attribute, std::int64_t otherwise);
float RealOf(const OnnxNode& node, const std::string& attribute, float otherwise);

// How a window of rows and columns goes over an image. Throws Refusal for what is not rehearsed.
struct Window {
  Shape kernel;
  Shape stride;
  Shape padding;
};
Window WindowOf(const OnnxNode& node, const Shape& kernel);

// The type that a number of ONNX's says.
DataType OnnxType(std::int64_t number);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_ONNX_ATTRIBUTES_H_
