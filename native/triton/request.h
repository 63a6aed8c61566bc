// A request as a plug-in sees it, and its responses.
#ifndef NEREID_TRITON_REQUEST_H_
#define NEREID_TRITON_REQUEST_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/buffer_attributes.h"
#include "triton/core/tritonbackend.h"
#include "triton/inference_trace.h"
#include "triton/model_tensors.h"
#include "triton/parameter.h"
#include "triton/response.h"
#include "triton/sequence_state.h"

namespace nereid::triton {

class Execution;

class Input : public Handle {
 public:
  static constexpr Kind kKind = Kind::kInput;

  void Begin(const TensorInfo& info, const nrd_tensor& tensor, bool pinned);
  void End();

  [[nodiscard]] const std::string& name() const { return info_->name; }
  [[nodiscard]] const nrd_tensor& tensor() const { return tensor_; }
  [[nodiscard]] BufferAttributes& attributes() { return attributes_; }

 private:
  const TensorInfo* info_ = nullptr;
  nrd_tensor tensor_{};
  BufferAttributes attributes_;
};

// Ends when the plug-in has released it, holds nothing of it, and sent the final response or gave
// up every way to send one, which fails the request. It is reused for later requests; response
// factories of an ended request may still ask it.
class Request : public Handle {
 public:
  static constexpr Kind kKind = Kind::kRequest;

  explicit Request(Execution& execution);

  // `index`: in the core's batch; `row`: the first of its rows there. `record`: null for an empty
  // row, whose responses are dropped. Without a batch the plug-in may only look at it.
  void Begin(uint32_t index, const nrd_request* record, int64_t row);
  // True once, when the request has ended: the caller answers it before its batch is over.
  bool TakeEnded();
  // Result of taking the request and its responses from the plug-in: their handles are closed.
  // `why`: the failure of a request that has not ended. `lost`: the plug-in may still access its
  // buffers.
  struct Taken {
    uint32_t handles = 0;
    bool ended = false;  // ended by this call
  };
  Taken TakeBack(const Status& why, bool lost);

  [[nodiscard]] const nrd_request* record() const { return record_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& sequence_name() const { return sequence_name_; }
  [[nodiscard]] uint64_t sequence_id() const;
  [[nodiscard]] Execution& execution() const { return execution_; }
  [[nodiscard]] const ModelTensors& tensors() const { return *tensors_; }
  [[nodiscard]] int64_t row() const { return row_; }
  [[nodiscard]] uint32_t index() const { return index_; }

  [[nodiscard]] uint32_t input_count() const { return input_count_; }
  [[nodiscard]] Input& input(uint32_t index) { return inputs_[index]; }
  // Null if it has no input of that name.
  [[nodiscard]] Input* FindInput(std::string_view name);
  [[nodiscard]] const std::vector<uint32_t>& wanted() const { return wanted_; }
  [[nodiscard]] bool Wants(uint32_t output) const;
  [[nodiscard]] const std::vector<Parameter>& parameters();
  [[nodiscard]] bool IsCancelled();

  // The trace of a traced request, otherwise null.
  [[nodiscard]] InferenceTrace* trace();

  Status State(std::string_view name, int32_t datatype, const int64_t* shape, uint32_t rank,
               SequenceState** out);
  [[nodiscard]] const SequenceState& state(size_t index) const { return states_[index]; }

  Status Release(const Site& site, uint32_t flags);
  Status NewResponse(Response** out);
  void DropResponse(Response& response);
  // Memory for an output: the core's if there is a single response, otherwise the response's.
  Status OutputMemory(Output& output, uint64_t byte_size);
  Status Send(const Site& site, Response& response, uint32_t flags, const Status& error);
  Status SendFlags(const Site& site, uint32_t flags);
  Status HoldFactory();
  void DropFactory();

 private:
  void BeginCourse() NRD_NOT_ANALYSED;
  void BeginInputs(int64_t row);
  void BeginStates();
  void EndInputs();
  void Add(const TensorInfo& info, const nrd_tensor& tensor, bool pinned);
  [[nodiscard]] Status Late(const Site& site, std::string_view what) const;
  Status MakeOutput(const Output& output, uint64_t byte_size, void** data) NRD_REQUIRES(mutex_);
  Status GiveOutput(Output& output) NRD_REQUIRES(mutex_);
  Status GiveParameters(const Response& response) NRD_REQUIRES(mutex_);
  Status Deliver(Response& response, bool final) NRD_REQUIRES(mutex_);
  Status DeliverError(const Response& response, const Status& failure) NRD_REQUIRES(mutex_);
  Status Delivered(Status status) NRD_REQUIRES(mutex_);
  // A receiver waits for an answer and has neither a whole one nor an error.
  [[nodiscard]] bool IsUnanswered() const NRD_REQUIRES(mutex_);
  void Fail(const Status& status) NRD_REQUIRES(mutex_);
  void EndResponse(Response& response) NRD_REQUIRES(mutex_);
  // True if the request ends now: the caller tells the execution after it releases the mutex.
  bool Ends() NRD_REQUIRES(mutex_);
  void Leave(bool ends);

  Execution& execution_;
  const ModelTensors* tensors_ = nullptr;
  bool decoupled_ = false;
  const nrd_request* record_ = nullptr;
  uint32_t index_ = 0;
  int64_t row_ = 0;
  std::string id_;
  std::string sequence_name_;
  std::deque<Input> inputs_;
  uint32_t input_count_ = 0;
  std::vector<uint32_t> wanted_;
  std::vector<Parameter> parameters_;
  std::deque<SequenceState> states_;
  std::unique_ptr<InferenceTrace> trace_;
  Mutex mutex_;
  bool released_ NRD_GUARDED_BY(mutex_) = false;
  bool rescheduled_ NRD_GUARDED_BY(mutex_) = false;
  bool answered_ NRD_GUARDED_BY(mutex_) = false;
  bool failed_ NRD_GUARDED_BY(mutex_) = false;
  bool final_ NRD_GUARDED_BY(mutex_) = false;
  bool ended_ NRD_GUARDED_BY(mutex_) = false;
  bool handed_ NRD_GUARDED_BY(mutex_) = false;  // answered before the batch
  bool gone_ NRD_GUARDED_BY(mutex_) = false;    // no receiver waits any more
  uint32_t responses_ NRD_GUARDED_BY(mutex_) = 0;
  uint32_t factories_ NRD_GUARDED_BY(mutex_) = 0;
  std::deque<Response> made_ NRD_GUARDED_BY(mutex_);
  std::vector<Response*> free_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_REQUEST_H_
