#ifndef NEREID_CORE_BATCH_BATCH_INPUTS_H_
#define NEREID_CORE_BATCH_BATCH_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "core/batch/combined_inputs.h"
#include "core/config/model_config.h"
#include "core/request/request.h"
#include "core/sequence/sequence_tensors.h"
#include "memory/buffer_pool.h"

namespace nereid {

// True if the batch has empty rows, as only models whose sequences have fixed rows do.
inline bool HasEmptyRows(const ModelConfig& config, int64_t rows, size_t requests) {
  return config.sequences && static_cast<size_t>(rows) != requests;
}

// The inputs of a batch, as its backend gets them. Belongs to the BatchExecution of one instance.
// Inputs of a single request are passed on; those of several requests are copied once into one
// buffer of the batch for each input. A reshape of the configuration is applied. Hidden inputs,
// which requests do not bring, follow the others.
class BatchInputs {
 public:
  // `account`: counts the bytes. All outlive this.
  BatchInputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account);

  // Gathers the inputs of `requests`, which have so many rows, and points `seen_out` at them.
  // `sequences`: null without sequences. The made inputs hold the references to their buffers until
  // Drop, also when this fails.
  Status Gather(std::span<Request* const> requests, int64_t rows, SequenceTensors* sequences,
                const nrd_tensor** seen_out) {
    if (requests.size() == 1 && !config_.reshapes_inputs && !config_.core_gathers) {
      *seen_out = requests.front()->record.inputs;
      return Status();
    }
    return Make(requests, rows, sequences, seen_out);
  }

  // Drops the references of a batch of so many requests, when it is answered.
  void Drop(size_t requests) {
    if (requests > 1 || config_.core_gathers) {
      DropTensors(made_.data(), static_cast<uint32_t>(made_.size()));
    }
  }

  // The inputs that were made; none if the request's own are passed on.
  [[nodiscard]] std::span<const nrd_tensor> made() const { return made_; }
  [[nodiscard]] size_t size() const { return made_.size(); }

 private:
  Status Make(std::span<Request* const> requests, int64_t rows, SequenceTensors* sequences,
              const nrd_tensor** seen_out);
  Status Describe(std::span<Request* const> requests);
  Status Copy(uint32_t index, std::span<Request* const> requests, int64_t rows);
  static void CopyRows(uint32_t index, std::span<Request* const> requests, uint64_t empty_row_bytes,
                       char* target);
  Status ToBackend(uint32_t index, std::span<Request* const> requests, nrd_tensor* input) const;

  const ModelConfig& config_;
  BufferPool& pool_;
  PoolAccount* const account_;
  const CombinedInputs combined_;
  std::vector<nrd_tensor> made_;
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_BATCH_INPUTS_H_
