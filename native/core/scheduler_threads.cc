// The part of the scheduler that instance threads run.
#include <pthread.h>

#include <exception>
#include <utility>

#include "core/request_check.h"
#include "core/scheduler.h"
#include "core/store_answer.h"

namespace nereid {
namespace {

// Linux keeps 15 characters of a thread's name.
std::string ThreadName(const std::string& model, uint32_t index) {
  const std::string suffix = "-" + std::to_string(index);
  return "nrd-" + model.substr(0, 11 - suffix.size()) + suffix;
}

// For what is only kept on the side: being short of memory must not fail the request.
template <typename Action>
void BestEffort(Action&& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

}  // namespace

Status Scheduler::Start() {
  std::unique_lock lock(mutex_);
  opening_ = static_cast<uint32_t>(instances_.size());
  for (const auto& instance : instances_) {
    instance->thread = std::thread([this, target = instance.get()] {
      RunThread(*target, ThreadName(config_.name, target->index));
    });
  }
  opened_.wait(lock, [this] { return opening_ == 0; });
  accepting_ = open_status_.ok();
  return open_status_.Clone();
}

Status Scheduler::OpenInstance(Instance& instance) {
  nrd_error error{};
  const int32_t code = context_.backend.open_instance(context_.model_state, instance.index,
                                                      &instance.handle, &error);
  return StatusFromCallback(code, error, "opening an instance");
}

void Scheduler::RunThread(Instance& instance, std::string name) {
  pthread_setname_np(pthread_self(), name.c_str());
  Status status = OpenInstance(instance);
  const bool open = status.ok();
  std::unique_lock lock(mutex_);
  if (!open && open_status_.ok()) {
    open_status_ = std::move(status);
  }
  if (--opening_ == 0) {
    opened_.notify_all();
  }
  while (open && !stopping_) {
    if (instance.warm_up != nullptr) {
      lock.unlock();
      ExecuteWarmUp(instance);
      lock.lock();
      instance.warm_up = nullptr;
      warmed_up_.notify_one();
    }
    const bool work = TakeBatch(instance);
    if (!work && instance.expired.empty()) {
      WaitForWork(instance, lock);
      continue;
    }
    lock.unlock();
    if (Instance* const next = std::exchange(instance.next_to_wake, nullptr)) {
      next->wake.notify_one();
    }
    AnswerExpired(std::exchange(instance.expired, {}));
    size_t delivered = 0;
    if (work) {
      Execute(instance, MonotonicNowNs(), false);
      executing_.fetch_sub(instance.batch.size(), std::memory_order_relaxed);
      delivered = Deliver(instance);
    }
    lock.lock();
    if (work) {
      if (instance.execution.executed()) {
        UpdateEstimate(instance.execution.compute_infer_ns());
      }
      Answered(delivered);
    }
  }
  lock.unlock();
  if (open) {
    context_.backend.close_instance(instance.handle);
  }
}

// Nothing of it is counted, and it tells nothing about how long an execution takes later.
void Scheduler::ExecuteWarmUp(Instance& instance) {
  Request& request = *instance.warm_up;
  instance.batch.assign(1, &request);
  instance.execution.Run(context_.backend, instance.handle, instance.batch, MonotonicNowNs(),
                         nullptr);
  DropTensors(request.record.outputs, request.record.output_count);
}

size_t Scheduler::Deliver(Instance& instance) {
  RequestList answered;
  for (Request* request : instance.batch) {
    answered.Append(request);
  }
  return config_.preserve_ordering ? ordered_.Finish(instance.ticket, answered)
                                   : context_.completion.Deliver(answered);
}

// Only as far as one batch can reach, and one further to see that it ends there.
void Scheduler::LookAtQueue() {
  waiting_.clear();
  const Request* const first = queue_.First();
  int64_t rows = 0;
  for (const Request* request = first;
       request != nullptr && waiting_.size() < config_.max_batch_requests();
       request = queue_.After(request)) {
    const bool joins = config_.uniform || request == first || SameShapes(*first, *request);
    waiting_.push_back({.rows = request->rows, .enqueue_ns = request->enqueue_ns, .joins = joins});
    rows += request->rows;
    if (!joins || rows > config_.max_batch_size) {
      break;
    }
  }
}

// When there is nothing to take, sets when to look again.
bool Scheduler::TakeBatch(Instance& instance) {
  instance.batch.clear();
  if (queue_.empty() || warming_up_) {
    return false;
  }
  const int64_t now_ns = MonotonicNowNs();
  queue_.TakeExpired(now_ns, &instance.expired);
  for (Request* request = instance.expired.head; request != nullptr; request = request->next) {
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
  }
  LookAtQueue();
  // When no more requests are accepted there is nothing to wait for.
  const BatchDecision decision =
      DecideBatch(config_.batch_policy, waiting_, accepting_ ? now_ns : kNever);
  if (decision.take == 0) {
    instance.wake_ns = decision.wake_ns;
    return false;
  }
  for (size_t i = 0; i < decision.take; ++i) {
    Request* const request = queue_.First();
    queue_.Remove(request);
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
    instance.batch.push_back(request);
  }
  executing_ += instance.batch.size();
  if (config_.preserve_ordering) {
    instance.ticket = ordered_.TakeTicket();
  }
  instance.next_to_wake = queue_.empty() ? nullptr : ChooseToWake();
  return true;
}

// Marks an instance that has to look at the queue; null: none is waiting. The caller notifies it,
// better without the lock: a thread that wakes up only to wait for the lock costs two switches.
Scheduler::Instance* Scheduler::ChooseToWake() {
  Instance* instance = armed_;
  if (instance == nullptr && !idle_.empty()) {
    instance = idle_.back();
    idle_.pop_back();
  }
  if (instance == nullptr || instance->signalled) {
    return nullptr;
  }
  instance->signalled = true;
  return instance;
}

// While an instance waits for a fuller batch, a request that does not fill it changes nothing. One
// cannot tell from the number of rows when shapes differ, or when a request can come in between.
Scheduler::Instance* Scheduler::ChooseForNewRequest() {
  const bool rows_tell = config_.uniform && config_.queue_policies.size() == 1;
  if (armed_ == nullptr || !rows_tell || queue_.rows() >= wake_rows_) {
    return ChooseToWake();
  }
  return nullptr;
}

// What an instance waits for was computed from requests of which some are gone, or will not come.
void Scheduler::WakeForChange() {
  if (armed_ == nullptr) {
    return;
  }
  if (Instance* const instance = ChooseToWake()) {
    instance->wake.notify_one();
  }
}

// Without requests the instance is idle and can be borrowed. With requests that the policy lets
// wait, one instance waits with them; the others stay idle. While the model warms up all do.
void Scheduler::WaitForWork(Instance& instance, std::unique_lock<std::mutex>& lock) {
  const auto wanted = [&] { return instance.signalled || stopping_; };
  if (queue_.empty() || armed_ != nullptr || warming_up_) {
    idle_.push_back(&instance);
    instance.wake.wait(lock, wanted);
  } else {
    armed_ = &instance;
    wake_rows_ = RowsWorthWaking(config_.batch_policy, queue_.rows());
    instance.wake.wait_until(lock, AsTimePoint(instance.wake_ns), wanted);
    armed_ = nullptr;
  }
  instance.signalled = false;
}

void Scheduler::Execute(Instance& instance, int64_t start_ns, bool ran_inline) {
  BatchExecution& execution = instance.execution;
  const int64_t end_ns = execution.Run(context_.backend, instance.handle, instance.batch, start_ns,
                                       &context_.responder);
  uint64_t rows_answered = 0;
  for (Request* request : instance.batch) {
    nrd_request& record = request->record;
    record.ran_inline = ran_inline ? 1 : 0;
    record.queue_ns = ElapsedNs(request->enqueue_ns, start_ns);
    if (request->cacheable) {
      StoreAnswer(*context_.cache, context_.stats, *request);
    }
    const uint64_t total_ns = ElapsedNs(request->submit_ns, end_ns);
    if (record.status == NRD_OK) {
      rows_answered += static_cast<uint64_t>(request->rows);
      context_.stats.RecordSuccess(instance.index, {.queue_ns = record.queue_ns,
                                                    .compute_input_ns = record.compute_input_ns,
                                                    .compute_infer_ns = record.compute_infer_ns,
                                                    .compute_output_ns = record.compute_output_ns,
                                                    .total_ns = total_ns});
    } else if (record.status == NRD_CANCELLED) {
      context_.stats.RecordFail(FailReason::kCancelled, total_ns);
    } else if (config_.decoupled && record.status == NRD_DEADLINE_EXCEEDED) {
      context_.stats.RecordFail(FailReason::kRejected, total_ns);
    } else {
      context_.stats.RecordFail(execution.executed() ? FailReason::kBackend : FailReason::kOther,
                                total_ns);
    }
  }
  if (rows_answered > 0) {
    BestEffort([&] {
      context_.stats.RecordExecution(instance.index, rows_answered,
                                     static_cast<uint64_t>(execution.rows()),
                                     execution.compute_input_ns(), execution.compute_infer_ns(),
                                     execution.compute_output_ns(), ran_inline);
    });
  }
}

}  // namespace nereid
