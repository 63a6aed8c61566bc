#include "core/objective/objective_options.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace nereid {
namespace {

constexpr uint32_t kDefaultQuantilePpm = 990'000;
constexpr uint32_t kMostQuantilePpm = 999'999;
constexpr uint64_t kMostLatencyNs = 3'600'000'000'000;

Status Excludes(std::string_view what) {
  return Status::InvalidArgument("an objective is not possible with " + std::string(what));
}

Status CheckNumbers(const nrd_objective& objective) {
  if (objective.latency_ns == 0 || objective.latency_ns > kMostLatencyNs) {
    return Status::InvalidArgument("the objective's latency is " +
                                   std::to_string(objective.latency_ns) +
                                   " ns, expected 1 ns to an hour");
  }
  if (objective.quantile_ppm > kMostQuantilePpm) {
    return Status::InvalidArgument(
        "the objective's quantile is " + std::to_string(objective.quantile_ppm) +
        " of a million, expected at most " + std::to_string(kMostQuantilePpm));
  }
  return Status();
}

// True if a cost that an earlier load learned makes sense. Others are left out, since a failure
// would keep the model from loading, and it can learn anew.
bool SaysSomething(const nrd_cost_point& cost) {
  return std::isfinite(cost.mean_ns) && std::isfinite(cost.high_ns) && std::isfinite(cost.weight) &&
         cost.rows > 0 && cost.mean_ns > 0 && cost.high_ns >= cost.mean_ns && cost.weight > 0;
}

// Refuses settings that serve requests in another order than by due time, or under which there is
// no single answer that could be in time.
Status CheckMeans(const ModelConfig& config) {
  if (config.sequences) {
    return Excludes("sequence_batching: requests of a sequence wait for each other");
  }
  if (config.decoupled) {
    return Excludes("a decoupled model: a request has any number of responses");
  }
  if (config.preserve_ordering) {
    return Excludes("preserve_ordering: who has to be answered first is served first");
  }
  const bool delays = std::any_of(
      config.queue_policies.begin(), config.queue_policies.end(), [](const QueuePolicy& policy) {
        return policy.delay_on_timeout &&
               (policy.default_timeout_ns > 0 || policy.allow_timeout_override);
      });
  return delays ? Excludes("timeout_action DELAY: who is late already is refused") : Status();
}

}  // namespace

Status ReadObjective(const nrd_objective& objective, ModelConfig* config) {
  NRD_RETURN_IF_ERROR(CheckNumbers(objective));
  NRD_RETURN_IF_ERROR(CheckMeans(*config));
  ObjectiveConfig& read = config->objective.emplace();
  read.latency_ns = static_cast<int64_t>(objective.latency_ns);
  read.quantile_ppm = objective.quantile_ppm == 0 ? kDefaultQuantilePpm : objective.quantile_ppm;
  read.share = View(objective.share);
  read.share_width = std::max(objective.share_width, 1U);
  std::copy_if(objective.costs, objective.costs + objective.cost_count,
               std::back_inserter(read.costs), SaysSomething);
  read.instance_kinds.assign(config->instance_count, 0);
  if (objective.instance_kinds != nullptr) {
    std::copy_n(objective.instance_kinds, config->instance_count, read.instance_kinds.begin());
  }
  if (!read.share.empty()) {
    config->instances.resize(config->instance_count);
    for (InstanceOptions& instance : config->instances) {
      instance.resources.push_back({.name = read.ShareResource(), .count = 1});
    }
  }
  config->batch_policy = {.dynamic = config->batched(), .max_batch_size = config->max_batch_size};
  return Status();
}

}  // namespace nereid
