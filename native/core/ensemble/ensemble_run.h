// One request of an ensemble on its way through the steps.
#ifndef NEREID_CORE_ENSEMBLE_ENSEMBLE_RUN_H_
#define NEREID_CORE_ENSEMBLE_ENSEMBLE_RUN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "core/ensemble/ensemble_config.h"
#include "core/ensemble/response_flow.h"
#include "core/request/request.h"
#include "core/request/stats.h"

namespace nereid {

class Ensemble;

// The statistics of an ensemble count a request whose step ended in this way under this reason.
FailReason ReasonOf(const nrd_request& record);

// The way of one request through the steps. It belongs to the request's record and serves the
// record's next requests, too, so that a run allocates nothing.
//
// Every thread that works on a run holds a token, and so does every step between submission and
// answer. The thread that drops the last token ends the run; the steps' records stay until then.
class EnsembleRun {
 public:
  struct Step {
    EnsembleRun* run = nullptr;
    uint32_t index = 0;
    bool needed = false;    // for an output that the request wants
    bool answered = false;  // the model has answered; written before the step's token is dropped
    std::atomic<uint32_t> waiting_for{0};  // inputs that earlier steps have not produced yet
    std::atomic<Request*> request{nullptr};
    Step* next_ready = nullptr;
  };

  // Steps that can start, each on the list of one thread.
  struct ReadyList {
    Step* head = nullptr;
    Step* tail = nullptr;

    [[nodiscard]] bool empty() const { return head == nullptr; }
    void Append(Step* step);
    Step* TakeFirst();
  };

  // `behind`: runs the graph behind the last step; NULL: none.
  EnsembleRun(Ensemble& ensemble, const EnsembleGraph& graph, Model* behind,
              const Responder& responder, Request& request);
  EnsembleRun(const EnsembleRun&) = delete;
  EnsembleRun& operator=(const EnsembleRun&) = delete;

  // Finds the steps that the wanted outputs need. Fails if one of them requires an input of the
  // ensemble that was not given. Other threads may use the run only after Begin.
  Status Prepare();

  // The caller holds the only token.
  void Begin();
  void AddToken() { tokens_.fetch_add(1, std::memory_order_relaxed); }
  // Called by a thread without a token; false: the run is over.
  bool TryAddToken();
  // True if the token was the last.
  [[nodiscard]] bool DropToken() { return tokens_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // Lets no further step start, and makes `message` the answer. False: it was stopped before.
  bool Stop(FailReason reason, int32_t code, std::string_view message);
  // A starting thread publishes a step, then calls this; a stopping thread stops the run, then
  // looks at the published steps. So one of the two always sees the other.
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_seq_cst); }
  [[nodiscard]] FailReason fail_reason() const { return fail_reason_; }

  // Appends the steps that wait for nothing.
  void FindReady(ReadyList* ready);
  // Passes the inputs to the step's record and says which outputs are needed.
  void FillStep(const Step& step, nrd_request* record);
  // Passes on the caller's settings of the whole request, except its timeout.
  void FillCommon(nrd_request* record) const;
  // Does both for a request to the part behind the last step, made from a response of that step.
  void FillPart(nrd_tensor* outputs, uint32_t count, Request* part) const;
  // Called after a step was answered with NRD_OK: appends the steps that can start now.
  void Produced(const Step& step, ReadyList* ready);
  // Fills in the ensemble's outputs. Only at the end.
  void TakeOutputs();
  // Gives the outputs the shapes that the ensemble declares; fails if they do not fit. After
  // TakeOutputs.
  [[nodiscard]] Status FitOutputs();
  // Adds the times of a part of the request to those of the whole.
  void AddTimes(const nrd_request& part);
  // Called by the thread that stops the run: cancels steps under way.
  void CancelSteps();
  // Called by a flow that one of its responses has ended.
  void CancelLastStep();
  // Adds up the times of the steps, and gives their records back. `on_submitter`: the thread that
  // submitted the request ends the run, too.
  void SumUp(bool on_submitter);

  [[nodiscard]] Ensemble& ensemble() const { return ensemble_; }
  [[nodiscard]] Request& request() const { return request_; }
  std::vector<Step>& steps() { return steps_; }
  // The flow of the last step's responses; NULL: no step that the outputs need is decoupled.
  [[nodiscard]] ResponseFlow* flow() const { return flow_.get(); }
  [[nodiscard]] bool HasStartedFlow() const {
    return flow_ != nullptr && steps_.back().request.load(std::memory_order_relaxed) != nullptr;
  }
  [[nodiscard]] bool IsDecoupled(const Step& step) const {
    return flow_ != nullptr && &step == &steps_.back();
  }

  EnsembleRun* next_to_end = nullptr;  // list of runs that one thread ends when the ensemble closes

 private:
  [[nodiscard]] bool IsInput(uint32_t value) const { return value < request_.record.input_count; }
  void Take(uint32_t value, nrd_tensor* target);
  Status KeepSequenceName();

  Ensemble& ensemble_;
  const EnsembleGraph& graph_;
  Request& request_;
  std::vector<Step> steps_;
  // The number of inputs and outputs that have still to get each value; not for the ensemble's own
  // inputs, which its request holds until the end.
  std::vector<std::atomic<uint32_t>> takers_;
  const std::unique_ptr<ResponseFlow> flow_;
  char sequence_name_[NRD_MAX_SEQUENCE_NAME];  // a copy: steps may start when the caller's memory
                                               // is gone
  std::atomic<uint32_t> tokens_{0};
  std::atomic<bool> stopped_{false};
  FailReason fail_reason_ = FailReason::kOther;  // written by the thread that stopped the run
};

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_ENSEMBLE_RUN_H_
