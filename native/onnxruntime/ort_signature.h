// Reads an ONNX file's own inputs and outputs, and checks that a configuration fits them.
#ifndef NEREID_ONNXRUNTIME_ORT_SIGNATURE_H_
#define NEREID_ONNXRUNTIME_ORT_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "onnxruntime/ort_api.h"

namespace nereid {

OrtElementType ElementTypeOf(int32_t datatype);
int32_t DataTypeOf(OrtElementType type);  // NRD_TYPE_INVALID for types that the protocol lacks

struct OnnxTensor {
  std::string name;
  int32_t datatype = NRD_TYPE_INVALID;  // INVALID: no tensor, or unsupported elements
  bool has_default = false;             // an input that may be left out
  std::vector<int64_t> dims;            // all dims; -1: decided by each run
  std::vector<std::string> dim_names;   // one for each dimension; empty: no name
};

struct OnnxSignature {
  std::vector<OnnxTensor> inputs;
  std::vector<OnnxTensor> outputs;
};

// Fails with INVALID_ARGUMENT and a message with both sides and the change to make.
Status CheckSignature(const ModelConfig& config, const OnnxSignature& signature);

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ORT_SIGNATURE_H_
