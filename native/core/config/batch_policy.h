// The policy by which a model without sequences batches its requests.
#ifndef NEREID_CORE_CONFIG_BATCH_POLICY_H_
#define NEREID_CORE_CONFIG_BATCH_POLICY_H_

#include <cstdint>
#include <vector>

namespace nereid {

struct BatchPolicy {
  bool dynamic = false;                       // false: every request is its own batch
  int64_t max_batch_size = 0;                 // in rows; 0: no batch dimension
  std::vector<int64_t> preferred_sizes = {};  // ascending, each in 1..max_batch_size
  uint64_t max_queue_delay_ns = 0;
};

}  // namespace nereid

#endif  // NEREID_CORE_CONFIG_BATCH_POLICY_H_
