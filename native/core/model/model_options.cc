#include "core/model/model_options.h"

#include <algorithm>
#include <unordered_set>

#include "base/tensor.h"
#include "core/batch/combined_inputs.h"
#include "core/batch/scattered_outputs.h"
#include "core/objective/objective_options.h"
#include "core/request/reshape.h"
#include "core/sequence/sequence_options.h"

namespace nereid {
namespace {

constexpr uint32_t kMaxInstances = 1024;
constexpr uint32_t kMaxPriorityLevels = 1024;

Status ReadDims(const int64_t* dims, uint32_t rank, bool batched, const std::string& what,
                std::vector<int64_t>* dims_out) {
  const uint32_t max_rank = batched ? NRD_MAX_RANK - 1 : NRD_MAX_RANK;
  if (rank > max_rank) {
    return Status::InvalidArgument(what + " has " + std::to_string(rank) + " dimensions, at most " +
                                   std::to_string(max_rank) + " are supported" +
                                   (batched ? " beside the batch's" : ""));
  }
  dims_out->assign(dims, dims + rank);
  for (const int64_t dim : *dims_out) {
    if (dim < -1) {
      return Status::InvalidArgument(what + " has dimension " + std::to_string(dim) +
                                     ", expected -1 (any size) or a size");
    }
  }
  return Status();
}

Status ReadSpec(const nrd_tensor_spec& spec, std::string_view kind, bool batched,
                TensorSpec* spec_out) {
  spec_out->name = View(spec.name);
  spec_out->datatype = spec.datatype;
  spec_out->optional = (spec.flags & NRD_SPEC_OPTIONAL) != 0;
  spec_out->ragged = (spec.flags & NRD_SPEC_RAGGED) != 0;
  spec_out->hidden = (spec.flags & NRD_SPEC_HIDDEN) != 0;
  if (spec_out->name.empty()) {
    return Status::InvalidArgument(std::string(kind) + " without a name");
  }
  const std::string what = std::string(kind) + " '" + spec_out->name + "'";
  if (!IsDataType(spec.datatype)) {
    return Status::InvalidArgument(what + " has unknown datatype " + std::to_string(spec.datatype));
  }
  if (spec_out->optional && (spec_out->ragged || spec_out->hidden)) {
    return Status::InvalidArgument(what + " is optional, which " +
                                   (spec_out->ragged ? "a ragged" : "a hidden") + " one cannot be");
  }
  if (spec_out->ragged && (spec_out->hidden || kind != "input")) {
    return Status::InvalidArgument(what + " is ragged, which only what requests bring can be");
  }
  NRD_RETURN_IF_ERROR(ReadDims(spec.dims, spec.rank, batched, what, &spec_out->dims));
  if ((spec.flags & NRD_SPEC_RESHAPE) == 0) {
    return Status();
  }
  NRD_RETURN_IF_ERROR(ReadDims(spec.reshape, spec.reshape_rank, batched, "the reshape of " + what,
                               &spec_out->reshape.emplace()));
  return CheckReshape(*spec_out, what);
}

Status ReadSpecs(const nrd_tensor_spec* specs, uint32_t count, std::string_view kind, bool batched,
                 std::vector<TensorSpec>* specs_out, uint32_t* visible_out) {
  std::unordered_set<std::string> names;
  specs_out->resize(count);
  *visible_out = 0;
  for (uint32_t i = 0; i < count; ++i) {
    TensorSpec& spec = (*specs_out)[i];
    NRD_RETURN_IF_ERROR(ReadSpec(specs[i], kind, batched, &spec));
    if (!names.insert(spec.name).second) {
      return Status::InvalidArgument(std::string(kind) + " '" + spec.name + "' is there twice");
    }
    if (!spec.hidden && *visible_out < i) {
      return Status::InvalidArgument(std::string(kind) + " '" + spec.name + "' is behind hidden " +
                                     std::string(kind) + " '" + (*specs_out)[*visible_out].name +
                                     "', expected that hidden ones come last");
    }
    *visible_out += spec.hidden ? 0U : 1U;
  }
  return Status();
}

QueuePolicy ReadQueuePolicy(const nrd_queue_policy& policy) {
  return {.default_timeout_ns = policy.default_timeout_ns,
          .delay_on_timeout = policy.timeout_action == NRD_TIMEOUT_DELAY,
          .allow_timeout_override = policy.allow_timeout_override != 0,
          .max_queue_size =
              policy.max_queue_size == 0 ? NRD_DEFAULT_MAX_QUEUE_SIZE : policy.max_queue_size};
}

Status ReadPriorities(const nrd_model_options& options, ModelConfig* config) {
  const QueuePolicy standard = ReadQueuePolicy(options.default_queue_policy);
  if (options.priority_levels == 0) {
    config->queue_policies = {standard};
    return Status();
  }
  if (options.priority_levels > kMaxPriorityLevels) {
    return Status::InvalidArgument("priority_levels is " + std::to_string(options.priority_levels) +
                                   ", at most " + std::to_string(kMaxPriorityLevels) +
                                   " are supported");
  }
  if (options.default_priority_level < 1 ||
      options.default_priority_level > options.priority_levels) {
    return Status::InvalidArgument(
        "default_priority_level is " + std::to_string(options.default_priority_level) +
        ", expected 1 to " + std::to_string(options.priority_levels) + " (priority_levels)");
  }
  config->default_level = options.default_priority_level - 1;
  config->queue_policies.assign(options.priority_levels, standard);
  if (options.level_queue_policies != nullptr) {
    std::transform(options.level_queue_policies,
                   options.level_queue_policies + options.priority_levels,
                   config->queue_policies.begin(), ReadQueuePolicy);
  }
  return Status();
}

Status ReadBatchPolicy(const nrd_model_options& options, BatchPolicy* policy) {
  policy->dynamic = (options.flags & NRD_MODEL_DYNAMIC_BATCHING) != 0;
  policy->max_batch_size = options.max_batch_size;
  policy->max_queue_delay_ns = options.max_queue_delay_ns;
  if (options.preferred_batch_size_count > 0) {
    policy->preferred_sizes.assign(
        options.preferred_batch_sizes,
        options.preferred_batch_sizes + options.preferred_batch_size_count);
  }
  std::sort(policy->preferred_sizes.begin(), policy->preferred_sizes.end());
  for (const int64_t size : policy->preferred_sizes) {
    if (size < 1 || size > options.max_batch_size) {
      return Status::InvalidArgument("preferred_batch_size " + std::to_string(size) +
                                     " is outside 1 to " + std::to_string(options.max_batch_size) +
                                     " (max_batch_size)");
    }
  }
  return Status();
}

// Refuses preserve_ordering with priority levels or delayed requests, which change the order.
Status CheckOrdering(const ModelConfig& config) {
  if (!config.preserve_ordering) {
    return Status();
  }
  if (config.queue_policies.size() > 1) {
    return Status::InvalidArgument("priority_levels is " +
                                   std::to_string(config.queue_policies.size()) +
                                   ", only one is possible with preserve_ordering");
  }
  const QueuePolicy& policy = config.queue_policies.front();
  if (policy.delay_on_timeout && (policy.default_timeout_ns > 0 || policy.allow_timeout_override)) {
    return Status::InvalidArgument("timeout_action DELAY is not possible with preserve_ordering");
  }
  return Status();
}

// Refuses settings that decoupled models cannot have: their answers are not cached nor ordered.
Status CheckDecoupled(const ModelConfig& config) {
  if (config.decoupled && config.use_cache) {
    return Status::InvalidArgument("response_cache is not possible with a decoupled model");
  }
  if (config.decoupled && config.preserve_ordering) {
    return Status::InvalidArgument("preserve_ordering is not possible with a decoupled model");
  }
  return Status();
}

void ReadInstances(const nrd_model_options& options, ModelConfig* config) {
  for (uint32_t i = 0; options.instances != nullptr && i < config->instance_count; ++i) {
    const nrd_instance_options& each = options.instances[i];
    config->instances.push_back({.resources = ReadResources(each.resources, each.resource_count),
                                 .priority = each.priority,
                                 .cores = {each.cores, each.cores + each.core_count},
                                 .numa_node = each.numa_node});
    // A host policy concerns the instance's thread, so nothing runs inline.
    config->allow_inline = config->allow_inline && each.core_count == 0 && each.numa_node < 0 &&
                           each.priority != NRD_PRIORITY_IDLE;
  }
}

// Reads the batcher; a model that does not batch has none.
Status ReadBatcher(const nrd_model_options& options, ModelConfig* config) {
  if (options.batcher == nullptr) {
    return Status();
  }
  if (options.batcher->includes == nullptr) {
    return Status::InvalidArgument("a batcher must have a function `includes`");
  }
  const bool oldest =
      options.sequences != nullptr && options.sequences->strategy == NRD_SEQUENCES_OLDEST;
  if (!config->batch_policy.dynamic && !oldest && options.step_count == 0 &&
      options.objective == nullptr) {
    return Status::InvalidArgument(
        "a batcher says which requests share a batch, so the model needs dynamic_batching or "
        "sequence_batching by the oldest strategy");
  }
  config->batcher = *options.batcher;
  return Status();
}

bool IsUniform(std::span<const TensorSpec> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const TensorSpec& spec) {
    return spec.ragged ||
           (!spec.optional && std::find(spec.dims.begin(), spec.dims.end(), -1) == spec.dims.end());
  });
}

// Fails unless each hidden input is made by one thing.
Status CheckMakers(const ModelConfig& config) {
  std::vector<uint32_t> makers(config.inputs.size());
  for (const nrd_combined_input& combined : config.combined_inputs) {
    ++makers[combined.input];
  }
  if (config.sequences) {
    for (const ControlSpec& control : config.sequences->controls) {
      ++makers[control.input];
    }
    for (const StateSpec& state : config.sequences->states) {
      ++makers[state.input];
    }
  }
  for (size_t i = config.visible_inputs; i < makers.size(); ++i) {
    if (makers[i] != 1) {
      return Status::InvalidArgument("hidden input '" + config.inputs[i].name + "' is made by " +
                                     std::to_string(makers[i]) + " things, expected one");
    }
  }
  return Status();
}

Status ReadTensors(const nrd_model_options& options, ModelConfig* config) {
  NRD_RETURN_IF_ERROR(ReadSpecs(options.inputs, options.input_count, "input", config->batched(),
                                &config->inputs, &config->visible_inputs));
  NRD_RETURN_IF_ERROR(ReadSpecs(options.outputs, options.output_count, "output", config->batched(),
                                &config->outputs, &config->visible_outputs));
  if (config->visible_inputs == 0 || config->visible_outputs == 0) {
    return Status::InvalidArgument("a model needs at least one input and one output, got " +
                                   std::to_string(config->visible_inputs) + " and " +
                                   std::to_string(config->visible_outputs));
  }
  config->uniform = IsUniform(config->VisibleInputs());
  config->core_gathers =
      config->visible_outputs != config->outputs.size() ||
      std::any_of(config->inputs.begin(), config->inputs.end(),
                  [](const TensorSpec& spec) { return spec.ragged || spec.hidden; });
  config->reshapes_inputs =
      std::any_of(config->inputs.begin(), config->inputs.end(),
                  [](const TensorSpec& spec) { return spec.reshape.has_value(); });
  NRD_RETURN_IF_ERROR(ReadCombinedInputs(options, config));
  return ReadScatteredOutputs(options, config);
}

}  // namespace

Status ReadModelConfig(const nrd_model_options& options, ModelConfig* config) {
  config->name = View(options.name);
  config->version = View(options.version);
  if (config->name.empty()) {
    return Status::InvalidArgument("model name cannot be empty");
  }
  // The limit is the configuration's int32, so that sums of rows cannot overflow.
  if (options.max_batch_size < 0 || options.max_batch_size > INT32_MAX) {
    return Status::InvalidArgument("max_batch_size is " + std::to_string(options.max_batch_size) +
                                   ", expected 0 (no batch dimension) to " +
                                   std::to_string(INT32_MAX));
  }
  config->max_batch_size = options.max_batch_size;
  config->instance_count = std::max(options.instance_count, 1U);
  if (config->instance_count > kMaxInstances) {
    return Status::InvalidArgument("instance count is " + std::to_string(options.instance_count) +
                                   ", at most " + std::to_string(kMaxInstances) + " are supported");
  }
  NRD_RETURN_IF_ERROR(ReadTensors(options, config));
  // An inline request is answered when its submission returns, maybe after the callback of a later
  // one, so nothing runs inline with preserve_ordering. Nor does a decoupled model, because its
  // submitter reads the responses.
  config->allow_inline =
      (options.flags & (NRD_MODEL_NO_INLINE | NRD_MODEL_PRESERVE_ORDERING | NRD_MODEL_DECOUPLED)) ==
      0;
  ReadInstances(options, config);
  config->preserve_ordering = (options.flags & NRD_MODEL_PRESERVE_ORDERING) != 0;
  config->use_cache = (options.flags & NRD_MODEL_RESPONSE_CACHE) != 0;
  config->decoupled = (options.flags & NRD_MODEL_DECOUPLED) != 0;
  NRD_RETURN_IF_ERROR(CheckDecoupled(*config));
  config->max_inflight_requests = options.max_inflight_requests;
  if (options.inline_budget_ns != 0) {
    config->inline_budget_ns = AddDelay(0, options.inline_budget_ns);
  }
  NRD_RETURN_IF_ERROR(ReadBatchPolicy(options, &config->batch_policy));
  NRD_RETURN_IF_ERROR(ReadBatcher(options, config));
  NRD_RETURN_IF_ERROR(ReadPriorities(options, config));
  if (options.sequences != nullptr) {
    NRD_RETURN_IF_ERROR(ReadSequenceConfig(options, config));
  }
  NRD_RETURN_IF_ERROR(CheckOrdering(*config));
  if (options.objective != nullptr) {
    NRD_RETURN_IF_ERROR(ReadObjective(*options.objective, config));
  }
  return CheckMakers(*config);
}

}  // namespace nereid
