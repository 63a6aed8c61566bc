// The trace of one inference: behind TRITONSERVER_InferenceTrace.
#ifndef NEREID_TRITON_INFERENCE_TRACE_H_
#define NEREID_TRITON_INFERENCE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"
#include "triton/inference_response.h"

namespace nereid::triton {

// Receivers of a plug-in's own trace.
struct TraceCallbacks {
  TRITONSERVER_InferenceTraceActivityFn_t activity = nullptr;
  TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity = nullptr;
  TRITONSERVER_InferenceTraceReleaseFn_t release = nullptr;
  void* userp = nullptr;
};

class InferenceTrace : public Handle {
 public:
  static constexpr Kind kKind = Kind::kInferenceTrace;

  // Makes a plug-in's own trace.
  InferenceTrace(uint32_t level, uint64_t parent, const TraceCallbacks& callbacks);
  // Makes the trace of a request with NRD_REQUEST_TRACED for its backend: the control plane gets
  // its events and its children's, by the request's tag, until it is deleted.
  explicit InferenceTrace(uint64_t tag);
  ~InferenceTrace();

  // A child that the plug-in gives to its own inference.
  [[nodiscard]] InferenceTrace* SpawnChild() const;
  // False if it is the trace of a request that a backend sees, or records an inference in flight;
  // such a trace cannot be given to another inference.
  [[nodiscard]] bool is_plugins() const { return !is_requests() && !in_flight_; }

  // The tag of a plug-in's inference, by which the asked model's backend finds its trace; `trace`
  // may be null. No request of the control plane has such a tag.
  static uint64_t TagOf(InferenceTrace* trace);
  // Null: the request with that tag is the control plane's, or is not traced.
  static InferenceTrace* OfTag(uint64_t tag);

  // The inference begins, has these tensors, and is over. The record has the times.
  void Begin(std::string_view model, int64_t version, std::string_view request_id, int64_t time_ns);
  void ReportInputs(const nrd_request& record, nrd_model* model);
  void ReportOutputs(const InferenceResponse& response);
  void ReportCourse(const nrd_request& record, int64_t start_ns);
  // Ends the trace: a plug-in gets its own back, any other is deleted.
  static void End(InferenceTrace* trace);

  void ReportCustom(int64_t time_ns, std::string_view name);
  void SetContext(std::string_view context);
  // Valid until the next SetContext or ReportCustom.
  [[nodiscard]] const char* context();

  [[nodiscard]] uint64_t id() const { return id_; }
  [[nodiscard]] uint64_t parent() const { return parent_; }
  [[nodiscard]] const std::string& model() const { return model_; }
  [[nodiscard]] int64_t version() const { return version_; }
  [[nodiscard]] const std::string& request_id() const { return request_id_; }

 private:
  // The request of a control plane's trace.
  struct Origin {
    Origin(uint64_t request_tag, uint64_t request_trace) : tag(request_tag), trace(request_trace) {}

    const uint64_t tag;
    const uint64_t trace;
    Mutex mutex;
    bool open NRD_GUARDED_BY(mutex) = true;
  };

  explicit InferenceTrace(const InferenceTrace& parent);
  void Report(TRITONSERVER_InferenceTraceActivity activity, int64_t time_ns);
  void TellMoment(TRITONSERVER_InferenceTraceActivity activity, int64_t time_ns,
                  std::string_view name);
  // Sends an event to the control plane.
  void Tell(std::string_view name, int64_t time_ns, const InferenceOutput* tensor);
  void ReportTensor(TRITONSERVER_InferenceTraceActivity activity, const InferenceOutput& tensor);
  [[nodiscard]] bool wants_tensors() const;
  [[nodiscard]] bool is_requests() const { return origin_ != nullptr && parent_ == 0; }

  const uint32_t level_;
  const uint64_t id_;
  const uint64_t parent_;
  const TraceCallbacks callbacks_;
  const std::shared_ptr<Origin> origin_;  // null: a plug-in's own trace, or its child
  Owner& owner_;
  std::string model_;
  int64_t version_ = -1;
  std::string request_id_;
  std::atomic<bool> in_flight_{false};
  Mutex mutex_;
  std::string context_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_TRACE_H_
