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

// A batch of a backend that may keep it when execute returns. Of the instance's thread, when
// execute returns, and the thread on which the backend finishes the batch, the later one ends it.
// The object is reused for later batches of the instance, and knows when it is not in use.
class DetachedBatch {
 public:
  class Owner {
   public:
    // Called when the backend has finished a batch that it kept, on its thread, without a lock;
    // gives the batch back at the end.
    virtual void EndDetached(DetachedBatch& batch) = 0;
    // Called likewise when one request is answered before the others.
    virtual void AnswerEarly(DetachedBatch& batch, Request& request) = 0;

   protected:
    ~Owner() = default;
  };

  DetachedBatch(Instance& instance, Owner& owner, const ModelConfig& config, BufferPool& pool,
                PoolAccount* account);
  DetachedBatch(const DetachedBatch&) = delete;
  DetachedBatch& operator=(const DetachedBatch&) = delete;

  // The instance's thread calls these: Open before execute and IsOver after it returned `code`.
  // IsOver is true if this thread has to end the batch; false: another one does, or did. With
  // `attended` it waits for the backend and returns true.
  void Open() NRD_EXCLUDES(mutex_);
  bool IsOver(int32_t code, bool attended) NRD_EXCLUDES(mutex_);

  // Any thread may call; see nrd_batch_finish. Does nothing if the backend does not have the batch.
  void Finish(int32_t code, std::string_view message) NRD_EXCLUDES(mutex_);
  int32_t FinishRequest(uint32_t request_index) NRD_EXCLUDES(mutex_);

  // Called by the thread that ends the batch: answers the requests and returns the time of that.
  // Afterwards a backend can name none of them.
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
  uint64_t ticket = 0;  // the batch's place in the order of answers, with preserve_ordering
  int64_t start_ns = 0;
  uint64_t early_rows = 0;  // rows of requests that succeeded before the others

 private:
  Instance& instance_;
  Owner& owner_;
  // The status of the batch, written by the thread that closes it, read by the one that ends it.
  int32_t code_ = NRD_OK;
  nrd_error error_{};

  bool shortened_ = false;  // some requests were answered before the others

  Mutex mutex_;
  Condition finished_;
  bool open_ NRD_GUARDED_BY(mutex_) = false;  // the backend has the batch
  bool kept_ NRD_GUARDED_BY(mutex_) = false;  // execute has returned, and no thread waits
};

// The batches of one instance: as many as were ever in flight at once.
class DetachedBatches {
 public:
  // Makes the first batch.
  DetachedBatches(Instance& instance, DetachedBatch::Owner& owner, const ModelConfig& config,
                  BufferPool& pool, PoolAccount* account);
  DetachedBatches(const DetachedBatches&) = delete;
  DetachedBatches& operator=(const DetachedBatches&) = delete;

  // Returns an open batch with the requests, in exchange for an empty vector with as much room. If
  // memory for another batch is lacking, waits for one in flight.
  DetachedBatch& Begin(std::vector<Request*>* requests, uint64_t ticket, int64_t start_ns)
      NRD_EXCLUDES(mutex_);
  // Called by the last user of a batch.
  void GiveBack(DetachedBatch& batch) NRD_EXCLUDES(mutex_);
  // Returns when no batch is in flight.
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
