// Places a thread on processors and memory of the machine.
#ifndef NEREID_CORE_SCHEDULE_HOST_POLICY_H_
#define NEREID_CORE_SCHEDULE_HOST_POLICY_H_

#include "base/status.h"
#include "core/config/model_config.h"

namespace nereid {

// Lets the calling thread run on the cores of `options` alone and take memory from its NUMA node,
// as long as that has some; with NRD_PRIORITY_IDLE, in time alone that no other thread wants. Fails
// where there is no such core or node, or where the process may not use it.
Status ApplyHostPolicy(const InstanceOptions& options);

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_HOST_POLICY_H_
