// Batches that may outlive execute: see NRD_BACKEND_DETACHES.
#ifndef NEREID_CORE_BATCH_DETACHED_BATCH_H_
#define NEREID_CORE_BATCH_DETACHED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "core/batch/batch_execution.h"
#include "core/request/request.h"

namespace nereid {

class Instance;

// A batch of a backend that may keep it when execute returns. The thread that comes last ends it:
// the thread of the instance, on which execute returns, or the one on which the backend finishes
// it. It is used again for later batches of the instance, and knows when it is not in use.
class DetachedBatch {
 public:
  class Owner {
   public:
    // The backend has finished a batch that it kept. Called on its thread, without a lock; gives
    // the batch back in the end.
    virtual void EndDetached(DetachedBatch& batch) = 0;
    // One of its requests is answered before the others, likewise.
    virtual void AnswerEarly(DetachedBatch& batch, Request& request) = 0;

   protected:
    ~Owner() = default;
  };

  DetachedBatch(Instance& instance, Owner& owner, const ModelConfig& config, BufferPool& pool,
                PoolAccount* account);
  DetachedBatch(const DetachedBatch&) = delete;
  DetachedBatch& operator=(const DetachedBatch&) = delete;

  // On the thread of the instance: before and after execute, which returned `code`. IsOver is true
  // when this thread has to end the batch; false: another one does, or did already. With
  // `attended` it waits, and is true.
  void Open() NRD_EXCLUDES(mutex_);
  bool IsOver(int32_t code, bool attended) NRD_EXCLUDES(mutex_);

  // On any thread: see nrd_batch_finish. Nothing happens when the batch is not the backend's.
  void Finish(int32_t code, std::string_view message) NRD_EXCLUDES(mutex_);
  int32_t FinishRequest(uint32_t request_index) NRD_EXCLUDES(mutex_);

  // For who ends it: answers the requests, and returns when that was done. From here on a backend
  // that names one of them finds none.
  int64_t End() {
    if (shortened_) [[unlikely]] {
      execution.ForgetTaken();
      std::erase(requests, nullptr);
    }
    const int64_t end_ns = execution.End(code_, error_);
    execution.Forget();
    return end_ns;
  }

  [[nodiscard]] Instance& instance() const { return instance_; }

  BatchExecution execution;
  std::vector<Request*> requests;
  uint64_t ticket = 0;  // its place in the order of answers, with preserve_ordering
  int64_t start_ns = 0;
  uint64_t early_rows = 0;  // of requests that succeeded before the others

 private:
  Instance& instance_;
  Owner& owner_;
  // The status of execute: the closer of the batch writes it, the thread that ends it reads it.
  int32_t code_ = NRD_OK;
  nrd_error error_{};

  bool shortened_ = false;  // there are requests that were answered before the others

  Mutex mutex_;
  Condition finished_;
  bool open_ NRD_GUARDED_BY(mutex_) = false;  // it is the backend's
  bool kept_ NRD_GUARDED_BY(mutex_) = false;  // execute has returned, and nobody waits
};

// The batches of one instance: as many as were ever in flight at once.
class DetachedBatches {
 public:
  // Makes the first one.
  DetachedBatches(Instance& instance, DetachedBatch::Owner& owner, const ModelConfig& config,
                  BufferPool& pool, PoolAccount* account);
  DetachedBatches(const DetachedBatches&) = delete;
  DetachedBatches& operator=(const DetachedBatches&) = delete;

  // One that is open and has the requests, for which the caller gets an empty vector with as much
  // room. Waits for one that is in flight when memory is missing for another.
  DetachedBatch& Begin(std::vector<Request*>* requests, uint64_t ticket, int64_t start_ns)
      NRD_EXCLUDES(mutex_);
  // The last that is done with it.
  void GiveBack(DetachedBatch& batch) NRD_EXCLUDES(mutex_);
  // Returns when none is in flight.
  void AwaitAll() NRD_EXCLUDES(mutex_);

 private:
  void Make() NRD_REQUIRES(mutex_);

  Instance& instance_;
  DetachedBatch::Owner& owner_;
  const ModelConfig& config_;
  BufferPool& pool_;
  PoolAccount* const account_;

  Mutex mutex_;
  Condition returned_;
  std::vector<std::unique_ptr<DetachedBatch>> all_ NRD_GUARDED_BY(mutex_);
  std::vector<DetachedBatch*> unused_ NRD_GUARDED_BY(mutex_);  // the one used last comes last
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_DETACHED_BATCH_H_
