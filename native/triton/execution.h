// A batch in the hands of a plug-in: from its execution until all requests have ended.
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

// Is used again when nobody refers to it any more: who executes, and each request, response and
// factory that the plug-in holds.
class Execution {
 public:
  explicit Execution(std::shared_ptr<ExecutionPool> pool, Model& model);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Makes the batch's requests handles; if that fails, none is one.
  Status Begin(nrd_batch* batch);
  // Makes handles of requests that nobody executes yet, until EndViews.
  void BeginViews(std::span<const nrd_request* const> records, const nrd_request* next);
  void EndViews();
  [[nodiscard]] std::span<TRITONBACKEND_Request*> handles() { return handles_; }

  // When the plug-in has returned; what nrd_backend::execute returns.
  int32_t Leave(const Status& status, nrd_error* error_out);
  // One of the requests has ended. When Execute has returned it is answered at once, else with the
  // batch.
  void EndRequest(Request& request);
  // Ends all of them, whatever the plug-in holds: now, or when its Execute returns, which works
  // with them until then.
  void GiveUp();

  // For each response and factory that the plug-in gets; Begin does it for requests.
  void Refer() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Forget();

  // A request of the batch failed.
  void NoteFailure();

  // The times of the computation, of which the first report counts.
  void Computed(uint64_t start_ns, uint64_t end_ns);

  // Gives it to a batch; false: another batch has it, or it was given up. One thread at a time.
  bool Claim();
  // Takes it from the batch, for the next one or for good; false: the other was faster.
  bool LetGo() { return Pass(kBatch, kNobody); }
  bool Lose() { return Pass(kBatch, kLost); }

  // The batch has ended.
  [[nodiscard]] bool is_over() const { return over_.load(std::memory_order_acquire); }

  [[nodiscard]] nrd_batch* batch() const { return batch_; }
  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] Owner& owner() const { return owner_; }
  [[nodiscard]] const std::string& model_name() const { return model_name_; }

 private:
  // Stages of the plug-in's call; kGivenUp is added when the execution is given up meanwhile.
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
  Model& model_;  // until the batch has ended
  const std::string model_name_;
  Owner& owner_;
  nrd_batch* batch_ = nullptr;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<TRITONBACKEND_Request*> handles_;
  std::vector<Request*> used_;
  std::atomic<uint32_t> unended_{0};  // requests, and who executes
  std::atomic<uint32_t> references_{0};
  std::atomic<uint32_t> stage_{kExecuting};
  std::atomic<Holder> holder_{kNobody};
  std::atomic<bool> computed_{false};
  std::atomic<bool> over_{true};
};

// The executions of an instance; outlives it while a plug-in refers to one.
class ExecutionPool : public std::enable_shared_from_this<ExecutionPool> {
 public:
  // Gives a batch to an execution that is free. On the thread of the instance.
  Status Begin(Model& model, nrd_batch* batch, Execution** out);
  void Return(Execution* execution);
  // Ends those that are not over. They are never used again, since the plug-in may look at them.
  void GiveUp();
  void Close();
  // No batch waits for the plug-in, which may hold what is left of batches that have ended.
  bool IsIdle();

  void NoteFailure() { failed_.store(true, std::memory_order_relaxed); }
  // True if something failed since the last call.
  bool TakeFailure() { return failed_.load(std::memory_order_relaxed) && failed_.exchange(false); }

 private:
  // Null: the model was given up.
  Execution* Take(Model& model);
  Execution* FindFree(Model& model);
  // Deletes executions that nobody has.
  void Sweep();

  std::atomic<bool> failed_{false};
  std::atomic<bool> closed_{false};
  Execution* latest_ = nullptr;  // which is free again when the next batch comes, mostly
  Mutex mutex_;
  std::vector<std::unique_ptr<Execution>> all_ NRD_GUARDED_BY(mutex_);  // but those given up
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_EXECUTION_H_
