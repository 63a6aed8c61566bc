// Answers to a plug-in's own inferences: behind TRITONSERVER_InferenceResponse and
// TRITONSERVER_ResponseAllocator.
#ifndef NEREID_TRITON_INFERENCE_RESPONSE_H_
#define NEREID_TRITON_INFERENCE_RESPONSE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "triton/core/tritonserver.h"
#include "triton/errors.h"
#include "triton/handle.h"
#include "triton/parameter.h"

namespace nereid::triton {

// Functions by which a plug-in chooses the memory of outputs. The last three are NULL if the
// plug-in does not need them.
struct AllocatorFunctions {
  TRITONSERVER_ResponseAllocatorAllocFn_t allocate = nullptr;
  TRITONSERVER_ResponseAllocatorReleaseFn_t release = nullptr;
  TRITONSERVER_ResponseAllocatorStartFn_t start = nullptr;
  TRITONSERVER_ResponseAllocatorQueryFn_t query = nullptr;
  TRITONSERVER_ResponseAllocatorBufferAttributesFn_t attributes = nullptr;
};

struct ResponseAllocator : Handle {
  static constexpr Kind kKind = Kind::kResponseAllocator;

  explicit ResponseAllocator(const AllocatorFunctions& given) : functions(given) {
    Open(kKind, &Owner::Current());
  }

  AllocatorFunctions functions;
};

// An allocator as one inference uses it: a copy, since responses may outlive the handle.
struct OutputPlace {
  AllocatorFunctions functions;
  TRITONSERVER_ResponseAllocator* handle = nullptr;  // passed to the functions
  void* userp = nullptr;
};

struct InferenceOutput {
  std::string name;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  void* data = nullptr;
  size_t byte_size = 0;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  int64_t memory_id = 0;
  void* userp = nullptr;
};

class InferenceResponse : public Handle {
 public:
  static constexpr Kind kKind = Kind::kInferenceResponse;

  // `owner` is the plug-in that asked; it gives the response back.
  InferenceResponse(Owner& owner, std::string_view model, int64_t version,
                    std::string_view request_id, const OutputPlace& place);
  // Returns the memory to the allocator.
  ~InferenceResponse();

  // Copies the outputs into the allocator's memory; an allocator cannot take memory over. A failure
  // becomes the response's error, and the outputs are dropped.
  void TakeOutputs(nrd_model* model, const nrd_tensor* outputs, uint32_t count);
  void TakeValues(const nrd_value* values, uint32_t count);
  void Fail(const Status& status) noexcept;

  // Null if it has none.
  [[nodiscard]] Error* error() const { return error_; }
  [[nodiscard]] const std::string& model() const { return model_; }
  [[nodiscard]] int64_t version() const { return version_; }
  [[nodiscard]] const std::string& request_id() const { return request_id_; }
  [[nodiscard]] const std::vector<InferenceOutput>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<Parameter>& values() const { return values_; }

 private:
  Status TakeAll(nrd_model* model, const nrd_tensor* outputs, uint32_t count);
  Status Place(std::string_view name, const nrd_tensor& tensor);
  Status Allocate(InferenceOutput* output);
  Status AskAttributes(const InferenceOutput& output);
  void ReleaseOutputs();

  Owner& owner_;
  const std::string model_;
  const int64_t version_;
  const std::string request_id_;
  const OutputPlace place_;
  std::vector<InferenceOutput> outputs_;
  std::vector<Parameter> values_;
  std::unique_ptr<Error> own_error_;
  Error* error_ = nullptr;
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_RESPONSE_H_
