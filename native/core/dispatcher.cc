#include "core/dispatcher.h"

#include <algorithm>
#include <thread>

namespace nereid {
namespace {

// Waking a thread takes longer than this, and hearing from it takes as long again.
constexpr int64_t kShortExecutionNs = 5'000;

// How a submitter waits for a busy instance before it queues: about 3 us in all.
constexpr int kMostLooks = 16;
constexpr int kPausesBetweenLooks = 4;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

void MarkTaken(const RequestList& requests) {
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
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
      rows_tell_(config_.uniform && config_.queue_policies.size() == 1 && !config_.batcher),
      queue_(config_.queue_policies, config_.default_level),
      sequences_(config_.sequences ? std::make_unique<SequenceQueue>(config_) : nullptr),
      picker_(config_),
      waiting_(config_.instance_count),
      opening_(config_.instance_count) {
  instances_.reserve(config_.instance_count);
}

size_t Dispatcher::pending() const {
  return sequences_ == nullptr ? queue_.size() : sequences_->size();
}

void Dispatcher::AwaitOpened() {
  const MutexLock lock(mutex_);
  while (opening_ > 0) {
    opened_.Wait(mutex_);
  }
}

void Dispatcher::OpenFailed() {
  const MutexLock lock(mutex_);
  CountOpened();
}

void Dispatcher::CountOpened() {
  if (--opening_ == 0) {
    opened_.NotifyAll();
  }
}

void Dispatcher::Open() {
  const MutexLock lock(mutex_);
  accepting_ = true;
}

void Dispatcher::Close() {
  const MutexLock lock(mutex_);
  accepting_ = false;
}

void Dispatcher::CloseAndServe() {
  const MutexLock lock(mutex_);
  accepting_ = false;
  WakeForChange();
}

void Dispatcher::CountAnswered(size_t count) {
  unanswered_ -= count;
  if (unanswered_ == 0 && !accepting_) {
    drained_.NotifyAll();
  }
}

// Takes an eighth of the newest measurement, the first one included: one slow run, such as a cold
// start, does not change the mode, and a model that is far above the budget leaves it after one.
void Dispatcher::UpdateEstimate(uint64_t execution_ns) {
  const auto newest = static_cast<int64_t>(std::min<uint64_t>(execution_ns, kNever / 2));
  estimate_ns_ += (newest - estimate_ns_) / 8;
}

// Every request comes through here, so what costs more is in WhyRefused.
Status Dispatcher::MayEnter(const Request& request, int64_t now_ns) const {
  const bool expired = request.record.deadline_ns > 0 && request.record.deadline_ns <= now_ns;
  if (request.cancelled.load(std::memory_order_relaxed) || !accepting_ || expired) [[unlikely]] {
    return WhyRefused(request);
  }
  return Status();
}

Status Dispatcher::WhyRefused(const Request& request) const {
  if (request.cancelled.load(std::memory_order_relaxed)) {
    return Status(NRD_CANCELLED, "Request was cancelled before it was submitted");
  }
  if (!accepting_) {
    return Status::Unavailable("Request for unknown model: '" + config_.name + "' version " +
                               config_.version + " is not at ready state");
  }
  return Status(NRD_DEADLINE_EXCEEDED, "Request deadline expired before it was submitted");
}

Instance* Dispatcher::BorrowFor(Request& request) {
  ++executing_;
  ++unanswered_;
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  return &waiting_.Borrow();
}

Status Dispatcher::Enter(Request& request, Instance** borrowed_out) {
  const int64_t now_ns = request.submit_ns;
  Instance* woken = nullptr;
  {
    const MutexLock lock(mutex_);
    if (!waiting_.has_idle() && pending() == 0) {
      AwaitShortExecution(request);
    }
    NRD_RETURN_IF_ERROR(MayEnter(request, now_ns));
    if (sequences_ != nullptr) {
      NRD_RETURN_IF_ERROR(EnterSequence(request, borrowed_out, &woken));
    } else if (MayRunInline(request, now_ns) && (!limits_.any() || IdleMayExecute())) {
      *borrowed_out = BorrowFor(request);
    } else {
      NRD_RETURN_IF_ERROR(Enqueue(request, now_ns, &woken));
    }
  }
  if (woken != nullptr) {
    woken->wake.NotifyOne();
    wakers_.fetch_sub(1, std::memory_order_release);
  }
  return Status();
}

// An execution that takes less than waking a thread is waited for here, if it ends as soon as it
// should: its thread may have lost the processor. The request is nobody else's yet, and keeps the
// scheduler alive.
void Dispatcher::AwaitShortExecution(const Request& request) {
  if (estimate_ns_ == 0 || estimate_ns_ > kShortExecutionNs || !TakesInline(request)) {
    return;
  }
  for (int look = 0; look < kMostLooks && !waiting_.has_idle() && pending() == 0; ++look) {
    const MutexUnlock unlock(mutex_);
    for (int i = 0; i < kPausesBetweenLooks; ++i) {
      Pause();
    }
  }
}

// Whether the submitting thread may execute anything at all.
bool Dispatcher::TakesInline(const Request& request) const {
  return config_.allow_inline &&
         (context_.backend.flags & (NRD_BACKEND_OWN_THREAD | NRD_BACKEND_DETACHES)) == 0 &&
         (request.record.flags & NRD_REQUEST_NO_INLINE) == 0 && !warming_up_ &&
         // That thread has others to answer, the timer's even those of other models.
         !Completion::InCallback();
}

bool Dispatcher::MayRunInline(const Request& request, int64_t now_ns) const {
  return waiting_.has_idle() && queue_.empty() && estimate_ns_ <= config_.inline_budget_ns &&
         TakesInline(request) && picker_.RunsAlone(request, now_ns);
}

// From the moment the mutex is released the request may be answered and reused: all that touches it
// happens before. The scheduler may go as well, except while `wakers_` counts the thread.
Status Dispatcher::Enqueue(Request& request, int64_t now_ns, Instance** woken_out) {
  NRD_RETURN_IF_ERROR(queue_.Push(&request, now_ns));
  request.record.status = NRD_PENDING;
  request.state.store(RequestState::kQueued, std::memory_order_relaxed);
  ++unanswered_;
  ArmTimer();
  *woken_out = waiting_.ChooseForNewRequest(rows_tell_, queue_.rows());
  if (*woken_out != nullptr) {
    wakers_.fetch_add(1, std::memory_order_relaxed);
  }
  return Status();
}

int64_t Dispatcher::NextEventNs() const {
  return sequences_ == nullptr ? queue_.next_expiry_ns() : sequences_->next_event_ns();
}

void Dispatcher::ArmTimer() {
  if (const int64_t next_ns = NextEventNs(); next_ns < armed_expiry_ns_) {
    armed_expiry_ns_ = next_ns;
    context_.timer.Arm(&target_, next_ns);
  }
}

// The request joins its sequence. Where that can run now, on an instance that is idle, this thread
// executes it there; otherwise it is the instance's.
Status Dispatcher::EnterSequence(Request& request, Instance** borrowed_out, Instance** woken_out) {
  NRD_RETURN_IF_ERROR(sequences_->Push(request, request.submit_ns));
  request.record.status = NRD_PENDING;
  request.state.store(RequestState::kQueued, std::memory_order_relaxed);
  ++unanswered_;
  ArmTimer();
  const uint32_t home = sequences_->TakeRoused();
  if (home == SequenceQueue::kNone) {
    return Status();  // it waits for a slot, or for an earlier request
  }
  Instance& instance = *instances_[home];
  if (BorrowForSequence(instance, request)) {
    *borrowed_out = &instance;
    return Status();
  }
  *woken_out = waiting_.Choose(instance);
  if (*woken_out != nullptr) {
    wakers_.fetch_add(1, std::memory_order_relaxed);
  }
  return Status();
}

// An instance that is idle had nothing to execute before: what it may execute now is this request.
bool Dispatcher::BorrowForSequence(Instance& instance, const Request& request) {
  if (estimate_ns_ > config_.inline_budget_ns || !TakesInline(request) ||
      !waiting_.IsIdle(instance)) {
    return false;
  }
  if (limits_.any() && !limits_.TryAcquire(instance.index())) {
    return false;
  }
  instance.batch.clear();
  sequences_->Take(instance.index(), request.submit_ns, &instance.batch);
  if (instance.batch.empty()) {
    limits_.Leave(instance.index());
    return false;
  }
  ++executing_;
  instance.batch.front()->state.store(RequestState::kExecuting, std::memory_order_relaxed);
  waiting_.Borrow(instance);
  return true;
}

void Dispatcher::GiveBack(Instance& instance, uint64_t execution_ns) {
  Instance* woken = nullptr;
  limits_.Leave(instance.index());
  {
    const MutexLock lock(mutex_);
    UpdateEstimate(execution_ns);
    --executing_;
    if (sequences_ != nullptr) {
      FinishSequenceBatch(&instance.batch);
      waiting_.GiveBack(instance);
      woken = sequences_->HasReady(instance.index()) ? waiting_.Choose(instance) : nullptr;
    } else {
      waiting_.GiveBack(instance);
      woken = ChooseForRest();
    }
    CountAnswered(1);
  }
  if (woken != nullptr) {
    woken->wake.NotifyOne();
  }
}

Status Dispatcher::BeginWarmUp(Request& request) {
  const MutexLock lock(mutex_);
  NRD_RETURN_IF_ERROR(MayEnter(request, request.submit_ns));
  if (Completion::InCallback()) {  // perhaps of a thread that has to execute this
    return Status(NRD_FAILED_PRECONDITION,
                  "model '" + config_.name + "' cannot be warmed up from a completion callback");
  }
  // Requests that are being answered do no harm: their instance looks here when that is done.
  if (warming_up_ || executing_ > 0 || pending() > 0) {
    return Status(NRD_FAILED_PRECONDITION,
                  "model '" + config_.name + "' cannot be warmed up while it has requests");
  }
  warming_up_ = true;
  ++unanswered_;  // Drain and Stop wait for it
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  return Status();
}

// An instance that does not wait is on its way to look for work, and finds this first.
bool Dispatcher::WarmUp(Instance& instance, Request& request) {
  const MutexLock lock(mutex_);
  if (!accepting_) {
    return false;
  }
  warming_instance_ = &instance;
  warming_request_ = &request;
  waiting_.Wake(instance);
  while (warming_instance_ != nullptr) {
    warmed_up_.Wait(mutex_);
  }
  return true;
}

void Dispatcher::EndWarmUp() {
  const MutexLock lock(mutex_);
  warming_up_ = false;
  if (sequences_ != nullptr) {
    WakeForChange();
  } else if (Instance* const woken = ChooseForRest()) {
    woken->wake.NotifyOne();
  }
  CountAnswered(1);
}

Dispatcher::Work Dispatcher::Next(Instance& instance, const Outcome& outcome) {
  Work work;
  Instance* woken = nullptr;
  {
    const MutexLock lock(mutex_);
    Settle(outcome);
    while (!Look(instance, &work, &woken)) {
      if (!AwaitLimits(instance)) {
        waiting_.Await(instance, mutex_);
      }
    }
  }
  if (woken != nullptr) {
    woken->wake.NotifyOne();
  }
  return work;
}

bool Dispatcher::TryNext(Instance& instance, const Outcome& outcome, Work* work) {
  Instance* woken = nullptr;  // marked, which is all that matters here
  const MutexLock lock(mutex_);
  waiting_.Leave(instance);
  Settle(outcome);
  return Look(instance, work, &woken);
}

bool Dispatcher::IsWoken(const Instance& instance) {
  const MutexLock lock(mutex_);
  return waiting_.IsWoken(instance);
}

int64_t Dispatcher::WaitsUntilNs(const Instance& instance) {
  const MutexLock lock(mutex_);
  return waiting_.WaitsUntilNs(instance);
}

// Whether there is something to do. If not, the instance waits from now on.
bool Dispatcher::Look(Instance& instance, Work* work, Instance** woken_out) {
  work->stop = waiting_.stopping();
  if (work->stop) {
    return true;
  }
  if (warming_instance_ == &instance) {
    work->warm_up = warming_request_;
    return true;
  }
  const int64_t wake_ns = TakeBatch(instance, work);
  if (!instance.batch.empty()) {
    *woken_out = sequences_ == nullptr ? ChooseForRest() : nullptr;
    return true;
  }
  if (!work->expired.empty()) {
    return true;
  }
  if (!limits_.HasWaited(instance.index())) {
    BeginToWait(instance, wake_ns);
  }
  return false;
}

// The mutex is not released between this and the wait for work: an instance that was opened is idle
// for whoever gets the mutex next.
void Dispatcher::Settle(const Outcome& outcome) {
  if (outcome.opened) {
    CountOpened();
  }
  if (outcome.warmed_up) {
    warming_instance_ = nullptr;
    warmed_up_.NotifyOne();
  }
  if (outcome.executed) {
    UpdateEstimate(outcome.execution_ns);
  }
  if (outcome.answered > 0) {
    CountAnswered(outcome.answered);
  }
}

// Fills the batch of the instance, or leaves it empty and returns when to look again.
int64_t Dispatcher::TakeBatch(Instance& instance, Work* work) {
  instance.batch.clear();
  if (pending() == 0 || warming_up_) {
    limits_.Leave(instance.index());
    return kNever;
  }
  const int64_t wake_ns =
      sequences_ == nullptr ? TakeFromQueue(instance, work) : TakeFromSequences(instance, work);
  for (Request* const request : instance.batch) {
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
  }
  executing_ += instance.batch.size();
  if (!instance.batch.empty() && config_.preserve_ordering) {
    instance.ticket = next_ticket_++;
  }
  return wake_ns;
}

int64_t Dispatcher::TakeFromQueue(Instance& instance, Work* work) {
  const int64_t now_ns = now_();
  queue_.TakeExpired(now_ns, &work->expired.culprits);
  MarkTaken(work->expired.culprits);
  // When no more requests are accepted there is nothing to wait for.
  const BatchDecision decision = picker_.Pick(queue_, accepting_ ? now_ns : kNever);
  if (!limits_.MayExecute(instance.index(), decision.take > 0)) {
    return kNever;
  }
  for (size_t i = 0; i < decision.take; ++i) {
    Request* const request = queue_.First();
    queue_.Remove(request);
    instance.batch.push_back(request);
  }
  limits_.LeaveUnless(!queue_.empty());
  return decision.wake_ns;
}

int64_t Dispatcher::TakeFromSequences(Instance& instance, Work* work) {
  const int64_t now_ns = now_();
  sequences_->TakeExpired(now_ns, &work->expired);
  MarkTaken(work->expired.culprits);
  MarkTaken(work->expired.abandoned);
  const uint32_t index = instance.index();
  int64_t wake_ns = kNever;
  if (limits_.MayExecute(index, sequences_->HasReady(index))) {
    wake_ns = sequences_->Take(index, accepting_ ? now_ns : kNever, &instance.batch);
    if (instance.batch.empty()) {
      limits_.Leave(index);  // it waits for company
    }
  }
  limits_.LeaveUnless(pending() > 0);
  WakeRoused();
  return wake_ns;
}

// Whether the instance that is borrowed next gets what an execution has to hold.
bool Dispatcher::IdleMayExecute() {
  Instance& instance = waiting_.Borrow();
  const bool may = limits_.TryAcquire(instance.index());
  waiting_.GiveBack(instance);
  return may;
}

// Waits until the instance can hold what an execution needs, or has nothing to execute. False: it
// does not wait for that. Another instance may need less, so it has a look meanwhile.
bool Dispatcher::AwaitLimits(Instance& instance) {
  if (!limits_.HasWaited(instance.index())) {
    return false;
  }
  Instance* const other = ChooseForRest();
  const MutexUnlock unlock(mutex_);
  if (other != nullptr) {
    other->wake.NotifyOne();
  }
  limits_.Await(instance.index());
  return true;
}

// Without requests the instance is idle and can be borrowed. With requests that the policy lets
// wait it waits with them; of those that share a queue one does, and the others stay idle. While
// the model warms up all do.
void Dispatcher::BeginToWait(Instance& instance, int64_t wake_ns) {
  if (warming_up_) {
    waiting_.BecomeIdle(instance);
  } else if (sequences_ != nullptr) {
    if (sequences_->HasReady(instance.index())) {
      waiting_.BecomeArmed(instance, wake_ns);
    } else {
      waiting_.BecomeIdle(instance);
    }
  } else if (queue_.empty() || waiting_.has_armed()) {
    waiting_.BecomeIdle(instance);
  } else {
    waiting_.BecomeArmedForQueue(instance, RowsWorthWaking(config_.batch_policy, queue_.rows()),
                                 wake_ns);
  }
}

void Dispatcher::Executed(std::vector<Request*>* batch) {
  executing_.fetch_sub(batch->size(), std::memory_order_relaxed);
  if (sequences_ != nullptr) {
    const MutexLock lock(mutex_);
    FinishSequenceBatch(batch);
  }
}

// An instance that executed it looks for more when it comes to Next; one that went on is woken.
void Dispatcher::FinishSequenceBatch(std::vector<Request*>* batch) {
  sequences_->Finish(batch, now_());
  WakeRoused();
  ArmTimer();
}

void Dispatcher::WakeRoused() {
  for (uint32_t roused = sequences_->TakeRoused(); roused != SequenceQueue::kNone;
       roused = sequences_->TakeRoused()) {
    waiting_.Wake(*instances_[roused]);
  }
}

RequestState Dispatcher::Withdraw(Request& request, RemovedRequests* removed) {
  const MutexLock lock(mutex_);
  // Mark first, then look: the cache answers in the opposite order, without the mutex.
  request.cancelled.store(true, std::memory_order_seq_cst);
  const RequestState state = request.state.load(std::memory_order_seq_cst);
  if (state != RequestState::kQueued) {
    return state;
  }
  if (sequences_ == nullptr) {
    queue_.Remove(&request);
    removed->culprits.Append(&request);
  } else {
    sequences_->Remove(request, removed, now_());
    MarkTaken(removed->abandoned);
    ArmTimer();
  }
  MarkTaken(removed->culprits);
  limits_.LeaveUnless(pending() > 0);
  WakeForChange();
  return state;
}

RemovedRequests Dispatcher::TakeExpired(int64_t now_ns, int64_t* next_expiry_ns_out) {
  RemovedRequests removed;
  const MutexLock lock(mutex_);
  if (sequences_ == nullptr) {
    queue_.TakeExpired(now_ns, &removed.culprits);
  } else {
    sequences_->TakeExpired(now_ns, &removed);
    MarkTaken(removed.abandoned);
  }
  MarkTaken(removed.culprits);
  armed_expiry_ns_ = NextEventNs();
  *next_expiry_ns_out = armed_expiry_ns_;
  limits_.LeaveUnless(pending() > 0);
  WakeForChange();
  return removed;
}

RequestList Dispatcher::TakeAll() {
  const MutexLock lock(mutex_);
  RequestList all = sequences_ == nullptr ? RequestList() : sequences_->TakeAll();
  while (Request* const request = queue_.First()) {
    queue_.Remove(request);
    all.Append(request);
  }
  MarkTaken(all);
  limits_.LeaveUnless(pending() > 0);
  return all;
}

void Dispatcher::Answered(size_t count) {
  const MutexLock lock(mutex_);
  CountAnswered(count);
}

bool Dispatcher::IsIdle() {
  const MutexLock lock(mutex_);
  return unanswered_ == 0;
}

bool Dispatcher::AwaitAnswers(int64_t deadline_ns) {
  const MutexLock lock(mutex_);
  bool in_time = true;
  while (unanswered_ > 0 && in_time) {
    in_time = drained_.WaitUntil(mutex_, deadline_ns);
  }
  return unanswered_ == 0;
}

void Dispatcher::StopInstances() {
  const MutexLock lock(mutex_);
  waiting_.Stop();
}

void Dispatcher::AwaitWakers() const {
  while (wakers_.load(std::memory_order_acquire) != 0) {
    std::this_thread::yield();  // they are between releasing the mutex and returning
  }
}

void Dispatcher::ReadCounts(uint64_t* pending_out, uint64_t* executing_out) {
  const MutexLock lock(mutex_);
  *pending_out = pending();
  *executing_out = executing_;
}

// Chooses who is to look at what is left in the queue.
Instance* Dispatcher::ChooseForRest() { return queue_.empty() ? nullptr : waiting_.ChooseToWake(); }

void Dispatcher::WakeForChange() {
  if (sequences_ != nullptr) {
    WakeRoused();
    for (Instance* const instance : instances_) {
      if (sequences_->HasReady(instance->index())) {
        waiting_.Wake(*instance);
      }
    }
  } else if (Instance* const woken = waiting_.ChooseForChange()) {
    woken->wake.NotifyOne();
  }
}

void Dispatcher::FinishSequences() {
  const MutexLock lock(mutex_);
  if (sequences_ != nullptr) {
    sequences_->FinishSequences();
  }
}

bool Dispatcher::KnowsSequence(uint64_t number, std::string_view name) {
  const MutexLock lock(mutex_);
  return sequences_ != nullptr && sequences_->Knows(number, name);
}

void Dispatcher::ReadSequenceStats(nrd_sequence_stats* stats_out) {
  const MutexLock lock(mutex_);
  if (sequences_ != nullptr) {
    sequences_->ReadStats(stats_out);
  }
}

}  // namespace nereid
