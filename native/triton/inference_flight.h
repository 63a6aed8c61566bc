// One inference in the core, from ServerInferAsync until the plug-in has the last response and its
// request back.
#ifndef NEREID_TRITON_INFERENCE_FLIGHT_H_
#define NEREID_TRITON_INFERENCE_FLIGHT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "triton/inference_request.h"
#include "triton/inference_response.h"
#include "triton/inference_trace.h"
#include "triton/pinned_model.h"

namespace nereid::triton {

class InferenceFlight {
 public:
  // OK: the request's callbacks get the answer, now or later. Otherwise the request stays the
  // plug-in's, and none of its callbacks is called. The trace, which may be null, ends in both
  // cases.
  static Status Start(InferenceRequest& request, InferenceTrace* trace);

  InferenceFlight(InferenceRequest& request, InferenceTrace* trace);
  ~InferenceFlight();
  InferenceFlight(const InferenceFlight&) = delete;
  InferenceFlight& operator=(const InferenceFlight&) = delete;

  // Allowed at any time, even after the end.
  void Cancel() { nrd_request_cancel(record_); }

 private:
  Status Prepare();
  Status AcquireRecord();
  void FillSettings();
  Status FillInputs();
  Status FillBytes(const InferenceInput& input, uint32_t index);
  Status GatherBytes(const InferenceInput& input, uint32_t index);
  Status FillOutputs();

  // Functions of the nrd_request's receiver.
  static void OnComplete(void* context, nrd_request* record);
  static void OnRespond(void* context, nrd_request* record, nrd_tensor* outputs, uint32_t count);

  void Finish();
  void Respond(const nrd_tensor* outputs, uint32_t count);
  [[nodiscard]] bool IsSilentEnd() const;
  void Fill(InferenceResponse& response, const nrd_tensor* outputs, uint32_t count);
  [[nodiscard]] std::unique_ptr<InferenceResponse> NewResponse() const;
  void Send(std::unique_ptr<InferenceResponse> response, uint32_t flags);
  void EndTrace();

  Owner& owner_;                   // the plug-in whose callbacks are called
  InferenceRequest& request_;      // the plug-in's again when Finish calls it back
  InferenceTrace* trace_;          // null: not traced
  PinnedModel model_;              // held until the callbacks have returned
  nrd_request* record_ = nullptr;  // released with this object: another thread may be cancelling it
  const nrd_receiver receiver_;
  std::vector<nrd_value> values_;
  std::unique_ptr<InferenceResponse> last_;  // made first, so that the plug-in always gets it
  bool lost_ = false;                        // a response before the last was lost
  int64_t start_ns_ = 0;
  std::shared_ptr<InferenceFlight> self_;  // while the core has the record
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_FLIGHT_H_
