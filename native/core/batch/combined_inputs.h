// Hidden inputs that tell the size of an input of each request in a batch.
#ifndef NEREID_CORE_BATCH_COMBINED_INPUTS_H_
#define NEREID_CORE_BATCH_COMBINED_INPUTS_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/request.h"
#include "memory/buffer_pool.h"

namespace nereid {

// Reads the options' combined inputs, after the tensors, and checks that each can be made.
Status ReadCombinedInputs(const nrd_model_options& options, ModelConfig* config);

// Makes the combined inputs. It has only references, to objects that outlive it.
class CombinedInputs {
 public:
  // `account`: counts the bytes.
  CombinedInputs(const ModelConfig& config, BufferPool& pool, PoolAccount* account)
      : config_(config), pool_(pool), account_(account) {}

  // Makes all combined inputs for a batch of these requests. Each made tensor in `inputs` holds the
  // reference to its buffer, even when a later one fails.
  Status Make(std::span<Request* const> requests, std::span<nrd_tensor> inputs) const;

 private:
  Status MakeOne(const nrd_combined_input& combined, std::span<Request* const> requests,
                 nrd_tensor* input) const;

  const ModelConfig& config_;
  BufferPool& pool_;
  PoolAccount* const account_;
};

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_COMBINED_INPUTS_H_
