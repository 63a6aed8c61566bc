#include "triton/execution.h"

#include <algorithm>
#include <utility>

#include "triton/host.h"
#include "triton/sequence_state.h"

namespace nereid::triton {

Execution::Execution(std::shared_ptr<ExecutionPool> pool, Model& model)
    : pool_(std::move(pool)), model_(model), model_name_(model.name()), owner_(model.owner()) {}

Request& Execution::Next() {
  if (used_.size() == requests_.size()) {
    requests_.push_back(std::make_unique<Request>(*this));
  }
  used_.push_back(requests_[used_.size()].get());
  return *used_.back();
}

Status Execution::Begin(nrd_batch* batch) {
  batch_ = batch;
  used_.clear();
  handles_.clear();
  computed_.store(false, std::memory_order_relaxed);
  over_.store(false, std::memory_order_release);
  Status status = Caught("beginning a batch", [&] {
    OpenRequests(*batch);
    return Status();
  });
  if (!status.ok()) {
    for (Request* request : used_) {
      request->TakeBack(status, false);
    }
    over_.store(true, std::memory_order_release);
    return status;
  }
  const auto all = static_cast<uint32_t>(used_.size()) + 1;  // includes the executing thread
  references_.store(all, std::memory_order_relaxed);
  unended_.store(all, std::memory_order_relaxed);
  return status;
}

void Execution::OpenRequests(const nrd_batch& batch) {
  int64_t row = 0;
  for (uint32_t i = 0; i < batch.request_count; ++i) {
    const nrd_request* const record = batch.requests[i];
    for (; model_.tensors().direct && row < record->first_row; ++row) {
      Next().Begin(i, nullptr, row);
    }
    Next().Begin(i, record, record->first_row);
    ++row;
  }
  for (; model_.tensors().direct && row < batch.batch_size; ++row) {
    Next().Begin(0, nullptr, row);
  }
  for (Request* request : used_) {
    handles_.push_back(Give<TRITONBACKEND_Request>(request));
  }
}

void Execution::BeginViews(std::span<const nrd_request* const> records, const nrd_request* next) {
  used_.clear();
  handles_.clear();
  for (const nrd_request* record : records) {
    Next().Begin(0, record, 0);
  }
  Next().Begin(0, next, 0);
  for (Request* request : used_) {
    handles_.push_back(Give<TRITONBACKEND_Request>(request));
  }
}

void Execution::EndViews() {
  for (Request* request : used_) {
    request->TakeBack(Status(), false);
  }
}

int32_t Execution::Leave(const Status& status, nrd_error* error_out) {
  // A plug-in that fails leaves the requests here. Requests that it answered stay answered.
  for (Request* request : status.ok() ? std::span<Request*>() : std::span<Request*>(used_)) {
    const Request::Taken taken = request->TakeBack(status, false);
    references_.fetch_sub(taken.handles, std::memory_order_acq_rel);
    unended_.fetch_sub(taken.ended ? 1 : 0, std::memory_order_acq_rel);
  }
  if ((stage_.fetch_or(kReturned, std::memory_order_acq_rel) & kGivenUp) != 0) [[unlikely]] {
    TakeAllBack();
  }
  if (unended_.load(std::memory_order_relaxed) > 1) {
    for (Request* request : used_) {
      AnswerEarly(*request);
    }
  }
  int32_t code = NRD_PENDING;
  // A single remaining count is this thread's own; no other thread counts any more.
  if (unended_.load(std::memory_order_acquire) == 1 ||
      unended_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    code = Report(Finish(), error_out);
  }
  if (DropReference()) {
    pool_->Return(this);  // the instance, whose thread this is, holds the pool, too
  }
  return code;
}

// Answers a request that ended before the others. The core answers requests of sequences with their
// batch, and a single request is the batch.
void Execution::AnswerEarly(Request& request) {
  if (used_.size() > 1 && !model_.tensors().sequences && request.TakeEnded()) {
    nrd_batch_request_finish(batch_, request.index());
  }
}

void Execution::EndRequest(Request& request) {
  if ((stage_.load(std::memory_order_acquire) & kReturned) != 0 &&
      unended_.load(std::memory_order_relaxed) > 1) {
    AnswerEarly(request);
  }
  if (unended_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  nrd_batch* const batch = batch_;
  const Status status = Finish();
  nrd_batch_finish(batch, status.code(), status.message().data(), status.message().size());
}

Status Execution::Finish() {
  Status status =
      Caught("writing states", [&] { return WriteStates(batch_, model_.tensors(), used_); });
  over_.store(true, std::memory_order_release);
  return status;
}

void Execution::GiveUp() {
  if ((stage_.fetch_or(kGivenUp, std::memory_order_acq_rel) & kReturned) != 0) {
    TakeAllBack();
  }
}

void Execution::TakeAllBack() {
  const Status why = Caught("giving up a batch", [&] {
    return Status::Unavailable(owner_.name() + " did not answer a request of model '" +
                               model_name_ + "' before the model was unloaded");
  });
  for (Request* request : used_) {
    if (request->TakeBack(why, true).ended) {
      EndRequest(*request);
    }
  }
}

void Execution::Forget() {
  if (DropReference()) {
    const std::shared_ptr<ExecutionPool> pool = pool_;
    pool->Return(this);
  }
}

bool Execution::DropReference() {
  return references_.load(std::memory_order_acquire) == 1 ||
         references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

bool Execution::Claim() {
  if (holder_.load() != kNobody) {
    return false;
  }
  stage_.store(kExecuting, std::memory_order_relaxed);  // as the thread that gives up will see
  holder_.store(kBatch);
  return true;
}

void Execution::NoteFailure() { pool_->NoteFailure(); }

void Execution::Computed(uint64_t start_ns, uint64_t end_ns) {
  if (start_ns != 0 && start_ns <= end_ns && !is_over() &&
      !computed_.load(std::memory_order_relaxed) && !computed_.exchange(true)) {
    nrd_batch_computed(batch_, static_cast<int64_t>(start_ns), static_cast<int64_t>(end_ns));
  }
}

Status ExecutionPool::Begin(Model& model, nrd_batch* batch, Execution** out) {
  Execution* const taken = Take(model);
  if (taken == nullptr) [[unlikely]] {
    return Status::Unavailable("model '" + model.name() + "' was given up by its unload");
  }
  Status status = taken->Begin(batch);
  if (status.ok()) [[likely]] {
    *out = taken;
  } else {
    Return(taken);
  }
  return status;
}

// Either this thread sees that the model was given up, or the thread that gives up sees the batch's
// execution.
Execution* ExecutionPool::Take(Model& model) {
  if (latest_ == nullptr || !latest_->Claim()) {
    latest_ = FindFree(model);
  }
  if (model.given_up()) [[unlikely]] {
    Return(latest_);
    return nullptr;
  }
  return latest_;
}

Execution* ExecutionPool::FindFree(Model& model) {
  const MutexLock lock(mutex_);
  for (const auto& execution : all_) {
    if (execution->Claim()) {
      return execution.get();
    }
  }
  all_.push_back(std::make_unique<Execution>(shared_from_this(), model));
  all_.back()->Claim();
  return all_.back().get();
}

// Either this thread sees that the pool was closed, or the closing one sees a free execution.
void ExecutionPool::Return(Execution* execution) {
  if (execution->LetGo() && closed_.load()) {
    Sweep();
  }
}

void ExecutionPool::Sweep() {
  std::vector<std::unique_ptr<Execution>> unused;  // deleted after the mutex is released
  const MutexLock lock(mutex_);
  const auto first = std::partition(all_.begin(), all_.end(),
                                    [](const auto& execution) { return !execution->Claim(); });
  std::move(first, all_.end(), std::back_inserter(unused));
  all_.erase(first, all_.end());
}

bool ExecutionPool::IsIdle() {
  const MutexLock lock(mutex_);
  return std::all_of(all_.begin(), all_.end(),
                     [](const auto& execution) { return execution->is_over(); });
}

void ExecutionPool::GiveUp() {
  static auto* const given_up = new std::vector<std::unique_ptr<Execution>>;
  static auto* const given_up_mutex = new Mutex;
  std::vector<std::unique_ptr<Execution>> lost;
  {
    const MutexLock lock(mutex_);
    const auto first = std::partition(all_.begin(), all_.end(),
                                      [](const auto& execution) { return !execution->Lose(); });
    std::move(first, all_.end(), std::back_inserter(lost));
    all_.erase(first, all_.end());
  }
  for (const auto& execution : lost) {
    execution->GiveUp();
  }
  const MutexLock lock(*given_up_mutex);
  std::move(lost.begin(), lost.end(), std::back_inserter(*given_up));
}

void ExecutionPool::Close() {
  closed_.store(true);
  Sweep();
}

}  // namespace nereid::triton
