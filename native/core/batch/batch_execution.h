#ifndef NEREID_CORE_BATCH_BATCH_EXECUTION_H_
#define NEREID_CORE_BATCH_BATCH_EXECUTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "core/batch/batch_inputs.h"
#include "core/batch/batch_outputs.h"
#include "core/batch/batch_sequences.h"
#include "core/config/model_config.h"
#include "core/request/decoupled_responses.h"
#include "core/request/request.h"
#include "memory/buffer_pool.h"

namespace nereid {

class DetachedBatch;

// One execution of a backend: requests are gathered into a batch, run, and answered from it.
// Belongs to one instance and is used by one thread at a time; its vectors keep their memory, so an
// execution allocates buffers from the pool and nothing else.
//
// BatchInputs gathers the backend's inputs, BatchOutputs distributes its outputs, and
// BatchSequences handles the states of sequences.
class BatchExecution {
 public:
  // `detached`: contains this, if its backend may keep the batch; null: it may not.
  BatchExecution(const ModelConfig& config, BufferPool& pool, PoolAccount* account,
                 DetachedBatch* detached = nullptr);
  BatchExecution(const BatchExecution&) = delete;
  BatchExecution& operator=(const BatchExecution&) = delete;

  // Executes `requests`, which fit together. Never throws: failures fail the requests. On return
  // each one has its status, outputs or error, executed_batch_size and the compute times. Returns
  // the moment at which all was done. Without a responder the responses that it would get are
  // dropped.
  int64_t Run(const nrd_backend& backend, void* instance, std::span<Request* const> requests,
              int64_t start_ns, const Responder* responder) {
    return End(Start(backend, instance, requests, start_ns, responder), error_);
  }

  // The two halves of Run. Start returns execute's status, or one in its place, and leaves the
  // message in error(). With NRD_PENDING the backend has the batch, and gives End's status.
  int32_t Start(const nrd_backend& backend, void* instance, std::span<Request* const> requests,
                int64_t start_ns, const Responder* responder);
  [[nodiscard]] const nrd_error& error() const { return error_; }
  int64_t End(int32_t code, const nrd_error& error);
  // Drops the requests, so that a backend can name none from here on.
  void Forget();

  // The backend calls these while it executes; those about a request from several threads, each for
  // another request.
  static BatchExecution* From(nrd_batch* batch) { return reinterpret_cast<BatchExecution*>(batch); }
  Status Output(uint32_t index, const nrd_tensor& wanted, void** data_out);
  Status ForwardInput(uint32_t index, uint32_t input_index);
  Status FindState(uint32_t request_index, uint32_t state, nrd_tensor* found_out) const;
  Status GiveState(uint32_t request_index, uint32_t state, const nrd_tensor& made);
  Status RequestOutput(uint32_t request_index, uint32_t index, const nrd_tensor& wanted,
                       void** data_out);
  Status Respond(uint32_t request_index);
  Status RespondError(uint32_t request_index, int32_t code, std::string_view message);
  Status AddValue(uint32_t request_index, const nrd_value& value);
  Status Reschedule(uint32_t request_index);
  void FailRequest(uint32_t request_index, int32_t code, std::string_view message);
  void Computed(int64_t start_ns, int64_t end_ns);
  void Finish(int32_t code, std::string_view message);
  int32_t FinishRequest(uint32_t request_index);

  // For DetachedBatch: takes out a request that is answered before the others, and completes its
  // answer. Null: the number is unknown, or the request was taken before.
  Request* TakeRequest(uint32_t request_index);
  // Closes the gaps of requests that were taken.
  void ForgetTaken();

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] uint64_t compute_input_ns() const { return compute_input_ns_; }
  [[nodiscard]] uint64_t compute_infer_ns() const { return compute_infer_ns_; }
  [[nodiscard]] uint64_t compute_output_ns() const { return compute_output_ns_; }
  // True if the backend ran, as opposed to gathering having failed or every request cancelled.
  [[nodiscard]] bool executed() const { return executed_; }

 private:
  [[nodiscard]] Status CheckRequestIndex(uint32_t request_index) const;
  [[nodiscard]] Status CheckResponds(uint32_t request_index) const;
  [[nodiscard]] Status CheckState(uint32_t request_index, uint32_t state) const;
  void Begin(std::span<Request* const> requests);
  Status Gather(bool backend_gathers);
  int32_t Execute(const nrd_backend& backend, void* instance);
  void SetTimes(int64_t executed_ns, int64_t end_ns);
  void SetTimes(nrd_request* record, uint64_t infer_ns, uint64_t output_ns) const;
  void HandOut();
  void FailAll(int32_t code, std::string_view message);

  nrd_batch batch_;  // first: the ABI's nrd_batch* is this object
  const ModelConfig& config_;
  DetachedBatch* const detached_;
  BatchInputs inputs_;
  BatchOutputs outputs_;
  std::optional<BatchSequences> sequences_;  // only for a model with sequences
  const Responder* responder_ = nullptr;
  std::vector<Request*> requests_;
  std::vector<const nrd_request*> records_;
  nrd_error error_;
  int64_t rows_ = 0;
  bool executed_ = false;
  int64_t start_ns_ = 0;
  int64_t gathered_ns_ = 0;
  // The time of computing that the backend reported; 0: none.
  int64_t computed_start_ns_ = 0;
  int64_t computed_end_ns_ = 0;
  uint64_t compute_input_ns_ = 0;
  uint64_t compute_infer_ns_ = 0;
  uint64_t compute_output_ns_ = 0;
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_BATCH_EXECUTION_H_
