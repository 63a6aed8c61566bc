// An inference that a plug-in asks for: behind TRITONSERVER_InferenceRequest. The plug-in owns it
// and changes it between uses; during flight only Cancel may be called.
#ifndef NEREID_TRITON_INFERENCE_REQUEST_H_
#define NEREID_TRITON_INFERENCE_REQUEST_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"
#include "triton/inference_response.h"
#include "triton/parameter.h"

namespace nereid::triton {

class InferenceFlight;

// Bytes of an input, owned by the plug-in.
struct InputPiece {
  const void* data;
  size_t byte_size;
  TRITONSERVER_MemoryType memory_type;
  int64_t memory_id;
};

struct InferenceInput {
  std::string name;
  TRITONSERVER_DataType datatype;
  std::vector<int64_t> shape;
  std::vector<InputPiece> pieces;
};

struct ResponseTarget {
  OutputPlace place;
  TRITONSERVER_InferenceResponseCompleteFn_t complete = nullptr;
  void* userp = nullptr;
};

struct ReleaseTarget {
  TRITONSERVER_InferenceRequestReleaseFn_t release = nullptr;
  void* userp = nullptr;
};

// Settings of a request that the plug-in sets one by one.
struct InferenceSettings {
  std::string id;
  uint32_t flags = 0;  // TRITONSERVER_REQUEST_FLAG_*
  uint64_t sequence_id = 0;
  std::string sequence_name;  // replaces the number unless empty
  uint64_t priority = 0;
  uint64_t timeout_us = 0;
  std::vector<Parameter> parameters;
  ReleaseTarget release;
  ResponseTarget response;
};

class InferenceRequest : public Handle {
 public:
  static constexpr Kind kKind = Kind::kInferenceRequest;

  // version -1: the version for clients that name none.
  InferenceRequest(std::string_view model, int64_t version);

  [[nodiscard]] const std::string& model() const { return model_; }
  [[nodiscard]] int64_t version() const { return version_; }
  [[nodiscard]] Owner& owner() const { return owner_; }

  InferenceSettings settings;

  Status AddInput(std::string_view name, TRITONSERVER_DataType datatype, const int64_t* shape,
                  uint64_t rank);
  Status RemoveInput(std::string_view name);
  void RemoveAllInputs() { inputs_.clear(); }
  Status AppendData(std::string_view name, const InputPiece& piece);
  Status RemoveAllData(std::string_view name);
  // Adds an output that the plug-in wants; without any it gets all of them.
  Status AddOutput(std::string_view name);
  void RemoveOutput(std::string_view name);
  void RemoveAllOutputs() { outputs_.clear(); }
  [[nodiscard]] const std::vector<InferenceInput>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<std::string>& outputs() const { return outputs_; }

  // The beginning of Triton's messages about a request.
  [[nodiscard]] std::string Prefix() const;

  // The request is in flight from Launch to Land, and not the plug-in's.
  void Launch(std::shared_ptr<InferenceFlight> flight);
  void Land();
  // OK if the plug-in may change the request now; otherwise the reason against it.
  [[nodiscard]] Status CheckIdle() const;
  // OK if the request can be sent; otherwise the reason against it.
  [[nodiscard]] Status CheckReady() const;
  // Has an effect only in flight, and a moment later: no callback of the plug-in runs inside.
  void Cancel();
  [[nodiscard]] bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  Status FindInput(std::string_view name, InferenceInput** input_out);
  [[nodiscard]] Status Wrong(const std::string& what) const;

  const std::string model_;
  const int64_t version_;
  Owner& owner_;
  std::vector<InferenceInput> inputs_;
  std::vector<std::string> outputs_;
  std::atomic<bool> in_flight_{false};
  std::atomic<bool> cancelled_{false};
  Mutex mutex_;
  std::shared_ptr<InferenceFlight> flight_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_REQUEST_H_
