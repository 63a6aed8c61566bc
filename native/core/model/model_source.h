// A model that its backend has opened, before its configuration is complete: for the onnxruntime
// backend, the weights and the graph of a file.
#ifndef NEREID_CORE_MODEL_MODEL_SOURCE_H_
#define NEREID_CORE_MODEL_MODEL_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {

class Runtime;

// An opened model, until its destruction. One thread at a time uses it, except for ReadMemory. The
// handle nrd_source owns it at first, for callers that ask for the model's tensors; later, the
// model that is loaded from it.
class ModelSource {
 public:
  static Status Open(Runtime& runtime, const nrd_model_options& options,
                     std::unique_ptr<ModelSource>* source_out);
  ~ModelSource();
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;

  // See nrd_source_tensor.
  int32_t Tensor(int32_t kind, uint32_t index, nrd_tensor_spec* spec_out) const;

  // Called once, before instances are opened: the options must agree with the source's tensors.
  Status Configure(const nrd_model_options& options);

  // Only after Configure.
  void ReadMemory(uint64_t* weight_bytes_out, uint64_t* working_bytes_out) const;

  [[nodiscard]] Runtime& runtime() const { return runtime_; }
  [[nodiscard]] const nrd_backend& backend() const { return backend_; }
  [[nodiscard]] void* state() const { return state_; }

 private:
  ModelSource(Runtime& runtime, const nrd_model_options& options);

  Runtime& runtime_;
  const nrd_backend backend_;
  const std::string name_;
  const std::string version_;
  bool open_ = false;
  void* state_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_CORE_MODEL_MODEL_SOURCE_H_
