// The inputs of a batch, as its backend gets them.
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

// Only a model whose sequences have rows of their own has such.
inline bool HasEmptyRows(const ModelConfig& config, int64_t rows, size_t requests) {
  return config.sequences && static_cast<size_t>(rows) != requests;
}

// Belongs to the BatchExecution of one instance. A request that is alone in its batch has its own
// inputs passed on; several are copied once into a buffer of the batch for each input. If the
// configuration has a reshape, they have the backend's shape. Inputs that requests do not have are
// made behind the others.
class BatchInputs {
 public:
  // `account`: whom the bytes are counted for. All outlive this.
  BatchInputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account);

  // Puts together the inputs of `requests`, which have so many rows, and points `seen_out` at them.
  // `sequences`: a sequence model's, else null. The inputs made hold the references to their
  // buffers until Drop, also when this fails.
  Status Gather(std::span<Request* const> requests, int64_t rows, SequenceTensors* sequences,
                const nrd_tensor** seen_out) {
    if (requests.size() == 1 && !config_.reshapes_inputs && !config_.core_gathers) {
      *seen_out = requests.front()->record.inputs;
      return Status();
    }
    return Make(requests, rows, sequences, seen_out);
  }

  // For a batch of so many requests, when it is answered.
  void Drop(size_t requests) {
    if (requests > 1 || config_.core_gathers) {
      DropTensors(made_.data(), static_cast<uint32_t>(made_.size()));
    }
  }

  // The inputs that are made; none for a batch whose own are passed on.
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
