// Reads and checks a model's objective.
#ifndef NEREID_CORE_OBJECTIVE_OBJECTIVE_OPTIONS_H_
#define NEREID_CORE_OBJECTIVE_OBJECTIVE_OPTIONS_H_

#include "base/status.h"
#include "core/config/model_config.h"
#include "nereid/nereid.h"

namespace nereid {

// Called after the rest of the configuration is read, whose batching it changes.
Status ReadObjective(const nrd_objective& objective, ModelConfig* config);

}  // namespace nereid

#endif  // NEREID_CORE_OBJECTIVE_OBJECTIVE_OPTIONS_H_
