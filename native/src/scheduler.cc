#include "scheduler.h"

#include <algorithm>
#include <utility>

#include "request_check.h"

namespace nereid {

Scheduler::Scheduler(const SchedulerContext& context)
    : context_(context),
      config_(context.config),
      ordered_(context.completion),
      queue_(config_.queue_policies, config_.default_level) {
  const auto most = static_cast<size_t>(std::clamp<int64_t>(config_.max_batch_size, 1, 1024));
  for (uint32_t i = 0; i < config_.instance_count; ++i) {
    instances_.push_back(std::make_unique<Instance>(i, context_));
    instances_.back()->batch.reserve(most);
    instances_.back()->tags.reserve(most);
  }
  idle_.reserve(instances_.size());
  context_.timer.Add(this);
}

Scheduler::~Scheduler() { Stop(); }

int32_t Scheduler::Submit(Request& request) {
  std::unique_lock lock(mutex_);
  const int64_t now_ns = request.submit_ns;
  Status status;
  if (request.cancelled.load(std::memory_order_relaxed)) {
    status = Status(NRD_CANCELLED, "Request was cancelled before it was submitted");
  } else if (!accepting_) {
    status = Status::Unavailable("Request for unknown model: '" + config_.name + "' version " +
                                 config_.version + " is not at ready state");
  } else if (request.record.deadline_ns > 0 && request.record.deadline_ns <= now_ns) {
    status = Status(NRD_DEADLINE_EXCEEDED, "Request deadline expired before it was submitted");
  } else if (MayRunInline(request, now_ns)) {
    Instance& instance = *idle_.back();
    idle_.pop_back();
    return RunInline(instance, request, lock);
  } else {
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
  // From the moment the lock is released the request may be answered, reused, and the scheduler
  // gone: all that touches either happens before.
  request.record.status = NRD_PENDING;
  request.state.store(RequestState::kQueued, std::memory_order_relaxed);
  ++unanswered_;
  if (queue_.next_expiry_ns() < armed_expiry_ns_) {
    armed_expiry_ns_ = queue_.next_expiry_ns();
    context_.timer.Arm(this, armed_expiry_ns_);
  }
  WakeForNewRequest();
  return NRD_PENDING;
}

bool Scheduler::MayRunInline(const Request& request, int64_t now_ns) const {
  if (!config_.allow_inline || (context_.backend.flags & NRD_BACKEND_OWN_THREAD) != 0 ||
      (request.record.flags & NRD_REQUEST_NO_INLINE) != 0 || idle_.empty() || !queue_.empty() ||
      estimate_ns_ > config_.inline_budget_ns) {
    return false;
  }
  // Running it here while an earlier one is in flight could answer it first.
  if (config_.preserve_ordering && unanswered_ > 0) {
    return false;
  }
  const WaitingRequest alone{.rows = request.rows, .enqueue_ns = now_ns, .joins = true};
  return DecideBatch(config_.batch_policy, {&alone, 1}, now_ns).take == 1;
}

int32_t Scheduler::RunInline(Instance& instance, Request& request,
                             std::unique_lock<std::mutex>& lock) {
  ++executing_;
  ++unanswered_;
  if (config_.preserve_ordering) {
    instance.ticket = ordered_.TakeTicket();
  }
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  lock.unlock();

  request.enqueue_ns = request.submit_ns;
  instance.batch.assign(1, &request);
  Execute(instance, request.submit_ns, true);
  const size_t delivered = config_.preserve_ordering ? ordered_.Finish(instance.ticket, {}) : 0;
  const int32_t code = request.record.status;
  const uint64_t execution_ns = request.record.compute_infer_ns;
  request.state.store(RequestState::kDone, std::memory_order_relaxed);

  lock.lock();
  UpdateEstimate(execution_ns);
  --executing_;
  idle_.push_back(&instance);
  if (!queue_.empty()) {
    WakeAnInstance();
  }
  Answered(1 + delivered);
  return code;
}

int32_t Scheduler::Cancel(Request& request) {
  std::unique_lock lock(mutex_);
  request.cancelled.store(true, std::memory_order_release);
  const RequestState state = request.state.load(std::memory_order_relaxed);
  if (state != RequestState::kQueued) {
    return state == RequestState::kIdle ? NRD_OK : NRD_FAILED_PRECONDITION;
  }
  queue_.Remove(&request);
  request.state.store(RequestState::kExecuting, std::memory_order_relaxed);
  lock.unlock();
  SetFailure(request, NRD_CANCELLED, "Request was cancelled while it waited in the queue");
  context_.stats.RecordFail(FailReason::kCancelled,
                            ElapsedNs(request.submit_ns, MonotonicNowNs()));
  Request* const answered = &request;
  std::vector<uint64_t> tags;
  context_.completion.Deliver({&answered, 1}, tags);
  lock.lock();
  Answered(1);
  return NRD_OK;
}

int64_t Scheduler::OnTimer(int64_t now_ns) {
  std::vector<Request*> expired;
  std::vector<uint64_t> tags;
  int64_t next_ns = kNever;
  {
    const std::lock_guard lock(mutex_);
    queue_.TakeExpired(now_ns, &expired);
    for (Request* request : expired) {
      request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
    }
    next_ns = queue_.next_expiry_ns();
    armed_expiry_ns_ = next_ns;
  }
  Reject(expired, nullptr, tags);
  return next_ns;
}

// Answers requests that were taken out of the queue unexecuted: with `status`, or because their
// time is up.
void Scheduler::Reject(std::vector<Request*>& requests, const Status* status,
                       std::vector<uint64_t>& tags) {
  if (requests.empty()) {
    return;
  }
  const int64_t now_ns = MonotonicNowNs();
  for (Request* request : requests) {
    const Status reason = status != nullptr ? status->Clone() : ExpiryStatus(*request, now_ns);
    SetFailure(*request, reason.code(), reason.message());
    request->record.queue_ns = ElapsedNs(request->enqueue_ns, now_ns);
    context_.stats.RecordFail(FailReason::kRejected, ElapsedNs(request->submit_ns, now_ns));
  }
  context_.completion.Deliver(requests, tags);
  const std::lock_guard lock(mutex_);
  Answered(requests.size());
  requests.clear();
}

bool Scheduler::Drain(int64_t deadline_ns) {
  {
    std::unique_lock lock(mutex_);
    accepting_ = false;
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
  std::vector<Request*> waiting;
  {
    const std::lock_guard lock(mutex_);
    while (Request* request = queue_.First()) {
      queue_.Remove(request);
      request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
      waiting.push_back(request);
    }
  }
  const Status status = Status::Unavailable("model '" + config_.name + "' version " +
                                            config_.version + " was unloaded");
  std::vector<uint64_t> tags;
  Reject(waiting, &status, tags);
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
