// What is recorded of one inference: behind TRITONSERVER_InferenceTrace.
#ifndef NEREID_TRITON_INFERENCE_TRACE_H_
#define NEREID_TRITON_INFERENCE_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "triton/core/tritonserver.h"
#include "triton/handle.h"
#include "triton/inference_response.h"

namespace nereid::triton {

// Whom a trace of a plug-in's own tells.
struct TraceCallbacks {
  TRITONSERVER_InferenceTraceActivityFn_t activity = nullptr;
  TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity = nullptr;
  TRITONSERVER_InferenceTraceReleaseFn_t release = nullptr;
  void* userp = nullptr;
};

class InferenceTrace : public Handle {
 public:
  static constexpr Kind kKind = Kind::kInferenceTrace;

  // Of a plug-in's own.
  InferenceTrace(uint32_t level, uint64_t parent, const TraceCallbacks& callbacks);
  // Of a request with NRD_REQUEST_TRACED, whose backend sees it: the control plane is told, by the
  // request's tag, until this is deleted. What its children tell counts as the request's.
  explicit InferenceTrace(uint64_t tag);
  ~InferenceTrace();

  // One that the plug-in gives to an inference of its own.
  [[nodiscard]] InferenceTrace* SpawnChild() const;
  // False: the trace is the request's that a backend sees, and can be given to no other.
  [[nodiscard]] bool is_plugins() const { return origin_ == nullptr || parent_ != 0; }

  // The inference begins, has these tensors, and is over. The record tells when things happened.
  void Begin(std::string_view model, int64_t version, std::string_view request_id, int64_t time_ns);
  void ReportInputs(const nrd_request& record, nrd_model* model);
  void ReportOutputs(const InferenceResponse& response);
  void ReportCourse(const nrd_request& record, int64_t start_ns);
  // Nothing more comes: the plug-in gets its trace back, another is deleted.
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
  // The request that a trace of the control plane's is about.
  struct Origin {
    explicit Origin(uint64_t request_tag) : tag(request_tag) {}

    const uint64_t tag;
    Mutex mutex;
    bool open NRD_GUARDED_BY(mutex) = true;
  };

  explicit InferenceTrace(const InferenceTrace& parent);
  void Report(TRITONSERVER_InferenceTraceActivity activity, int64_t time_ns);
  void Tell(TRITONSERVER_InferenceTraceActivity activity, int64_t time_ns, std::string_view name);
  void ReportTensor(TRITONSERVER_InferenceTraceActivity activity, const InferenceOutput& tensor);
  [[nodiscard]] bool wants_tensors() const;

  const uint32_t level_;
  const uint64_t id_;
  const uint64_t parent_;
  const TraceCallbacks callbacks_;
  const std::shared_ptr<Origin> origin_;  // null: a plug-in's own, or a child of such
  Owner& owner_;
  std::string model_;
  int64_t version_ = -1;
  std::string request_id_;
  Mutex mutex_;
  std::string context_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_TRACE_H_
