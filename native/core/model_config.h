// What the core keeps of a model's configuration, checked once at load.
#ifndef NEREID_CORE_MODEL_CONFIG_H_
#define NEREID_CORE_MODEL_CONFIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/batch_policy.h"
#include "nereid/nereid.h"

namespace nereid {

// How requests of one priority level wait.
struct QueuePolicy {
  uint64_t default_timeout_ns = 0;
  bool delay_on_timeout = false;
  bool allow_timeout_override = false;
  size_t max_queue_size = NRD_DEFAULT_MAX_QUEUE_SIZE;
};

struct TensorSpec {
  std::string name;
  int32_t datatype = NRD_TYPE_INVALID;
  bool optional = false;
  std::vector<int64_t> dims;                         // without the batch dimension; -1: any size
  std::optional<std::vector<int64_t>> reshape = {};  // what the backend sees in place of `dims`

  [[nodiscard]] const std::vector<int64_t>& BackendDims() const {
    return reshape ? *reshape : dims;
  }
};

struct ModelConfig {
  std::string name;
  std::string version;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  int64_t max_batch_size = 0;
  uint32_t instance_count = 1;
  bool allow_inline = true;
  bool preserve_ordering = false;
  bool use_cache = false;
  bool decoupled = false;       // a request has any number of responses
  bool device_tensors = false;  // the backend takes inputs and outputs in the memory of devices
  uint32_t ensemble_depth = 0;  // ensembles within each other; 0: it is none
  // Any two requests can run in one batch: no input is optional or of variable size.
  bool uniform = false;
  bool reshapes_inputs = false;  // some input has another shape for the backend
  int64_t inline_budget_ns = NRD_DEFAULT_INLINE_BUDGET_NS;
  BatchPolicy batch_policy;
  std::vector<QueuePolicy> queue_policies;  // one a priority level, at least one
  uint32_t default_level = 0;
  std::optional<nrd_batcher> batcher = {};  // asked which requests go together
  // Of an ensemble: most responses of a decoupled step on their way; 0: any number.
  uint32_t max_inflight_requests = 0;

  [[nodiscard]] bool batched() const { return max_batch_size > 0; }

  // Requests that one execution can take. What holds them is reserved once, so that running short
  // of memory later cannot lose any.
  [[nodiscard]] size_t max_batch_requests() const {
    constexpr int64_t kMost = 65'536;
    return batch_policy.dynamic ? static_cast<size_t>(std::clamp<int64_t>(max_batch_size, 1, kMost))
                                : 1;
  }
};

Status ReadModelConfig(const nrd_model_options& options, ModelConfig* config_out);

}  // namespace nereid

#endif  // NEREID_CORE_MODEL_CONFIG_H_
