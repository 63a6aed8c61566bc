#include "core/schedule/scheduler.h"

#include <pthread.h>

#include <thread>
#include <utility>

#include "core/objective/objective_queue.h"
#include "core/queue/request_queue.h"

namespace nereid {
namespace {

// Fails a request that is not admitted.
int32_t Refuse(Request& request, const Status& status) {
  request.state.store(RequestState::kDone, std::memory_order_relaxed);
  SetFailure(request, status.code(), status.message());
  return status.code();
}

}  // namespace

Scheduler::Scheduler(const SchedulerContext& context)
    : context_(context),
      config_(context.config),
      unloaded_message_("model '" + config_.name + "' version " + config_.version +
                        " was unloaded"),
      limits_(context.limiter, config_),
      ordered_(context.completion),
      dispatcher_(context_, limits_, *this) {
  for (uint32_t i = 0; i < config_.instance_count; ++i) {
    instances_.push_back(std::make_unique<Instance>(i, context_, *this));
    dispatcher_.Attach(*instances_.back());
  }
  context_.timer.Add(this);
}

Scheduler::~Scheduler() { Stop(); }

Status Scheduler::Start() {
  NRD_RETURN_IF_ERROR(limits_.Open());
  for (const auto& instance : instances_) {
    instance->thread = std::thread([this, target = instance.get()] { RunThread(*target); });
  }
  dispatcher_.AwaitOpened();
  for (const auto& instance : instances_) {
    if (!instance->open_status().ok()) {
      return instance->open_status().Clone();
    }
  }
  dispatcher_.Open();
  return Status();
}

int32_t Scheduler::RunInline(Instance& instance, Request& request) {
  request.enqueue_ns = request.submit_ns;
  instance.batch.assign(1, &request);
  (void)instance.Execute(request.submit_ns, true);  // a batch that runs inline is not kept
  const int32_t code = request.record.status;
  const uint64_t execution_ns = request.record.compute_infer_ns;
  request.state.store(RequestState::kDone, std::memory_order_relaxed);
  AnswerAbandoned(dispatcher_.GiveBack(instance, execution_ns));
  return code;
}

int32_t Scheduler::Submit(Request& request) {
  Instance* borrowed = nullptr;
  const Status status = dispatcher_.Enter(request, &borrowed);
  if (borrowed != nullptr) {
    return RunInline(*borrowed, request);
  }
  if (status.ok()) {
    return NRD_PENDING;  // neither the request nor the scheduler may be touched any more
  }
  context_.stats.RecordFail(
      status.code() == NRD_CANCELLED ? FailReason::kCancelled : FailReason::kRejected, 0);
  return Refuse(request, status);
}

int32_t Scheduler::WarmUp(Request& request) {
  if (const Status status = dispatcher_.BeginWarmUp(request); !status.ok()) {
    return Refuse(request, status);
  }
  for (const auto& instance : instances_) {
    if (!dispatcher_.WarmUp(*instance, request)) {
      SetFailure(request, NRD_UNAVAILABLE, unloaded_message_);
    }
    if (request.record.status != NRD_OK) {
      break;
    }
  }
  const int32_t code = request.record.status;
  request.state.store(RequestState::kDone, std::memory_order_relaxed);
  dispatcher_.EndWarmUp();
  return code;
}

bool Scheduler::MayAnswerAtOnce() {
  return dispatcher_.is_open() && (!config_.preserve_ordering || dispatcher_.IsIdle());
}

int32_t Scheduler::Cancel(Request& request) {
  RemovedRequests removed;
  const RequestState state = dispatcher_.Withdraw(request, &removed);
  if (state != RequestState::kQueued) {
    return state == RequestState::kIdle ? NRD_OK : NRD_FAILED_PRECONDITION;
  }
  SetFailure(request, NRD_CANCELLED, "Request was cancelled while it waited in the queue");
  AnswerAbandoned(removed.abandoned);
  AnswerUnexecuted(removed.culprits, FailReason::kCancelled);
  return NRD_OK;
}

void Scheduler::RunThread(Instance& instance) {
  pthread_setname_np(pthread_self(), instance.ThreadName().c_str());
  if (!instance.Open()) {
    dispatcher_.OpenFailed();
    return;
  }
  Dispatcher::Outcome outcome{.opened = true};
  for (;;) {
    const Dispatcher::Work work = dispatcher_.Next(instance, std::exchange(outcome, {}));
    if (work.stop) {
      break;
    }
    if (work.warm_up != nullptr) {
      while (!limits_.MayExecute(instance.index(), true)) {
        limits_.Await(instance.index());
      }
      instance.WarmUp(*work.warm_up);
      outcome.warmed_up = true;
      continue;
    }
    AnswerExpired(work.expired);
    if (!instance.batch.empty()) {
      outcome = ExecuteAndDeliver(instance);
    }
  }
  instance.Close();
}

Dispatcher::Outcome Scheduler::ExecuteAndDeliver(Instance& instance) {
  if (!instance.Execute(MonotonicNowNs(), false)) {
    return {};
  }
  Executed(instance, &instance.batch);
  return {.executed = instance.executed(),
          .execution_ns = instance.execution_ns(),
          .answered = Deliver(instance.batch, instance.ticket)};
}

// If the scheduler gave up, a request that is to run again was found in the queue, or is failed
// here.
void Scheduler::Executed(Instance& instance, std::vector<Request*>* batch) {
  AnswerAbandoned(dispatcher_.Executed(instance, batch));
  if (config_.sequences && gave_up_.load(std::memory_order_relaxed)) [[unlikely]] {
    FailWaiting();
  }
}

// GiveBack comes last, because Stop then closes the instance.
void Scheduler::EndDetached(DetachedBatch& batch) {
  batch.instance().EndDetached(batch);
  Executed(batch.instance(), &batch.requests);
  dispatcher_.Answered(Deliver(batch.requests, batch.ticket));
  batch.instance().GiveBack(batch);
}

void Scheduler::AnswerEarly(DetachedBatch& batch, Request& request) {
  batch.instance().EndEarly(batch, request);
  dispatcher_.ExecutedEarly(batch.instance(), request);
  RequestList answered;
  answered.Append(&request);
  dispatcher_.Answered(context_.completion.Deliver(answered));
}

// With preserve_ordering more requests may be answered than there are in the batch, or none.
size_t Scheduler::Deliver(const std::vector<Request*>& batch, uint64_t ticket) {
  RequestList answered;
  for (Request* request : batch) {
    answered.Append(request);
  }
  return config_.preserve_ordering ? ordered_.Finish(ticket, answered)
                                   : context_.completion.Deliver(answered);
}

int64_t Scheduler::OnTimer(int64_t now_ns) {
  int64_t next_ns = kNever;
  AnswerExpired(dispatcher_.TakeExpired(now_ns, &next_ns));
  return next_ns;
}

void Scheduler::AnswerExpired(const RemovedRequests& removed) {
  if (removed.culprits.empty()) {
    return;
  }
  const int64_t now_ns = MonotonicNowNs();
  for (Request* request = removed.culprits.head; request != nullptr; request = request->next) {
    if (config_.objective && request->predicted_ns > 0) {
      SetRefused(*config_.objective, *request, now_ns);
    } else {
      SetExpired(*request, now_ns);
    }
  }
  AnswerAbandoned(removed.abandoned);
  AnswerUnexecuted(removed.culprits, FailReason::kRejected);
}

void Scheduler::AnswerAbandoned(RequestList requests) {
  if (requests.empty()) {
    return;
  }
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    SetFailure(*request, NRD_CANCELLED,
               "Request was cancelled: another request that waited in its sequence did not run");
  }
  AnswerUnexecuted(requests, FailReason::kCancelled);
}

// Answers requests that were taken out of the queue and have their status.
void Scheduler::AnswerUnexecuted(RequestList requests, FailReason reason) {
  const int64_t now_ns = MonotonicNowNs();
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    request->record.queue_ns = ElapsedNs(request->enqueue_ns, now_ns);
    context_.stats.RecordFail(reason, ElapsedNs(request->submit_ns, now_ns));
  }
  dispatcher_.Answered(context_.completion.Deliver(requests));
}

bool Scheduler::Drain(int64_t deadline_ns) {
  dispatcher_.CloseAndServe();
  if (dispatcher_.AwaitAnswers(deadline_ns)) {
    return true;
  }
  FailWaiting();
  return false;
}

void Scheduler::FailWaiting() {
  gave_up_.store(true, std::memory_order_relaxed);  // seen by all threads that lock the
                                                    // dispatcher's mutex
  const RequestList waiting = dispatcher_.TakeAll();
  for (Request* request = waiting.head; request != nullptr; request = request->next) {
    SetFailure(*request, NRD_UNAVAILABLE, unloaded_message_);
  }
  if (!waiting.empty()) {
    AnswerUnexecuted(waiting, FailReason::kRejected);
  }
}

void Scheduler::Stop() {
  context_.timer.Remove(this);
  dispatcher_.Close();
  FailWaiting();
  dispatcher_.AwaitAnswers(kNever);
  for (const auto& instance : instances_) {
    instance->AwaitDetached();
  }
  dispatcher_.StopInstances();
  for (const auto& instance : instances_) {
    instance->wake.NotifyOne();
  }
  for (const auto& instance : instances_) {
    if (instance->thread.joinable()) {
      instance->thread.join();
    }
  }
  dispatcher_.AwaitWakers();
  dispatcher_.DropStates();
  limits_.Close();
}

void Scheduler::ReadInstance(uint32_t instance, nrd_instance_stats* stats_out) {
  limits_.Read(instance, stats_out);
}

void Scheduler::ReadCounts(uint64_t* pending_out, uint64_t* executing_out) {
  dispatcher_.ReadCounts(pending_out, executing_out);
}

void Scheduler::Sent(const Request& request, uint64_t took_ns) {
  if (config_.objective) {
    dispatcher_.Sent(request, took_ns);
  }
}

bool Scheduler::ReadObjective(nrd_objective_stats* stats_out) {
  return dispatcher_.ReadObjective(stats_out);
}

uint32_t Scheduler::ReadCostCurve(nrd_cost_point* points_out, uint32_t capacity) {
  return dispatcher_.ReadCostCurve(points_out, capacity);
}

void Scheduler::FinishSequences() { dispatcher_.FinishSequences(); }

bool Scheduler::KnowsSequence(uint64_t number, std::string_view name) {
  return dispatcher_.KnowsSequence(number, name);
}

void Scheduler::ReadSequenceStats(nrd_sequence_stats* stats_out) {
  dispatcher_.ReadSequenceStats(stats_out);
}

}  // namespace nereid
