#ifndef NEREID_CORE_ENSEMBLE_RESPONSE_FLOW_H_
#define NEREID_CORE_ENSEMBLE_RESPONSE_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/request/decoupled_responses.h"
#include "core/request/request.h"
#include "core/request/response_values.h"

namespace nereid {

class EnsembleRun;
class Model;

// The responses of a decoupled step on their way through the part behind it in an ensemble. Belongs
// to a run of an ensemble with a decoupled step. The part behind that step is an ensemble of its
// own, `behind`: each response of the step becomes a request to it, a "part", whose answer is a
// response of the whole request. Parts are worked on at the same time and answered in order.
//
// Only the thread of the step's backend waits here: a slow reader, or too many parts under way,
// must hold it up. All other threads only queue their results, and one of them at a time delivers
// what is next (Pump). A part that was submitted holds a token of the run until it was answered.
class ResponseFlow final : public ResponseSink {
 public:
  // The last argument is the most parts at a time; 0: any number. All objects outlive this.
  ResponseFlow(EnsembleRun& run, Model& behind, const Responder& responder, uint32_t limit)
      : run_(run), behind_(behind), responder_(responder), limit_(limit) {}
  ~ResponseFlow() override = default;
  ResponseFlow(const ResponseFlow&) = delete;
  ResponseFlow& operator=(const ResponseFlow&) = delete;

  // Prepares the next request, which no other thread knows yet.
  void Begin() NRD_EXCLUDES(mutex_);

  // Called by the step's backend.
  bool AwaitRoom() override NRD_EXCLUDES(mutex_);
  [[nodiscard]] bool HasRoom() override NRD_EXCLUDES(mutex_);
  void Respond(nrd_tensor* outputs, uint32_t count,
               std::unique_ptr<ResponseValues> values) override {
    Add(outputs, count, std::move(values), false);
  }
  // The step was answered, with or without a last response. That answer becomes the request's, and
  // not a separate response.
  void StepAnswered(Request& request);

  // Called by the thread that stops the run: delivers nothing more, and cancels parts under way.
  void Close() NRD_EXCLUDES(mutex_);

  // Called when no token of the run is left: the first failed part in the order of responses, or
  // null; the result of the step's last response; and the reset to the state before Begin.
  [[nodiscard]] const Request* failed() const { return failed_; }
  void TakeLast(nrd_request* record);
  void End() NRD_EXCLUDES(mutex_);

 private:
  // A part, from the step's response to the end of its own responses.
  struct Part final : ResponseSink {
    ResponseFlow* flow = nullptr;
    Request* request = nullptr;
    bool last = false;
    bool started = false;
    bool answered = false;
    // Waiting responses, if the part behind is decoupled, with their values.
    std::vector<nrd_tensor> responses;
    std::vector<std::unique_ptr<ResponseValues>> values;
    Part* next = nullptr;

    bool AwaitRoom() override { return flow->AwaitReader(); }
    [[nodiscard]] bool HasRoom() override { return flow->ReaderHasRoom(); }
    void Respond(nrd_tensor* outputs, uint32_t count,
                 std::unique_ptr<ResponseValues> its_values) override;
  };

  static void OnPartAnswered(Request& request);

  // Asks the reader of the whole request's responses for room.
  bool AwaitReader();
  [[nodiscard]] bool ReaderHasRoom();
  [[nodiscard]] bool IsFull() const NRD_REQUIRES(mutex_) {
    return limit_ > 0 && count_ >= limit_ && !stopping_;
  }
  void Pass(nrd_tensor* outputs, uint32_t count, std::unique_ptr<ResponseValues> values);

  void Add(nrd_tensor* outputs, uint32_t count, std::unique_ptr<ResponseValues> values, bool last)
      NRD_EXCLUDES(mutex_);
  Part* MakePart(nrd_tensor* outputs, uint32_t count, std::unique_ptr<ResponseValues> values)
      NRD_EXCLUDES(mutex_);
  Part* UnusedPart() NRD_EXCLUDES(mutex_);
  void Answered(Part& part) NRD_EXCLUDES(mutex_);
  static void CancelFrom(Part* part);

  void Pump() NRD_EXCLUDES(mutex_);
  bool DeliverNext() NRD_REQUIRES(mutex_);
  void DeliverWaiting(Part& part) NRD_REQUIRES(mutex_);
  void TakeOut(Part& head) NRD_REQUIRES(mutex_);
  bool StartNext() NRD_REQUIRES(mutex_);
  void Recycle(Part& part) NRD_EXCLUDES(mutex_);

  EnsembleRun& run_;
  Model& behind_;
  const Responder& responder_;
  const uint32_t limit_;

  Mutex mutex_;
  Condition room_;
  std::vector<std::unique_ptr<Part>> parts_ NRD_GUARDED_BY(mutex_);  // all that were ever made
  std::vector<Part*> unused_ NRD_GUARDED_BY(mutex_);
  // In the order of responses, one chain: delivered ones that are kept until the end, from
  // `first_`; those not delivered, from `head_`; those not submitted, from `waiting_`.
  Part* first_ NRD_GUARDED_BY(mutex_) = nullptr;
  Part* head_ NRD_GUARDED_BY(mutex_) = nullptr;
  Part* waiting_ NRD_GUARDED_BY(mutex_) = nullptr;
  Part* tail_ NRD_GUARDED_BY(mutex_) = nullptr;
  uint32_t count_ NRD_GUARDED_BY(mutex_) = 0;    // from head_ on
  uint32_t started_ NRD_GUARDED_BY(mutex_) = 0;  // of these, the submitted ones
  bool pumping_ NRD_GUARDED_BY(mutex_) = false;
  // Nothing is added, submitted or reused any more, so that a cancelling thread finds the parts.
  bool stopping_ NRD_GUARDED_BY(mutex_) = false;
  bool closed_ NRD_GUARDED_BY(mutex_) = false;  // nothing is delivered any more
  const Request* failed_ = nullptr;             // written by the pumping thread
  Request* last_ = nullptr;                     // the same
};

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_RESPONSE_FLOW_H_
