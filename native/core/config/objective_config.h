// A model's objective as the core keeps it.
#ifndef NEREID_CORE_CONFIG_OBJECTIVE_CONFIG_H_
#define NEREID_CORE_CONFIG_OBJECTIVE_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nereid/nereid.h"

namespace nereid {

struct ObjectiveConfig {
  int64_t latency_ns = 0;  // from submit to answer
  uint32_t quantile_ppm = 990'000;
  std::string share;  // empty: none
  uint32_t share_width = 1;
  std::vector<nrd_cost_point> costs;     // known at the load
  std::vector<uint32_t> instance_kinds;  // for each instance

  // The name of the resource of which each execution in the share holds one.
  [[nodiscard]] std::string ShareResource() const { return "share " + share; }
};

}  // namespace nereid

#endif  // NEREID_CORE_CONFIG_OBJECTIVE_CONFIG_H_
