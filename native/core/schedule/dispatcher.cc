#include "core/schedule/dispatcher.h"

#include <thread>

#include "base/pause.h"
#include "core/queue/shared_queue.h"
#include "core/sequence/sequence_queue.h"

namespace nereid {
namespace {

std::unique_ptr<WorkQueue> MakeWorkQueue(const ModelConfig& config) {
  if (config.sequences) {
    return std::make_unique<SequenceQueue>(config);
  }
  if (config.objective) {
    return std::make_unique<ObjectiveQueue>(config);
  }
  return std::make_unique<SharedQueue>(config);
}

// The number of times that a submitter polls a busy instance before it queues: about 3 us in all.
constexpr int kMostLooks = 16;
constexpr int kPausesBetweenLooks = 4;

void MarkTaken(const RequestList& requests) {
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
  }
}

void MarkTaken(const RemovedRequests& removed) {
  MarkTaken(removed.culprits);
  MarkTaken(removed.abandoned);
}

bool Batches(const BatchPolicy& policy) { return policy.dynamic && policy.max_batch_size > 1; }

void Notify(WaitingInstance* instance) {
  if (instance != nullptr) {
    instance->wake.NotifyOne();
  }
}

}  // namespace

Dispatcher::Dispatcher(const SchedulerContext& context, ExecutionLimits& limits,
                       TimerTarget& target, int64_t (*now)())
    : context_(context),
      config_(context.config),
      limits_(limits),
      target_(target),
      now_(now),
      full_rows_(Batches(config_.batch_policy) ? config_.batch_policy.max_batch_size : INT64_MAX),
      end_of_one_(Batches(config_.batch_policy) ? NRD_BATCH_IDLE : NRD_BATCH_SINGLE),
      admission_(config_, context.backend),
      queue_(MakeWorkQueue(config_)),
      objective_(config_.objective ? static_cast<ObjectiveQueue*>(queue_.get()) : nullptr),
      waiting_(config_.instance_count),
      opening_(config_.instance_count) {}

void Dispatcher::AwaitOpened() {
  const MutexLock lock(mutex_);
  while (opening_ > 0) {
    opened_.Wait(mutex_);
  }
}

void Dispatcher::CountOpened() {
  if (--opening_ == 0) {
    opened_.NotifyAll();
  }
}

void Dispatcher::CloseAndServe() {
  const MutexLock lock(mutex_);
  admission_.Close();
  Notify(queue_->ChooseForChange(waiting_));
}

Status Dispatcher::Enter(Request& request, Instance** borrowed_out) {
  const int64_t now_ns = request.submit_ns;
  WaitingInstance* woken = nullptr;
  {
    const MutexLock lock(mutex_);
    if (!waiting_.has_idle() && queue_->size() == 0) {
      AwaitShortExecution(request);
    }
    NRD_RETURN_IF_ERROR(admission_.Check(request, now_ns));
    const bool may_run_inline = !warm_up_.is_under_way() && admission_.MayRunInline(request);
    if (may_run_inline && waiting_.has_idle() && queue_->PassesBy(request, now_ns) &&
        (!limits_.any() || IdleMayExecute())) {
      *borrowed_out = BorrowFor(request);
      return Status();
    }
    NRD_RETURN_IF_ERROR(Enqueue(request, now_ns));
    if (may_run_inline) {
      *borrowed_out = BorrowHome(request, now_ns);
    }
    woken = queue_->ChooseForNew(waiting_);
    if (woken != nullptr) {
      wakers_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (woken != nullptr) {
    woken->wake.NotifyOne();
    wakers_.fetch_sub(1, std::memory_order_release);
  }
  return Status();
}

// Waits for an execution that is shorter than waking a thread, but only for as long as expected:
// its thread may have lost the processor. The request still belongs to this thread, and keeps the
// scheduler alive.
void Dispatcher::AwaitShortExecution(const Request& request) {
  if (warm_up_.is_under_way() || !admission_.IsWorthAwaiting(request)) {
    return;
  }
  for (int look = 0; look < kMostLooks && !waiting_.has_idle() && queue_->size() == 0; ++look) {
    const MutexUnlock unlock(mutex_);
    for (int i = 0; i < kPausesBetweenLooks; ++i) {
      Pause();
    }
  }
}

Instance* Dispatcher::BorrowFor(Request& request) {
  ++executing_;
  ++unanswered_;
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  Instance& instance = Instance::From(waiting_.Borrow());
  ++batch_ends_[request.rows < full_rows_ ? end_of_one_ : uint32_t{NRD_BATCH_FULL}];
  if (objective_ != nullptr) [[unlikely]] {
    objective_->BeganAtOnce(instance.index(), request, now_());
  }
  return &instance;
}

// Once the mutex is released, the request may be answered and reused, so all accesses to it come
// before. The scheduler may be destroyed as well, except while `wakers_` counts this thread.
Status Dispatcher::Enqueue(Request& request, int64_t now_ns) {
  NRD_RETURN_IF_ERROR(queue_->Push(request, now_ns));
  request.record.status = NRD_PENDING;
  request.state.store(RequestState::kQueued, std::memory_order_relaxed);
  ++unanswered_;
  ArmTimer();
  return Status();
}

// Returns the instance that must execute the request next, if idle, for this thread to borrow, or
// null.
Instance* Dispatcher::BorrowHome(const Request& request, int64_t now_ns) {
  WaitingInstance* const home = queue_->HomeOf(request, waiting_);
  if (home == nullptr || !waiting_.IsIdle(*home) ||
      (limits_.any() && !limits_.TryAcquire(home->index()))) {
    return nullptr;
  }
  Instance& instance = Instance::From(*home);
  TakeNow(instance, queue_->Decide(instance.index(), now_ns));
  if (instance.batch.empty()) {
    limits_.Leave(instance.index());
    return nullptr;
  }
  waiting_.Borrow(instance);
  return &instance;
}

void Dispatcher::TakeNow(Instance& instance, const BatchDecision& decision) {
  instance.batch.clear();
  queue_->Take(decision.take, &instance.batch);
  if (!instance.batch.empty()) {
    ++batch_ends_[decision.end];
  }
  for (Request* const request : instance.batch) {
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
  }
  executing_ += instance.batch.size();
  if (objective_ != nullptr) [[unlikely]] {
    objective_->Began(instance.index(), instance.batch, now_());
  }
}

void Dispatcher::ArmTimer() {
  if (const int64_t next_ns = queue_->NextEventNs(); next_ns < armed_expiry_ns_) {
    armed_expiry_ns_ = next_ns;
    context_.timer.Arm(&target_, next_ns);
  }
}

RequestList Dispatcher::GiveBack(Instance& instance, uint64_t execution_ns) {
  RequestList abandoned;
  WaitingInstance* woken = nullptr;
  const int64_t ended_ns = config_.objective ? now_() : 0;  // before any wait
  limits_.Leave(instance.index());
  {
    const MutexLock lock(mutex_);
    admission_.Measured(execution_ns);
    --executing_;
    if (config_.sequences) {
      abandoned = queue_->Finish(&instance.batch, now_());
      MarkTaken(abandoned);
      ArmTimer();
    }
    if (objective_ != nullptr) [[unlikely]] {
      objective_->Executed(instance.index(), instance.batch, ended_ns);
    }
    waiting_.GiveBack(instance);
    woken = queue_->ChooseForRest(instance, waiting_);
    CountAnswered(1);
  }
  Notify(woken);
  return abandoned;
}

Status Dispatcher::BeginWarmUp(Request& request) {
  const MutexLock lock(mutex_);
  NRD_RETURN_IF_ERROR(admission_.Check(request, request.submit_ns));
  if (Completion::InCallback()) {  // the callback's thread may be the one that has to execute this
    return Status(NRD_FAILED_PRECONDITION,
                  "model '" + config_.name + "' cannot be warmed up from a completion callback");
  }
  // Requests being answered do not matter: their instance looks here afterwards.
  if (warm_up_.is_under_way() || executing_ > 0 || queue_->size() > 0) {
    return Status(NRD_FAILED_PRECONDITION,
                  "model '" + config_.name + "' cannot be warmed up while it has requests");
  }
  warm_up_.Begin();
  ++unanswered_;  // Drain and Stop wait for the request
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  return Status();
}

// Gives an instance a warm-up request, which it finds first when it looks for work.
bool Dispatcher::GiveWarmUp(Instance& instance, Request& request) {
  if (!admission_.is_open()) {
    return false;
  }
  waiting_.Wake(instance);
  warm_up_.Give(instance, request);
  return true;
}

bool Dispatcher::WarmUp(Instance& instance, Request& request) {
  const MutexLock lock(mutex_);
  const bool given = GiveWarmUp(instance, request);
  warm_up_.Await(mutex_);
  return given;
}

void Dispatcher::EndWarmUp() {
  const MutexLock lock(mutex_);
  warm_up_.End();
  Notify(queue_->ChooseForChange(waiting_));
  CountAnswered(1);
}

Dispatcher::Work Dispatcher::Next(Instance& instance, const Outcome& outcome) {
  Work work;
  WaitingInstance* woken = nullptr;
  {
    const MutexLock lock(mutex_);
    Settle(outcome);
    while (!Look(instance, &work, &woken)) {
      if (!AwaitLimits(instance)) {
        waiting_.Await(instance, mutex_);
      }
    }
  }
  Notify(woken);
  return work;
}

bool Dispatcher::TryNext(Instance& instance, const Outcome& outcome, Work* work) {
  WaitingInstance* woken = nullptr;  // marking suffices here
  const MutexLock lock(mutex_);
  waiting_.Leave(instance);
  Settle(outcome);
  return Look(instance, work, &woken);
}

// True if there is work for the instance; else it waits from now on.
bool Dispatcher::Look(Instance& instance, Work* work, WaitingInstance** woken_out) {
  work->stop = waiting_.stopping();
  if (work->stop) {
    return true;
  }
  work->warm_up = warm_up_.RequestFor(instance);
  if (work->warm_up != nullptr) {
    return true;
  }
  const int64_t wake_ns = TakeBatch(instance, work);
  if (!instance.batch.empty() || !work->expired.empty()) {
    *woken_out = queue_->ChooseForRest(instance, waiting_);
    return true;
  }
  if (limits_.HasWaited(instance.index())) {
    return false;
  }
  if (warm_up_.is_under_way()) {
    waiting_.BecomeIdle(instance);
  } else {
    queue_->BeginToWait(instance, wake_ns, waiting_);
  }
  return false;
}

// Records an outcome. The mutex is held from here to the wait for work, so that an opened instance
// is idle for the next thread that gets the mutex.
void Dispatcher::Settle(const Outcome& outcome) {
  if (outcome.opened) {
    CountOpened();
  }
  if (outcome.warmed_up) {
    warm_up_.Done();
  }
  if (outcome.executed) {
    admission_.Measured(outcome.execution_ns);
  }
  if (outcome.answered > 0) {
    CountAnswered(outcome.answered);
  }
}

// Fills the batch of the instance, or leaves it empty and returns when to look again.
int64_t Dispatcher::TakeBatch(Instance& instance, Work* work) {
  instance.batch.clear();
  if (queue_->size() == 0 || warm_up_.is_under_way()) {
    limits_.Leave(instance.index());
    return kNever;
  }
  const int64_t now_ns = now_();
  queue_->TakeExpired(now_ns, &work->expired);
  MarkTaken(work->expired);
  // If no more requests are accepted, batches wait for none.
  BatchDecision decision = queue_->Decide(instance.index(), admission_.is_open() ? now_ns : kNever);
  int64_t latest_ns = kNever;
  if (objective_ != nullptr) [[unlikely]] {
    objective_->TakeRefused(&work->expired);
    MarkTaken(work->expired);
    latest_ns = objective_->latest_ns();
  }
  if (!limits_.MayExecute(instance.index(), decision.take > 0, latest_ns)) {
    decision = BatchDecision();
  }
  TakeNow(instance, decision);
  if (!instance.batch.empty() && config_.preserve_ordering) {
    instance.ticket = next_ticket_++;
  }
  limits_.LeaveUnless(queue_->size() > 0);
  return decision.wake_ns;
}

// True if the instance that is borrowed next gets the resources for an execution.
bool Dispatcher::IdleMayExecute() {
  Instance& instance = Instance::From(waiting_.Borrow());
  const bool may = limits_.TryAcquire(instance.index());
  waiting_.GiveBack(instance);
  return may;
}

// Waits until the instance has the resources for an execution, or has nothing to execute. False: it
// need not wait. Meanwhile another instance, which may need less, looks at the queue.
bool Dispatcher::AwaitLimits(Instance& instance) {
  if (!limits_.HasWaited(instance.index())) {
    return false;
  }
  WaitingInstance* const other = queue_->ChooseForRest(instance, waiting_);
  const MutexUnlock unlock(mutex_);
  Notify(other);
  limits_.Await(instance.index());
  return true;
}

// The instance looks for more when it comes to Next; but one that went on with another batch may be
// waiting by now.
RequestList Dispatcher::Executed(Instance& instance, std::vector<Request*>* batch) {
  RequestList abandoned;
  executing_.fetch_sub(batch->size(), std::memory_order_relaxed);
  if (objective_ != nullptr) [[unlikely]] {
    const int64_t ended_ns = now_();
    const MutexLock lock(mutex_);
    objective_->Executed(instance.index(), *batch, ended_ns);
  }
  if (config_.sequences) {
    const MutexLock lock(mutex_);
    abandoned = queue_->Finish(batch, now_());
    MarkTaken(abandoned);
    ArmTimer();
    Notify(queue_->ChooseForNew(waiting_));
  }
  return abandoned;
}

void Dispatcher::ExecutedEarly(const Instance& instance, const Request& request) {
  executing_.fetch_sub(1, std::memory_order_relaxed);
  if (objective_ != nullptr) [[unlikely]] {
    const MutexLock lock(mutex_);
    objective_->ExecutedEarly(instance.index(), request, now_());
  }
}

void Dispatcher::Sent(const Request& request, uint64_t took_ns) {
  const MutexLock lock(mutex_);
  objective_->Sent(request, took_ns);
}

bool Dispatcher::ReadObjective(nrd_objective_stats* stats_out) {
  const MutexLock lock(mutex_);
  if (objective_ != nullptr) {
    objective_->ReadObjective(now_(), stats_out);
  }
  return objective_ != nullptr;
}

uint32_t Dispatcher::ReadCostCurve(nrd_cost_point* points_out, uint32_t capacity) {
  const MutexLock lock(mutex_);
  return objective_ == nullptr ? 0 : objective_->ReadCostCurve(points_out, capacity);
}

RequestState Dispatcher::Withdraw(Request& request, RemovedRequests* removed) {
  const MutexLock lock(mutex_);
  // Marks first and looks then: the cache answers in the opposite order, without the mutex.
  request.cancelled.store(true, std::memory_order_seq_cst);
  const RequestState state = request.state.load(std::memory_order_seq_cst);
  if (state != RequestState::kQueued) {
    return state;
  }
  queue_->Remove(request, removed, now_());
  MarkTaken(*removed);
  ArmTimer();
  limits_.LeaveUnless(queue_->size() > 0);
  Notify(queue_->ChooseForChange(waiting_));
  return state;
}

RemovedRequests Dispatcher::TakeExpired(int64_t now_ns, int64_t* next_expiry_ns_out) {
  RemovedRequests removed;
  const MutexLock lock(mutex_);
  queue_->TakeExpired(now_ns, &removed);
  MarkTaken(removed);
  armed_expiry_ns_ = queue_->NextEventNs();
  *next_expiry_ns_out = armed_expiry_ns_;
  limits_.LeaveUnless(queue_->size() > 0);
  Notify(queue_->ChooseForChange(waiting_));
  return removed;
}

RequestList Dispatcher::TakeAll() {
  const MutexLock lock(mutex_);
  const RequestList all = queue_->TakeAll();
  MarkTaken(all);
  limits_.LeaveUnless(queue_->size() > 0);
  return all;
}

bool Dispatcher::AwaitAnswers(int64_t deadline_ns) {
  const MutexLock lock(mutex_);
  bool in_time = true;
  while (unanswered_ > 0 && in_time) {
    in_time = drained_.WaitUntil(mutex_, deadline_ns);
  }
  return unanswered_ == 0;
}

void Dispatcher::AwaitWakers() const {
  while (wakers_.load(std::memory_order_acquire) != 0) {
    std::this_thread::yield();  // the wakers are between releasing the mutex and returning
  }
}

}  // namespace nereid
