#ifndef NEREID_CORE_BATCH_BATCH_SEQUENCES_H_
#define NEREID_CORE_BATCH_BATCH_SEQUENCES_H_

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/output_maker.h"
#include "core/request/request.h"
#include "core/sequence/backend_states.h"
#include "core/sequence/sequence_tensors.h"

namespace nereid {

// The part of a batch that serves the sequences of its requests. Belongs to the BatchExecution of
// one instance of a model with sequences. The sequences' states are in tensors of the batch, or in
// the backend's own memory.
class BatchSequences {
 public:
  // `maker`: makes the batch's outputs. All outlive this.
  BatchSequences(const ModelConfig& config, BufferPool& pool, PoolAccount* account,
                 const OutputMaker& maker);

  // Selects those of the batch's outputs that are states.
  void Select(std::span<nrd_tensor> outputs) const;

  // Takes the new state, in the backend's own memory, from request `index` of the batch.
  Status Give(uint32_t index, const Request& request, uint32_t state, const nrd_tensor& made);

  // Stores the new states of the sequences; a request whose state cannot be stored fails.
  void Keep(std::span<Request* const> requests, int64_t rows, std::span<const nrd_tensor> outputs);
  // Called when each request's result is known: failed requests are not executed again, and states
  // that no sequence keeps go back to the backend.
  void End(std::span<Request* const> requests);

  [[nodiscard]] SequenceTensors& tensors() { return tensors_; }
  [[nodiscard]] const SequenceTensors& tensors() const { return tensors_; }
  [[nodiscard]] bool backend_has_states() const { return backend_states_.has_value(); }

 private:
  const OutputMaker& maker_;
  SequenceTensors tensors_;
  std::optional<BackendStates> backend_states_;  // if states are in the backend's memory
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_BATCH_SEQUENCES_H_
