// A batch that a plug-in executes, from its start until all requests have ended.
#ifndef NEREID_TRITON_EXECUTION_H_
#define NEREID_TRITON_EXECUTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/core/tritonbackend.h"
#include "triton/model.h"
#include "triton/request.h"

namespace nereid::triton {

class ExecutionPool;

// Is reused when nothing refers to it any more: the executing thread, and each request, response
// and factory that the plug-in holds.
class Execution {
 public:
  explicit Execution(std::shared_ptr<ExecutionPool> pool, Model& model);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Makes handles of the batch's requests; after a failure there are none.
  Status Begin(nrd_batch* batch);
  // Makes handles of requests that are not executed yet, until EndViews.
  void BeginViews(std::span<const nrd_request* const> records, const nrd_request* next);
  void EndViews();
  [[nodiscard]] std::span<TRITONBACKEND_Request*> handles() { return handles_; }

  // Called when the plug-in has returned; the result is that of nrd_backend::execute.
  int32_t Leave(const Status& status, nrd_error* error_out);
  // Notes that a request has ended. It is answered at once if Execute has returned, otherwise with
  // the batch.
  void EndRequest(Request& request);
  // Ends all requests, even those that the plug-in holds: now, or when its Execute returns, which
  // uses them until then.
  void GiveUp();

  // Counts a response or factory that the plug-in gets; Begin counts requests.
  void Refer() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Forget();

  // Notes that a request of the batch failed.
  void NoteFailure();

  // Notes the times of the computation; the first report counts.
  void Computed(uint64_t start_ns, uint64_t end_ns);

  // Gives the execution to a batch; false: another has it, or it was given up. One thread at a
  // time.
  bool Claim();
  // Takes the execution from the batch, for reuse or for good; false: another thread was faster.
  bool LetGo() { return Pass(kBatch, kNobody); }
  bool Lose() { return Pass(kBatch, kLost); }

  // The batch has ended.
  [[nodiscard]] bool is_over() const { return over_.load(std::memory_order_acquire); }

  [[nodiscard]] nrd_batch* batch() const { return batch_; }
  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] Owner& owner() const { return owner_; }
  [[nodiscard]] const std::string& model_name() const { return model_name_; }

 private:
  // Stages of the plug-in's call; kGivenUp is added when the execution is given up during the call.
  enum : uint32_t { kExecuting = 0, kReturned = 1, kGivenUp = 2 };
  enum Holder : uint32_t { kNobody, kBatch, kLost };

  bool Pass(Holder from, Holder to) { return holder_.compare_exchange_strong(from, to); }
  // True if it was the last reference.
  bool DropReference();

  void OpenRequests(const nrd_batch& batch);
  Request& Next();
  Status Finish();
  void TakeAllBack();
  void AnswerEarly(Request& request);

  const std::shared_ptr<ExecutionPool> pool_;
  Model& model_;  // valid until the batch has ended
  const std::string model_name_;
  Owner& owner_;
  nrd_batch* batch_ = nullptr;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<TRITONBACKEND_Request*> handles_;
  std::vector<Request*> used_;
  std::atomic<uint32_t> unended_{0};  // requests, and the executing thread
  std::atomic<uint32_t> references_{0};
  std::atomic<uint32_t> stage_{kExecuting};
  std::atomic<Holder> holder_{kNobody};
  std::atomic<bool> computed_{false};
  std::atomic<bool> over_{true};
};

// The executions of an instance; outlives the instance while a plug-in refers to one.
class ExecutionPool : public std::enable_shared_from_this<ExecutionPool> {
 public:
  // Gives a batch to a free execution. Called by the instance's thread.
  Status Begin(Model& model, nrd_batch* batch, Execution** out);
  void Return(Execution* execution);
  // Ends the unfinished executions. They are not reused: the plug-in may still look at them.
  void GiveUp();
  void Close();
  // True if no batch waits for the plug-in, which may still hold objects of finished batches.
  bool IsIdle();

  void NoteFailure() { failed_.store(true, std::memory_order_relaxed); }
  // True if a request failed since the last call.
  bool TakeFailure() { return failed_.load(std::memory_order_relaxed) && failed_.exchange(false); }

 private:
  // Null: the model was given up.
  Execution* Take(Model& model);
  Execution* FindFree(Model& model);
  // Deletes unused executions.
  void Sweep();

  std::atomic<bool> failed_{false};
  std::atomic<bool> closed_{false};
  Execution* latest_ = nullptr;  // mostly free again when the next batch comes
  Mutex mutex_;
  std::vector<std::unique_ptr<Execution>> all_ NRD_GUARDED_BY(mutex_);  // all but those given up
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_EXECUTION_H_
