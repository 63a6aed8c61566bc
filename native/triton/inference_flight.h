// One inference on its way through the core, from ServerInferAsync until the plug-in has the last
// response, and its request back.
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
  // OK: the answer was or will be given to the request's callbacks. Otherwise the request stays the
  // plug-in's, and no callback of it is called. The trace, which may be null, ends in both cases.
  static Status Start(InferenceRequest& request, InferenceTrace* trace);

  InferenceFlight(InferenceRequest& request, InferenceTrace* trace);
  ~InferenceFlight();
  InferenceFlight(const InferenceFlight&) = delete;
  InferenceFlight& operator=(const InferenceFlight&) = delete;

  // At any time, also too late.
  void Cancel() { nrd_request_cancel(record_); }

 private:
  Status Prepare();
  Status AcquireRecord();
  void FillSettings();
  Status FillInputs();
  Status FillBytes(const InferenceInput& input, uint32_t index);
  Status GatherBytes(const InferenceInput& input, uint32_t index);
  Status FillOutputs();

  // The receiver's functions.
  static void OnComplete(void* context, nrd_request* record);
  static void OnRespond(void* context, nrd_request* record, nrd_tensor* outputs, uint32_t count);

  void Finish();
  void Respond(const nrd_tensor* outputs, uint32_t count);
  [[nodiscard]] bool IsSilentEnd() const;
  void Fill(InferenceResponse& response, const nrd_tensor* outputs, uint32_t count);
  [[nodiscard]] std::unique_ptr<InferenceResponse> NewResponse() const;
  void Send(std::unique_ptr<InferenceResponse> response, uint32_t flags);
  void EndTrace();

  Owner& owner_;                   // whose callbacks are called
  InferenceRequest& request_;      // the plug-in's again when Finish calls it back
  InferenceTrace* trace_;          // null: nobody records anything
  PinnedModel model_;              // until the plug-in was called back
  nrd_request* record_ = nullptr;  // stays as long as this: somebody may be cancelling it
  const nrd_receiver receiver_;
  std::vector<nrd_value> values_;
  std::unique_ptr<InferenceResponse> last_;  // made first, so that the plug-in gets it in any case
  bool lost_ = false;                        // a response before the last
  int64_t start_ns_ = 0;
  std::shared_ptr<InferenceFlight> self_;  // while the core has the record
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_INFERENCE_FLIGHT_H_
