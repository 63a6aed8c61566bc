// Runs batches through a loaded ONNX file.
#ifndef NEREID_ONNXRUNTIME_ONNX_INSTANCE_H_
#define NEREID_ONNXRUNTIME_ONNX_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "nereid/nereid.h"
#include "onnxruntime/arithmetic_guard.h"
#include "onnxruntime/ort_session.h"
#include "onnxruntime/ort_values.h"

namespace nereid {

struct OnnxModel {
  std::unique_ptr<const OnnxSession> session;
  ModelConfig config;  // set by configure
};

// One instance of a model: the memory to run the shared session with no allocations but the
// outputs. For one thread at a time.
//
// Inputs are views of the batch's tensors. ONNX Runtime writes an output of configured shape
// straight into the batch's buffer; other outputs, and strings, are copied there once.
class OnnxInstance {
 public:
  // `model` outlives the instance.
  explicit OnnxInstance(const OnnxModel& model);
  OnnxInstance(const OnnxInstance&) = delete;
  OnnxInstance& operator=(const OnnxInstance&) = delete;

  Status Run(nrd_batch* batch);

 private:
  Status BindInputs(const nrd_batch& batch);
  Status BindOutputs(nrd_batch* batch);
  Status BindFixedOutput(nrd_batch* batch, uint32_t index, const OrtValue** value_out);
  Status RunBound(nrd_batch* batch);
  Status RunSession();
  Status CopyOutput(nrd_batch* batch, uint32_t index, OrtValue* value);
  Status WriteOutput(nrd_batch* batch, uint32_t index, OrtElementType type, uint32_t rank,
                     const int64_t* shape, OrtValue* value);

  const OnnxModel& model_;
  const OrtLibrary& library_;
  std::vector<OrtViewCache> input_views_;    // one for each configured input
  std::vector<OrtViewCache> output_views_;   // one for each configured output
  std::vector<bool> output_shape_is_known_;  // one for each configured output

  // The arguments of the run being prepared, without absent inputs and unwanted outputs.
  std::vector<const char*> input_names_;
  std::vector<const OrtValue*> input_values_;
  std::vector<OrtOwned<OrtValue>> strings_;  // string inputs, which are no views
  std::vector<const char*> output_names_;
  std::vector<OrtValue*> output_values_;  // null: ONNX Runtime allocates the value, and this class
                                          // releases it
  std::vector<uint32_t> output_indices_;
  std::vector<size_t> offsets_;
  ArithmeticWatch arithmetic_;
  nrd_error error_{};
};

}  // namespace nereid

#endif  // NEREID_ONNXRUNTIME_ONNX_INSTANCE_H_
