#include "core/batch/detached_batch.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/status.h"

namespace nereid {

DetachedBatch::DetachedBatch(Instance& instance, Owner& owner, const ModelConfig& config,
                             BufferPool& pool, PoolAccount* account)
    : execution(config, pool, account, this), instance_(instance), owner_(owner) {
  requests.reserve(config.max_batch_requests());
}

void DetachedBatch::Open() {
  const MutexLock lock(mutex_);
  open_ = true;
  kept_ = false;
  shortened_ = false;
  early_rows = 0;
}

// If the backend has finished the batch, its status counts and not execute's.
bool DetachedBatch::IsOver(int32_t code, bool attended) {
  const MutexLock lock(mutex_);
  if (code != NRD_PENDING && open_) {
    open_ = false;
    code_ = code;
    if (code != NRD_OK) {
      error_ = execution.error();
    }
  }
  while (attended && open_) {
    finished_.Wait(mutex_);
  }
  kept_ = open_;
  return !open_;
}

void DetachedBatch::Finish(int32_t code, std::string_view message) {
  {
    const MutexLock lock(mutex_);
    if (!open_) {
      return;
    }
    open_ = false;
    code_ = code;
    WriteError(&error_, code, message);
    if (!kept_) {
      finished_.NotifyOne();  // the thread of the instance ends it
      return;
    }
  }
  owner_.EndDetached(*this);
}

int32_t DetachedBatch::FinishRequest(uint32_t request_index) {
  Request* request = nullptr;
  {
    const MutexLock lock(mutex_);
    request = open_ ? execution.TakeRequest(request_index) : nullptr;
    if (request == nullptr) {
      return NRD_FAILED_PRECONDITION;
    }
    *std::find(requests.begin(), requests.end(), request) = nullptr;
    early_rows += request->record.status == NRD_OK ? static_cast<uint64_t>(request->rows) : 0;
    shortened_ = true;
  }
  owner_.AnswerEarly(*this, *request);
  return NRD_OK;
}

DetachedBatches::DetachedBatches(Instance& instance, DetachedBatch::Owner& owner,
                                 const ModelConfig& config, BufferPool& pool, PoolAccount* account)
    : instance_(instance), owner_(owner), config_(config), pool_(pool), account_(account) {
  const MutexLock lock(mutex_);
  Make();
}

// Allocates first: that may throw, and then nothing has changed.
void DetachedBatches::Make() {
  auto made = std::make_unique<DetachedBatch>(instance_, owner_, config_, pool_, account_);
  unused_.reserve(all_.size() + 1);
  all_.push_back(std::move(made));
  unused_.push_back(all_.back().get());
}

// Takes the batch unused for longest, so that finishing a batch twice does not hit a later use of
// it.
DetachedBatch& DetachedBatches::Begin(std::vector<Request*>* requests, uint64_t ticket,
                                      int64_t start_ns) {
  DetachedBatch* batch = nullptr;
  {
    const MutexLock lock(mutex_);
    while (unused_.empty()) {
      try {
        Make();
      } catch (const std::exception&) {  // only memory can be lacking
        returned_.Wait(mutex_);
      }
    }
    batch = unused_.front();
    unused_.erase(unused_.begin());
  }
  batch->requests.clear();
  batch->requests.swap(*requests);
  batch->ticket = ticket;
  batch->start_ns = start_ns;
  batch->Open();
  return *batch;
}

void DetachedBatches::GiveBack(DetachedBatch& batch) {
  const MutexLock lock(mutex_);
  unused_.push_back(&batch);  // has room for all
  returned_.NotifyAll();
}

void DetachedBatches::AwaitAll() {
  const MutexLock lock(mutex_);
  while (unused_.size() < all_.size()) {
    returned_.Wait(mutex_);
  }
}

}  // namespace nereid
