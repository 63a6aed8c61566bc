// The part of the scheduler that instance threads run.
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "request_check.h"
#include "scheduler.h"

namespace nereid {
namespace {

// Linux keeps 15 characters of a thread's name.
std::string ThreadName(const std::string& model, uint32_t index) {
  const std::string suffix = "-" + std::to_string(index);
  return "nrd-" + model.substr(0, 11 - suffix.size()) + suffix;
}

}  // namespace

Status Scheduler::Start() {
  std::unique_lock lock(mutex_);
  opening_ = static_cast<uint32_t>(instances_.size());
  for (const auto& instance : instances_) {
    instance->thread = std::thread(
        [this, target = instance.get()] { RunThread(*target, ThreadName(config_.name, target->index)); });
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
    const bool work = TakeBatch(instance);
    if (!work && instance.expired.empty()) {
      WaitForWork(instance, lock);
      continue;
    }
    lock.unlock();
    Reject(instance.expired, nullptr, instance.tags);
    size_t delivered = 0;
    if (work) {
      Execute(instance, MonotonicNowNs(), false);
      delivered = Deliver(instance);
    }
    lock.lock();
    if (work) {
      executing_ -= instance.batch.size();
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

size_t Scheduler::Deliver(Instance& instance) {
  if (config_.preserve_ordering) {
    return ordered_.Finish(instance.ticket, instance.batch);
  }
  context_.completion.Deliver(instance.batch, instance.tags);
  return instance.batch.size();
}

// Only as far as one batch can reach, and one further to see that it ends there.
void Scheduler::LookAtQueue(std::vector<WaitingRequest>* waiting_out) const {
  waiting_out->clear();
  const Request* const first = queue_.First();
  int64_t rows = 0;
  for (const Request* request = first; request != nullptr; request = queue_.After(request)) {
    const bool joins = config_.uniform || request == first || SameShapes(*first, *request);
    waiting_out->push_back(
        {.rows = request->rows, .enqueue_ns = request->enqueue_ns, .joins = joins});
    rows += request->rows;
    if (!config_.batch_policy.dynamic || !joins || rows > config_.max_batch_size) {
      break;
    }
  }
}

bool Scheduler::TakeBatch(Instance& instance) {
  instance.batch.clear();
  if (queue_.empty()) {
    return false;
  }
  const int64_t now_ns = MonotonicNowNs();
  queue_.TakeExpired(now_ns, &instance.expired);
  for (Request* request : instance.expired) {
    request->state.store(RequestState::kExecuting, std::memory_order_relaxed);
  }
  LookAtQueue(&waiting_);
  const BatchDecision decision = DecideBatch(config_.batch_policy, waiting_, now_ns);
  if (decision.take == 0) {
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
  if (!queue_.empty()) {
    WakeAnInstance();
  }
  return true;
}

void Scheduler::WakeAnInstance() {
  if (armed_ != nullptr) {
    armed_->signalled = true;
    armed_->wake.notify_one();
  } else if (!idle_.empty()) {
    Instance* const instance = idle_.back();
    idle_.pop_back();
    instance->signalled = true;
    instance->wake.notify_one();
  }
}

// While an instance waits for a fuller batch, a request that does not fill it changes nothing;
// with shapes that differ one cannot tell from the number of rows.
void Scheduler::WakeForNewRequest() {
  if (armed_ == nullptr || !config_.uniform || queue_.rows() >= wake_rows_) {
    WakeAnInstance();
  }
}

// Without requests the instance is idle and can be borrowed. With requests that the policy lets
// wait, one instance waits with them; the others stay idle.
void Scheduler::WaitForWork(Instance& instance, std::unique_lock<std::mutex>& lock) {
  const auto wanted = [&] { return instance.signalled || stopping_; };
  if (queue_.empty() || armed_ != nullptr) {
    idle_.push_back(&instance);
    instance.wake.wait(lock, wanted);
  } else {
    LookAtQueue(&waiting_);
    const BatchDecision decision = DecideBatch(config_.batch_policy, waiting_, MonotonicNowNs());
    if (decision.take == 0) {
      armed_ = &instance;
      wake_rows_ = RowsWorthWaking(config_.batch_policy, queue_.rows());
      instance.wake.wait_until(lock, AsTimePoint(decision.wake_ns), wanted);
      armed_ = nullptr;
    }
  }
  instance.signalled = false;
}

void Scheduler::Execute(Instance& instance, int64_t start_ns, bool ran_inline) {
  BatchExecution& execution = instance.execution;
  const int64_t end_ns =
      execution.Run(context_.backend, instance.handle, instance.batch, start_ns);
  const auto rows = static_cast<uint64_t>(execution.rows());
  if (execution.executed()) {
    context_.stats.RecordExecution(instance.index, rows, rows, execution.compute_input_ns(),
                                   execution.compute_infer_ns(), execution.compute_output_ns(),
                                   ran_inline);
  }
  for (Request* request : instance.batch) {
    nrd_request& record = request->record;
    record.ran_inline = ran_inline ? 1 : 0;
    record.queue_ns = ElapsedNs(request->enqueue_ns, start_ns);
    if (request->cacheable) {
      const int64_t insert_ns = MonotonicNowNs();
      if (record.status == NRD_OK) {
        context_.cache->Insert(request->cache_key, record);
      }
      context_.stats.RecordCacheMiss(request->cache_lookup_ns +
                                     ElapsedNs(insert_ns, MonotonicNowNs()));
    }
    const uint64_t total_ns = ElapsedNs(request->submit_ns, end_ns);
    if (record.status == NRD_OK) {
      context_.stats.RecordSuccess(instance.index,
                                   {.queue_ns = record.queue_ns,
                                    .compute_input_ns = record.compute_input_ns,
                                    .compute_infer_ns = record.compute_infer_ns,
                                    .compute_output_ns = record.compute_output_ns,
                                    .total_ns = total_ns});
    } else {
      context_.stats.RecordFail(record.status == NRD_CANCELLED ? FailReason::kCancelled
                                                               : FailReason::kBackend,
                                total_ns);
    }
  }
}

}  // namespace nereid
