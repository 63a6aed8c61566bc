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

// Belongs to the request record that it was made for and serves the record's next request, too, so
// that a run allocates nothing.
//
// Every thread that works on a run holds a token, and so does every step between its submission and
// its answer. The thread that drops the last one ends the run; until then the steps' records stay.
class EnsembleRun {
 public:
  struct Step {
    EnsembleRun* run = nullptr;
    uint32_t index = 0;
    bool needed = false;    // for an output that the request wants
    bool answered = false;  // by its model; written before the step's token is dropped
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

  // `behind`: what runs the graph behind the last step; NULL: there is none.
  EnsembleRun(Ensemble& ensemble, const EnsembleGraph& graph, Model* behind,
              const Responder& responder, Request& request);
  EnsembleRun(const EnsembleRun&) = delete;
  EnsembleRun& operator=(const EnsembleRun&) = delete;

  // Finds out which steps the wanted outputs need. Fails when one of them requires an input of the
  // ensemble that was not given. Before Begin nobody else may use the run.
  Status Prepare();

  // The caller holds the only token.
  void Begin();
  void AddToken() { tokens_.fetch_add(1, std::memory_order_relaxed); }
  // For a thread that has none; false: the run is over.
  bool TryAddToken();
  // True if it was the last.
  [[nodiscard]] bool DropToken() { return tokens_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // Lets no further step start, and makes `message` the answer. False: it was stopped before.
  bool Stop(FailReason reason, int32_t code, std::string_view message);
  // A step is published first, then this is asked; who stops a run stops it first, then looks at
  // the published steps. So none is submitted without one of the two seeing the other.
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_seq_cst); }
  [[nodiscard]] FailReason fail_reason() const { return fail_reason_; }

  // Appends the steps that wait for nothing.
  void FindReady(ReadyList* ready);
  // Passes the inputs to the step's record and says which outputs are needed.
  void FillStep(const Step& step, nrd_request* record);
  // Passes on what the caller says of the request as a whole, but for its timeout.
  void FillCommon(nrd_request* record) const;
  // The same as both for a request to what is behind the last step, from a response of that.
  void FillPart(nrd_tensor* outputs, uint32_t count, Request* part) const;
  // After the step was answered with NRD_OK: appends what can start because of it.
  void Produced(const Step& step, ReadyList* ready);
  // Fills in the ensemble's outputs. Only at the end.
  void TakeOutputs();
  // Gives them the shapes that the ensemble declares; fails where they have others. After
  // TakeOutputs.
  [[nodiscard]] Status FitOutputs();
  // Adds what a part of the request took to what the whole did.
  void AddTimes(const nrd_request& part);
  // For who stops the run: cancels what is on its way.
  void CancelSteps();
  // For a flow, which one of its responses ended.
  void CancelLastStep();
  // Adds up what the steps took, and gives their records back. `on_submitter`: the thread that
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

  EnsembleRun* next_to_end = nullptr;  // of those that one thread ends when the ensemble closes

 private:
  [[nodiscard]] bool IsInput(uint32_t value) const { return value < request_.record.input_count; }
  void Take(uint32_t value, nrd_tensor* target);
  Status KeepSequenceName();

  Ensemble& ensemble_;
  const EnsembleGraph& graph_;
  Request& request_;
  std::vector<Step> steps_;
  // Counts, by value, the inputs and outputs that have still to get it. Not counted for the
  // ensemble's own inputs, which its request holds until the end.
  std::vector<std::atomic<uint32_t>> takers_;
  const std::unique_ptr<ResponseFlow> flow_;
  char sequence_name_[NRD_MAX_SEQUENCE_NAME];  // steps start when the caller's may be gone
  std::atomic<uint32_t> tokens_{0};
  std::atomic<bool> stopped_{false};
  FailReason fail_reason_ = FailReason::kOther;  // written by who stopped the run
};

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_ENSEMBLE_RUN_H_
