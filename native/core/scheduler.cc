#include "core/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/request_check.h"

namespace nereid {
namespace {

// Waking a thread takes longer, and as much again to hear from it.
constexpr int64_t kShortExecutionNs = 5'000;

// About 3 us in all.
constexpr int kMostLooks = 16;
constexpr int kPausesBetweenLooks = 4;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

Scheduler::Scheduler(const SchedulerContext& context)
    : context_(context),
      config_(context.config),
      unloaded_message_("model '" + config_.name + "' version " + config_.version +
                        " was unloaded"),
      ordered_(context.completion),
      queue_(config_.queue_policies, config_.default_level) {
  for (uint32_t i = 0; i < config_.instance_count; ++i) {
    instances_.push_back(std::make_unique<Instance>(i, context_));
    instances_.back()->batch.reserve(config_.max_batch_requests());
  }
  idle_.reserve(instances_.size());
  waiting_.reserve(config_.max_batch_requests());
  context_.timer.Add(this);
}

Scheduler::~Scheduler() { Stop(); }

// On the way of every request: what costs more is in WhyRefused.
Status Scheduler::MayEnter(const Request& request, int64_t now_ns) const {
  const bool expired = request.record.deadline_ns > 0 && request.record.deadline_ns <= now_ns;
  if (request.cancelled.load(std::memory_order_relaxed) || !accepting_ || expired) [[unlikely]] {
    return WhyRefused(request);
  }
  return Status();
}

Status Scheduler::WhyRefused(const Request& request) const {
  if (request.cancelled.load(std::memory_order_relaxed)) {
    return Status(NRD_CANCELLED, "Request was cancelled before it was submitted");
  }
  if (!accepting_) {
    return Status::Unavailable("Request for unknown model: '" + config_.name + "' version " +
                               config_.version + " is not at ready state");
  }
  return Status(NRD_DEADLINE_EXCEEDED, "Request deadline expired before it was submitted");
}

int32_t Scheduler::Submit(Request& request) {
  std::unique_lock lock(mutex_);
  if (idle_.empty() && queue_.empty()) {
    AwaitShortExecution(request, lock);
  }
  const int64_t now_ns = request.submit_ns;
  Status status = MayEnter(request, now_ns);
  if (status.ok() && MayRunInline(request, now_ns)) {
    Instance& instance = *idle_.back();
    idle_.pop_back();
    return RunInline(instance, request, lock);
  }
  if (status.ok()) {
    status = queue_.Push(&request, now_ns);
  }
  if (!status.ok()) {
    lock.unlock();
    request.state.store(RequestState::kDone, std::memory_order_relaxed);
    SetFailure(request, status.code(), status.message());
    context_.stats.RecordFail(
        status.code() == NRD_CANCELLED ? FailReason::kCancelled : FailReason::kRejected, 0);
    return status.code();
  }
  // From the moment the lock is released the request may be answered and reused: all that touches
  // it happens before. The scheduler may go as well, except while `wakers_` counts this thread.
  request.record.status = NRD_PENDING;
  request.state.store(RequestState::kQueued, std::memory_order_relaxed);
  ++unanswered_;
  if (queue_.next_expiry_ns() < armed_expiry_ns_) {
    armed_expiry_ns_ = queue_.next_expiry_ns();
    context_.timer.Arm(this, armed_expiry_ns_);
  }
  Instance* const instance = ChooseForNewRequest();
  if (instance == nullptr) {
    return NRD_PENDING;
  }
  wakers_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  instance->wake.notify_one();
  wakers_.fetch_sub(1, std::memory_order_release);
  return NRD_PENDING;
}

// An execution that takes less than waking a thread is waited for here, if it ends as soon as it
// should: its thread may have lost the processor. The request is nobody else's yet, and keeps the
// scheduler alive.
void Scheduler::AwaitShortExecution(const Request& request, std::unique_lock<std::mutex>& lock) {
  if (estimate_ns_ == 0 || estimate_ns_ > kShortExecutionNs || !TakesInline(request)) {
    return;
  }
  for (int look = 0; look < kMostLooks && idle_.empty() && queue_.empty(); ++look) {
    lock.unlock();
    for (int i = 0; i < kPausesBetweenLooks; ++i) {
      Pause();
    }
    lock.lock();
  }
}

// Whether the submitting thread may execute anything.
bool Scheduler::TakesInline(const Request& request) const {
  return config_.allow_inline && (context_.backend.flags & NRD_BACKEND_OWN_THREAD) == 0 &&
         (request.record.flags & NRD_REQUEST_NO_INLINE) == 0 && !warming_up_ &&
         // That thread has others to answer, the timer's even those of other models.
         !Completion::InCallback();
}

bool Scheduler::MayRunInline(const Request& request, int64_t now_ns) const {
  if (idle_.empty() || !queue_.empty() || estimate_ns_ > config_.inline_budget_ns ||
      !TakesInline(request)) {
    return false;
  }
  const WaitingRequest alone{.rows = request.rows, .enqueue_ns = now_ns, .joins = true};
  return DecideBatch(config_.batch_policy, {&alone, 1}, now_ns).take == 1;
}

int32_t Scheduler::RunInline(Instance& instance, Request& request,
                             std::unique_lock<std::mutex>& lock) {
  ++executing_;
  ++unanswered_;
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  lock.unlock();

  request.enqueue_ns = request.submit_ns;
  instance.batch.assign(1, &request);
  Execute(instance, request.submit_ns, true);
  const int32_t code = request.record.status;
  const uint64_t execution_ns = request.record.compute_infer_ns;
  request.state.store(RequestState::kDone, std::memory_order_relaxed);

  lock.lock();
  UpdateEstimate(execution_ns);
  --executing_;
  idle_.push_back(&instance);
  Instance* const woken = queue_.empty() ? nullptr : ChooseToWake();
  Answered(1);
  lock.unlock();
  if (woken != nullptr) {
    woken->wake.notify_one();
  }
  return code;
}

int32_t Scheduler::WarmUp(Request& request) {
  std::unique_lock lock(mutex_);
  Status status = MayEnter(request, request.submit_ns);
  if (status.ok() && Completion::InCallback()) {  // perhaps of a thread that has to execute this
    status = Status(NRD_FAILED_PRECONDITION,
                    "model '" + config_.name + "' cannot be warmed up from a completion callback");
  }
  // Requests that are being answered do no harm: their instance looks here when that is done.
  if (status.ok() && (warming_up_ || executing_ > 0 || !queue_.empty())) {
    status = Status(NRD_FAILED_PRECONDITION,
                    "model '" + config_.name + "' cannot be warmed up while it has requests");
  }
  if (!status.ok()) {
    lock.unlock();
    request.state.store(RequestState::kDone, std::memory_order_relaxed);
    SetFailure(request, status.code(), status.message());
    return status.code();
  }
  warming_up_ = true;
  ++unanswered_;  // Drain and Stop wait for it
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  for (const auto& instance : instances_) {
    if (!accepting_) {
      SetFailure(request, NRD_UNAVAILABLE, unloaded_message_);
      break;
    }
    WarmUpInstance(*instance, request, lock);
    if (request.record.status != NRD_OK) {
      break;
    }
  }
  warming_up_ = false;
  const int32_t code = request.record.status;
  request.state.store(RequestState::kDone, std::memory_order_relaxed);
  // Notified with the lock held: after Answered the scheduler may go as soon as that is released.
  if (Instance* const woken = queue_.empty() ? nullptr : ChooseToWake()) {
    woken->wake.notify_one();
  }
  Answered(1);
  return code;
}

// An instance that does not wait is on its way to look for work, and finds this first.
void Scheduler::WarmUpInstance(Instance& instance, Request& request,
                               std::unique_lock<std::mutex>& lock) {
  instance.warm_up = &request;
  if (std::erase(idle_, &instance) > 0 || armed_ == &instance) {
    instance.signalled = true;
    instance.wake.notify_one();
  }
  warmed_up_.wait(lock, [&] { return instance.warm_up == nullptr; });
}

bool Scheduler::MayAnswerAtOnce() {
  if (!config_.preserve_ordering) {
    return accepting_.load(std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  return accepting_ && unanswered_ == 0;
}

int32_t Scheduler::Cancel(Request& request) {
  {
    const std::lock_guard lock(mutex_);
    // Mark first, then look: the cache answers in the opposite order, without the lock.
    request.cancelled.store(true, std::memory_order_seq_cst);
    const RequestState state = request.state.load(std::memory_order_seq_cst);
    if (state != RequestState::kQueued) {
      return state == RequestState::kIdle ? NRD_OK : NRD_FAILED_PRECONDITION;
    }
    queue_.Remove(&request);
    request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
    WakeForChange();
  }
  SetFailure(request, NRD_CANCELLED, "Request was cancelled while it waited in the queue");
  RequestList answered;
  answered.Append(&request);
  AnswerUnexecuted(answered, FailReason::kCancelled);
  return NRD_OK;
}

int64_t Scheduler::OnTimer(int64_t now_ns) {
  RequestList expired;
  int64_t next_ns = kNever;
  {
    const std::lock_guard lock(mutex_);
    queue_.TakeExpired(now_ns, &expired);
    for (Request* request = expired.head; request != nullptr; request = request->next) {
      request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
    }
    next_ns = queue_.next_expiry_ns();
    armed_expiry_ns_ = next_ns;
    WakeForChange();
  }
  AnswerExpired(expired);
  return next_ns;
}

void Scheduler::AnswerExpired(RequestList requests) {
  if (requests.empty()) {
    return;
  }
  const int64_t now_ns = MonotonicNowNs();
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    SetExpired(*request, now_ns);
  }
  AnswerUnexecuted(requests, FailReason::kRejected);
}

// Answers requests that were taken out of the queue and know why.
void Scheduler::AnswerUnexecuted(RequestList requests, FailReason reason) {
  const int64_t now_ns = MonotonicNowNs();
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    request->record.queue_ns = ElapsedNs(request->enqueue_ns, now_ns);
    context_.stats.RecordFail(reason, ElapsedNs(request->submit_ns, now_ns));
  }
  const size_t count = context_.completion.Deliver(requests);
  const std::lock_guard lock(mutex_);
  Answered(count);
}

bool Scheduler::Drain(int64_t deadline_ns) {
  {
    std::unique_lock lock(mutex_);
    accepting_ = false;
    WakeForChange();  // waiting for a fuller batch is over
    const auto drained = [this] { return unanswered_ == 0; };
    if (deadline_ns == kNever) {
      drained_.wait(lock, drained);
      return true;
    }
    if (drained_.wait_until(lock, AsTimePoint(deadline_ns), drained)) {
      return true;
    }
  }
  FailWaiting();
  return false;
}

void Scheduler::FailWaiting() {
  RequestList waiting;
  {
    const std::lock_guard lock(mutex_);
    while (Request* const request = queue_.First()) {
      queue_.Remove(request);
      request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
      waiting.Append(request);
    }
  }
  for (Request* request = waiting.head; request != nullptr; request = request->next) {
    SetFailure(*request, NRD_UNAVAILABLE, unloaded_message_);
  }
  if (!waiting.empty()) {
    AnswerUnexecuted(waiting, FailReason::kRejected);
  }
}

void Scheduler::Stop() {
  context_.timer.Remove(this);
  {
    const std::lock_guard lock(mutex_);
    accepting_ = false;
  }
  FailWaiting();
  {
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [this] { return unanswered_ == 0; });
    stopping_ = true;
    for (const auto& instance : instances_) {
      instance->wake.notify_one();
    }
  }
  for (const auto& instance : instances_) {
    if (instance->thread.joinable()) {
      instance->thread.join();
    }
  }
  while (wakers_.load(std::memory_order_acquire) != 0) {
    std::this_thread::yield();  // they are between releasing the lock and returning
  }
}

void Scheduler::ReadCounts(uint64_t* pending_out, uint64_t* executing_out) {
  const std::lock_guard lock(mutex_);
  *pending_out = queue_.size();
  *executing_out = executing_;
}

void Scheduler::Answered(size_t count) {
  unanswered_ -= count;
  if (unanswered_ == 0 && !accepting_) {
    drained_.notify_all();
  }
}

// An eighth of the newest measurement, the first one included: one slow run, such as a cold start,
// does not change the mode, and a model that is far above the budget leaves it after one.
void Scheduler::UpdateEstimate(uint64_t execution_ns) {
  const auto newest = static_cast<int64_t>(std::min<uint64_t>(execution_ns, kNever / 2));
  estimate_ns_ += (newest - estimate_ns_) / 8;
}

}  // namespace nereid
