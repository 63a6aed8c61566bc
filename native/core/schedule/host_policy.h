// Places a thread on processors and memory of the machine.
#ifndef NEREID_CORE_SCHEDULE_HOST_POLICY_H_
#define NEREID_CORE_SCHEDULE_HOST_POLICY_H_

#include "base/status.h"
#include "core/config/model_config.h"

namespace nereid {

// Restricts the calling thread to the cores of `options`, and prefers memory of its NUMA node; with
// NRD_PRIORITY_IDLE, the thread only runs when no other wants the processor. Fails if a core or
// node does not exist or is not permitted.
Status ApplyHostPolicy(const InstanceOptions& options);

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_HOST_POLICY_H_
