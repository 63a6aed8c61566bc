// Serves the requests of an ensemble by passing their tensors through other models.
#ifndef NEREID_CORE_ENSEMBLE_ENSEMBLE_H_
#define NEREID_CORE_ENSEMBLE_ENSEMBLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "core/config/model_config.h"
#include "core/ensemble/ensemble_config.h"
#include "core/ensemble/ensemble_run.h"
#include "core/model/model.h"
#include "core/request/answer_cache.h"
#include "core/request/completion.h"
#include "core/request/decoupled_responses.h"
#include "core/request/request_runner.h"
#include "core/request/stats.h"

namespace nereid {

// The objects that an ensemble uses and that outlive it.
struct EnsembleContext {
  const ModelConfig& config;
  AnswerCache* cache;  // NULL: the ensemble is not cached
  ModelStats& stats;
  Completion& completion;
  const Responder& responder;
};

// An ensemble has neither threads nor a queue, and any thread may call it. A step is submitted by
// the thread that finds its inputs complete: the one that submits the request, or one that
// completes an earlier step. On the former, steps can run inline, even a whole chain of idle
// models. Of steps that become ready together, all but the last are sent to other threads.
//
// No model and no callback is called with the mutex held. The ensemble holds references to the
// models of its steps: released models stay in memory and refuse the steps.
//
// The part behind a decoupled step is an ensemble of its own: ResponseFlow sends it the step's
// responses as requests.
class Ensemble final : public RequestRunner {
 public:
  // `behind`: the part of the graph behind a decoupled last step; NULL: none.
  Ensemble(const EnsembleContext& context, EnsembleGraph graph, Model* behind);
  ~Ensemble() override;

  int32_t Submit(Request& request) override;
  bool MayAnswerAtOnce() override { return accepting_.load(std::memory_order_relaxed); }
  // Refuses, because the models of the steps are warmed up themselves.
  int32_t WarmUp(Request& request) override;
  // Cancels waiting steps and marks executing ones. NRD_OK: that has answered the request.
  int32_t Cancel(Request& request) override;
  // Runs with steps that still wait or have not started at the deadline fail as waiting requests
  // do.
  bool Drain(int64_t deadline_ns) override;
  void Stop() override;
  void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) override;
  void DeleteState(Request& request) override;

  // Called by threads that hold a token of the run. Drops the caller's token, and ends the run if
  // it was the last. Returns true if it did.
  bool Leave(EnsembleRun& run);
  // Makes the message the answer, and cancels steps under way, unless that was done before.
  static void Abandon(EnsembleRun& run, FailReason reason, int32_t code, std::string_view message);

 private:
  using Step = EnsembleRun::Step;
  using ReadyList = EnsembleRun::ReadyList;

  EnsembleRun& RunOf(Request& request);
  Status Enter(EnsembleRun& run);
  static void OnStepAnswered(Request& request);

  // Called by threads that hold a token of the run.
  void Drive(EnsembleRun& run, ReadyList ready);
  void Start(EnsembleRun& run, Step& step, bool may_run_inline, ReadyList* ready);
  Request* AcquireStep(EnsembleRun& run, Step& step);
  bool PassLimits(EnsembleRun& run, const Step& step, bool may_run_inline, nrd_request* record);
  void StepAnswered(EnsembleRun& run, Step& step, ReadyList* ready);
  void Fail(EnsembleRun& run, const Step& step, FailReason reason, int32_t code,
            std::string_view message);
  void FailLate(EnsembleRun& run);

  void FailUnfinished();

  // Called when no token is left. `on_submitter`: submit returns the answer.
  void End(EnsembleRun& run, bool on_submitter);
  static void TakeOutputs(EnsembleRun& run);
  void RecordSuccess(const Request& request, uint64_t total_ns) NRD_REQUIRES(mutex_);
  void Answered() NRD_REQUIRES(mutex_);

  const EnsembleContext context_;
  const ModelConfig& config_;
  const EnsembleGraph graph_;
  const std::unique_ptr<Model, ModelReleaser> behind_;
  const std::string unloaded_message_;

  std::atomic<bool> accepting_{true};  // written with the mutex held, also read without it
  Mutex mutex_;
  RequestList active_ NRD_GUARDED_BY(mutex_);  // requests that have a run
  // Decremented before the answer, so that its receiver sees the change.
  uint64_t executing_ NRD_GUARDED_BY(mutex_) = 0;
  uint64_t unanswered_ NRD_GUARDED_BY(mutex_) = 0;  // admitted and not delivered yet
  Condition drained_;
};

}  // namespace nereid

#endif  // NEREID_CORE_ENSEMBLE_ENSEMBLE_H_
