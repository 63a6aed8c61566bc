// A model's configuration as the core keeps it; model/model_options.h reads and checks it.
#ifndef NEREID_CORE_CONFIG_MODEL_CONFIG_H_
#define NEREID_CORE_CONFIG_MODEL_CONFIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config/batch_policy.h"
#include "core/config/objective_config.h"
#include "core/config/resource_count.h"
#include "core/config/sequence_config.h"
#include "nereid/nereid.h"

namespace nereid {

// Limits for requests of one priority level while they wait.
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
  std::optional<std::vector<int64_t>> reshape = {};  // the backend's shape in place of `dims`
  bool ragged = false;  // the backend sees the elements of all requests in one dimension
  bool hidden = false;  // not part of requests
  // For an output: the input by whose shapes the batch's elements are distributed, regardless of
  // the output's shape.
  std::optional<uint32_t> scattered_by = {};

  [[nodiscard]] const std::vector<int64_t>& BackendDims() const {
    return reshape ? *reshape : dims;
  }
  // Writes it for the C ABI; the written name points into this object.
  void Write(nrd_tensor_spec* spec_out) const;
};

// Options of one instance: resources that its executions hold, and places where its thread runs.
struct InstanceOptions {
  std::vector<ResourceCount> resources;
  uint32_t priority = 1;
  std::vector<uint32_t> cores;  // none: any
  int32_t numa_node = -1;       // -1: any
};

struct ModelConfig {
  std::string name;
  std::string version;
  // All that the backend sees: first the visible ones, which requests have, then the hidden ones.
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  uint32_t visible_inputs = 0;
  uint32_t visible_outputs = 0;
  std::vector<nrd_combined_input> combined_inputs;  // makes some of the hidden inputs
  int64_t max_batch_size = 0;
  uint32_t instance_count = 1;
  std::vector<InstanceOptions> instances;  // for all instances, or empty: defaults
  bool allow_inline = true;
  bool preserve_ordering = false;
  bool use_cache = false;
  bool decoupled = false;       // a request has any number of responses
  bool device_tensors = false;  // the backend takes inputs and outputs in the memory of devices
  bool free_outputs = false;    // see NRD_BACKEND_FREE_OUTPUTS
  uint32_t ensemble_depth = 0;  // nesting of ensembles; 0: not an ensemble
  // Any two requests can run in one batch: no input is optional, and only ragged ones vary in size.
  bool uniform = false;
  // The core makes the batch's inputs, even for a backend that gathers and for a single request:
  // some inputs are hidden or ragged, some output is hidden, or sequences have fixed rows.
  bool core_gathers = false;
  bool scatters = false;         // some output is distributed by the shapes of an input
  bool reshapes_inputs = false;  // some input has another shape for the backend
  int64_t inline_budget_ns = NRD_DEFAULT_INLINE_BUDGET_NS;
  BatchPolicy batch_policy;
  std::vector<QueuePolicy> queue_policies;  // one for each priority level, at least one
  uint32_t default_level = 0;
  std::optional<SequenceConfig> sequences;
  std::optional<ObjectiveConfig> objective = {};
  std::optional<nrd_batcher> batcher = {};  // decides which requests go together
  // For an ensemble: the most responses of a decoupled step under way; 0: any number.
  uint32_t max_inflight_requests = 0;

  [[nodiscard]] bool batched() const { return max_batch_size > 0; }
  [[nodiscard]] std::span<const TensorSpec> VisibleInputs() const {
    return {inputs.data(), visible_inputs};
  }
  [[nodiscard]] std::span<const TensorSpec> VisibleOutputs() const {
    return {outputs.data(), visible_outputs};
  }

  // The most requests of one execution. Containers for them are reserved once, so that a lack of
  // memory later cannot lose any.
  [[nodiscard]] size_t max_batch_requests() const {
    constexpr int64_t kMost = 65'536;
    return batch_policy.dynamic ? static_cast<size_t>(std::clamp<int64_t>(max_batch_size, 1, kMost))
                                : 1;
  }
};

}  // namespace nereid

#endif  // NEREID_CORE_CONFIG_MODEL_CONFIG_H_
