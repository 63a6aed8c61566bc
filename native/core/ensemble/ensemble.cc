#include "core/ensemble/ensemble.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "core/model/model.h"
#include "core/request/store_answer.h"

namespace nereid {
namespace {

// True if the message has the name between quotation marks.
bool Quotes(std::string_view message, std::string_view name) {
  for (size_t at = message.find(name); at != std::string_view::npos;
       at = message.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at > 0 && message[at - 1] == '\'' && end < message.size() && message[end] == '\'') {
      return true;
    }
  }
  return false;
}

}  // namespace

Ensemble::Ensemble(const EnsembleContext& context, EnsembleGraph graph, Model* behind)
    : context_(context),
      config_(context.config),
      graph_(std::move(graph)),
      behind_(behind),
      unloaded_message_("model '" + config_.name + "' version " + config_.version +
                        " was unloaded") {
  for (const EnsembleStep& step : graph_.steps) {
    step.model->Ref();
  }
}

Ensemble::~Ensemble() {
  for (const EnsembleStep& step : graph_.steps) {
    step.model->Unref();
  }
}

EnsembleRun& Ensemble::RunOf(Request& request) {
  if (request.runner_state == nullptr) {
    request.runner_state =
        new EnsembleRun(*this, graph_, behind_.get(), context_.responder, request);
  }
  return *static_cast<EnsembleRun*>(request.runner_state);
}

void Ensemble::DeleteState(Request& request) {
  delete static_cast<EnsembleRun*>(std::exchange(request.runner_state, nullptr));
}

int32_t Ensemble::Submit(Request& request) {
  EnsembleRun& run = RunOf(request);
  FailReason reason = FailReason::kRejected;
  Status status = run.Prepare();
  if (!status.ok()) {
    reason = FailReason::kOther;
  } else if (request.cancelled.load(std::memory_order_relaxed)) {
    reason = FailReason::kCancelled;
    status = Status(NRD_CANCELLED, "Request was cancelled before it was submitted");
  } else {
    status = Enter(run);
  }
  if (!status.ok()) {
    request.state.store(RequestState::kDone, std::memory_order_relaxed);
    SetFailure(request, status.code(), status.message());
    context_.stats.RecordFail(reason, 0);
    return status.code();
  }
  // Cancel does the same in the opposite order: it sees that the request runs, or this thread sees
  // its mark.
  request.state.store(RequestState::kExecuting, std::memory_order_seq_cst);
  if (request.cancelled.load(std::memory_order_seq_cst)) {
    run.Stop(FailReason::kCancelled, NRD_CANCELLED,
             "Request was cancelled before it was submitted");
  }
  ReadyList ready;
  run.FindReady(&ready);
  Drive(run, ready);
  if (!run.DropToken()) {
    return NRD_PENDING;
  }
  // Responses were delivered already; submit's result must not overtake them.
  const bool answers_here = !run.HasStartedFlow();
  End(run, answers_here);
  return answers_here ? request.record.status : NRD_PENDING;
}

Status Ensemble::Enter(EnsembleRun& run) {
  Request& request = run.request();
  const MutexLock lock(mutex_);
  if (!accepting_) {
    return Status::Unavailable("Request for unknown model: '" + config_.name + "' version " +
                               config_.version + " is not at ready state");
  }
  if (request.record.deadline_ns > 0 && request.record.deadline_ns <= request.submit_ns) {
    return Status(NRD_DEADLINE_EXCEEDED, "Request deadline expired before it was submitted");
  }
  request.record.status = NRD_PENDING;
  run.Begin();
  active_.Append(&request);
  ++executing_;
  ++unanswered_;
  return Status();
}

// A loop and not a recursion: answers of steps that run inline add to `ready`.
void Ensemble::Drive(EnsembleRun& run, ReadyList ready) {
  const bool may_run_inline = config_.allow_inline && !run.request().Has(NRD_REQUEST_NO_INLINE);
  while (Step* const step = ready.TakeFirst()) {
    if (run.stopped()) {
      return;
    }
    Start(run, *step, may_run_inline && ready.empty(), &ready);
  }
}

void Ensemble::Start(EnsembleRun& run, Step& step, bool may_run_inline, ReadyList* ready) {
  Request* const request = AcquireStep(run, step);
  if (request == nullptr) {
    return;
  }
  run.FillStep(step, &request->record);
  request->continuation = OnStepAnswered;
  request->continuation_context = &step;
  if (run.IsDecoupled(step)) {
    request->sink = run.flow();
  }
  step.request.store(request, std::memory_order_seq_cst);
  if (!PassLimits(run, step, may_run_inline, &request->record) || run.stopped()) {
    return;
  }
  run.AddToken();
  if (request->model->Submit(*request) == NRD_PENDING) {
    return;  // the continuation owns the token, and the step may be over by now
  }
  StepAnswered(run, step, ready);
  (void)run.DropToken();  // not the last one: the caller has a token
}

Request* Ensemble::AcquireStep(EnsembleRun& run, Step& step) {
  Request* request = nullptr;
  try {
    const Status status = graph_.steps[step.index].model->Acquire(&request);
    if (status.ok()) {
      return request;
    }
    Fail(run, step, FailReason::kRejected, status.code(), status.message());
  } catch (const std::exception&) {  // only memory can be lacking
    Fail(run, step, FailReason::kOther, NRD_RESOURCE_EXHAUSTED, "the process is out of memory");
  }
  return nullptr;
}

// Passes the request's limits on to a step. False if nothing is left of its timeout.
bool Ensemble::PassLimits(EnsembleRun& run, const Step& step, bool may_run_inline,
                          nrd_request* record) {
  const Request& whole = run.request();
  record->flags |= may_run_inline ? 0U : uint32_t{NRD_REQUEST_NO_INLINE};
  if (whole.record.timeout_ns == 0) {
    return true;
  }
  const uint64_t elapsed_ns = ElapsedNs(whole.submit_ns, MonotonicNowNs());
  if (elapsed_ns >= whole.record.timeout_ns) {
    Fail(run, step, FailReason::kRejected, NRD_UNAVAILABLE, "Request timeout expired");
    return false;
  }
  record->timeout_ns = whole.record.timeout_ns - elapsed_ns;
  return true;
}

void Ensemble::StepAnswered(EnsembleRun& run, Step& step, ReadyList* ready) {
  Request& request = *step.request.load(std::memory_order_relaxed);
  nrd_request& record = request.record;
  step.answered = true;
  DropTensors(record.inputs, record.input_count);
  if (run.IsDecoupled(step)) {
    run.flow()->StepAnswered(request);  // a failure is reported behind earlier responses: see
                                        // FailLate
  } else if (record.status == NRD_OK) {
    run.Produced(step, ready);
  } else {
    Fail(run, step, ReasonOf(record), record.status,
         {request.error.message, request.error.message_size});
  }
}

void Ensemble::OnStepAnswered(Request& request) {
  Step& step = *static_cast<Step*>(request.continuation_context);
  EnsembleRun& run = *step.run;
  Ensemble& self = run.ensemble();
  ReadyList ready;
  self.StepAnswered(run, step, &ready);
  self.Drive(run, ready);
  self.Leave(run);
}

// Writes the message on the stack, because a lack of heap memory may be the failure. As in Triton,
// the step is not named if the message names its model.
void Ensemble::Fail(EnsembleRun& run, const Step& step, FailReason reason, int32_t code,
                    std::string_view message) {
  char text[2 * sizeof(nrd_error::message)];
  const EnsembleStep& failed = graph_.steps[step.index];
  const std::string_view where = Quotes(message, failed.model->config().name)
                                     ? std::string_view(failed.where).substr(0, failed.step_at)
                                     : std::string_view(failed.where);
  const size_t where_size = std::min(where.size(), sizeof(nrd_error::message));
  const size_t message_size = std::min(message.size(), sizeof(nrd_error::message));
  std::memcpy(text, where.data(), where_size);
  std::memcpy(text + where_size, message.data(), message_size);
  Abandon(run, reason, code, {text, where_size + message_size});
}

void Ensemble::Abandon(EnsembleRun& run, FailReason reason, int32_t code,
                       std::string_view message) {
  if (run.Stop(reason, code, message)) {
    run.CancelSteps();
  }
}

// Reports, at the end, the failure of a decoupled step or of the part behind it. The latter's
// message has the place already.
void Ensemble::FailLate(EnsembleRun& run) {
  const auto message = [](const Request& request) {
    return std::string_view(request.error.message, request.error.message_size);
  };
  if (const Request* const part = run.flow()->failed(); part != nullptr) {
    run.Stop(ReasonOf(part->record), part->record.status, message(*part));
    return;
  }
  const Step& last = run.steps().back();
  const Request* const request = last.request.load(std::memory_order_relaxed);
  if (request->record.status != NRD_OK) {
    Fail(run, last, ReasonOf(request->record), request->record.status, message(*request));
  }
}

int32_t Ensemble::WarmUp(Request& request) {
  request.state.store(RequestState::kDone, std::memory_order_relaxed);
  SetFailure(request, NRD_UNIMPLEMENTED,
             "an ensemble has no instances to warm up: warm up the models of its steps");
  return NRD_UNIMPLEMENTED;
}

int32_t Ensemble::Cancel(Request& request) {
  request.cancelled.store(true, std::memory_order_seq_cst);
  const RequestState state = request.state.load(std::memory_order_seq_cst);
  if (state != RequestState::kExecuting) {
    return state == RequestState::kIdle ? NRD_OK : NRD_FAILED_PRECONDITION;
  }
  EnsembleRun& run = *static_cast<EnsembleRun*>(request.runner_state);
  if (!run.TryAddToken()) {
    return NRD_FAILED_PRECONDITION;
  }
  const bool first = run.Stop(FailReason::kCancelled, NRD_CANCELLED, "Request was cancelled");
  if (first) {
    run.CancelSteps();
  }
  return Leave(run) && first ? NRD_OK : NRD_FAILED_PRECONDITION;
}

bool Ensemble::Leave(EnsembleRun& run) {
  if (!run.DropToken()) {
    return false;
  }
  End(run, false);
  return true;
}

void Ensemble::End(EnsembleRun& run, bool on_submitter) {
  Request& request = run.request();
  if (request.cancelled.load(std::memory_order_acquire)) {
    run.Stop(FailReason::kCancelled, NRD_CANCELLED, "Request was cancelled");
  }
  ResponseFlow* const flow = run.flow();
  if (flow != nullptr && !run.stopped()) {
    FailLate(run);
  }
  if (!run.stopped()) {
    request.record.status = NRD_OK;
    if (flow == nullptr) {
      TakeOutputs(run);
    } else {
      flow->TakeLast(&request.record);
    }
  }
  run.SumUp(on_submitter);
  if (flow != nullptr) {
    flow->End();
  }
  if (request.cacheable) {
    StoreAnswer(*context_.cache, context_.stats, request);
  }
  if (on_submitter) {
    request.state.store(RequestState::kDone, std::memory_order_relaxed);
  }
  const uint64_t total_ns = ElapsedNs(request.submit_ns, MonotonicNowNs());
  if (request.record.status != NRD_OK) {
    context_.stats.RecordFail(run.fail_reason(), total_ns);
  }
  {
    const MutexLock lock(mutex_);
    if (request.record.status == NRD_OK) {
      RecordSuccess(request, total_ns);
    }
    active_.Remove(&request);
    --executing_;
    if (on_submitter) {
      Answered();
      return;
    }
  }
  RequestList answered;
  answered.Append(&request);
  context_.completion.Deliver(answered);
  const MutexLock lock(mutex_);
  Answered();
}

// Fails the run when its outputs contradict what the ensemble declares.
void Ensemble::TakeOutputs(EnsembleRun& run) {
  run.TakeOutputs();
  try {
    const Status status = run.FitOutputs();
    if (status.ok()) {
      return;
    }
    run.Stop(FailReason::kBackend, status.code(), status.message());
  } catch (const std::exception&) {  // no memory for the message
    run.Stop(FailReason::kOther, NRD_RESOURCE_EXHAUSTED, "the process is out of memory");
  }
  DropTensors(run.request().record.outputs, run.request().record.output_count);
}

// Counts under the mutex: an ensemble counts as one instance, written by one thread at a time.
void Ensemble::RecordSuccess(const Request& request, uint64_t total_ns) {
  const nrd_request& record = request.record;
  context_.stats.RecordSuccess(0, {.queue_ns = record.queue_ns,
                                   .compute_input_ns = record.compute_input_ns,
                                   .compute_infer_ns = record.compute_infer_ns,
                                   .compute_output_ns = record.compute_output_ns,
                                   .total_ns = total_ns});
  const auto rows = static_cast<uint64_t>(request.rows);
  try {
    context_.stats.RecordExecution(0, rows, rows, record.compute_input_ns, record.compute_infer_ns,
                                   record.compute_output_ns, record.ran_inline != 0);
  } catch (const std::exception&) {  // without memory, only a figure is missing
  }
}

void Ensemble::Answered() {
  if (--unanswered_ == 0 && !accepting_) {
    drained_.NotifyAll();
  }
}

bool Ensemble::Drain(int64_t deadline_ns) {
  {
    const MutexLock lock(mutex_);
    accepting_ = false;
    bool in_time = true;
    while (unanswered_ > 0 && in_time) {
      in_time = drained_.WaitUntil(mutex_, deadline_ns);
    }
    if (unanswered_ == 0) {
      return true;
    }
  }
  FailUnfinished();
  return false;
}

void Ensemble::FailUnfinished() {
  EnsembleRun* first = nullptr;
  {
    const MutexLock lock(mutex_);
    for (Request* request = active_.head; request != nullptr; request = request->next) {
      auto* const run = static_cast<EnsembleRun*>(request->runner_state);
      // Stopped runs end by themselves; another closing thread has put them on its own list.
      if (run->stopped() || !run->TryAddToken()) {
        continue;
      }
      run->Stop(FailReason::kRejected, NRD_UNAVAILABLE, unloaded_message_);
      run->next_to_end = std::exchange(first, run);
    }
  }
  while (EnsembleRun* const run = first) {
    first = run->next_to_end;
    run->CancelSteps();
    Leave(*run);
  }
}

void Ensemble::Stop() {
  {
    const MutexLock lock(mutex_);
    accepting_ = false;
  }
  FailUnfinished();
  const MutexLock lock(mutex_);
  while (unanswered_ > 0) {
    drained_.Wait(mutex_);
  }
}

void Ensemble::ReadCounts(uint64_t* pending_out, uint64_t* executing_out) {
  const MutexLock lock(mutex_);
  *pending_out = 0;
  *executing_out = executing_;
}

}  // namespace nereid
