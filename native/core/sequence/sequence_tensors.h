#ifndef NEREID_CORE_SEQUENCE_SEQUENCE_TENSORS_H_
#define NEREID_CORE_SEQUENCE_SEQUENCE_TENSORS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/request.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

// The inputs of a batch for controls and states of sequences, and the outputs that are states.
// Belongs to the BatchExecution of one instance, whose thread owns the batch's sequences meanwhile.
// It owns the controls' memory. A single request's state is passed on without a copy; otherwise
// states are copied in and out, so that no sequence keeps the buffer of a batch.
class SequenceTensors {
 public:
  // `account`: counts the bytes. All outlive this. The configuration has sequences.
  SequenceTensors(const ModelConfig& config, BufferPool& pool, PoolAccount* account);

  // Makes controls and states for a batch of `rows` rows. `inputs` are the batch's; each made one
  // holds the reference to its buffer, if any, even when a later one fails.
  Status Make(std::span<Request* const> requests, int64_t rows, std::span<nrd_tensor> inputs);

  // Gives output `output` the memory of its state's input, if the configuration wants that and the
  // output's size fits; false: the output must be allocated.
  bool Reuse(std::span<Request* const> requests, uint32_t output,
             std::span<const nrd_tensor> inputs, nrd_tensor* made) const;

  // Stores the new states of a request; `outputs` are the batch's. On failure the sequence keeps
  // its old states.
  Status Keep(const Request& request, int64_t rows, std::span<const nrd_tensor> outputs) const;

  // The state that a request begins with, as one row: its sequence's, or the initial one. It holds
  // no reference.
  [[nodiscard]] nrd_tensor StateOf(size_t index, const Request& request) const;

  [[nodiscard]] const std::vector<StateSpec>& states() const { return sequences_.states; }

 private:
  void MakeControl(const ControlSpec& control, std::span<Request* const> requests, int64_t rows,
                   std::vector<uint8_t>* memory, nrd_tensor* input) const;
  static void MakeIds(std::span<Request* const> requests, int64_t rows,
                      std::vector<uint8_t>* memory, nrd_tensor* input);
  Status MakeState(size_t index, std::span<Request* const> requests, int64_t rows,
                   nrd_tensor* input) const;
  Status KeepOne(size_t index, const Request& request, const nrd_tensor& row) const;
  Status RowOf(const nrd_tensor& whole, const Request& request, int64_t rows,
               nrd_tensor* row_out) const;

  const ModelConfig& config_;
  const SequenceConfig& sequences_;
  BufferPool& pool_;
  PoolAccount* const account_;
  std::vector<std::vector<uint8_t>> controls_;  // the memory of each control
};

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_SEQUENCE_TENSORS_H_
