// Reads and checks the options that a model is loaded with.
#ifndef NEREID_CORE_MODEL_MODEL_OPTIONS_H_
#define NEREID_CORE_MODEL_MODEL_OPTIONS_H_

#include "base/status.h"
#include "core/config/model_config.h"
#include "nereid/nereid.h"

namespace nereid {

// Fails with the mistake, and leaves `config_out` incomplete then.
Status ReadModelConfig(const nrd_model_options& options, ModelConfig* config_out);

}  // namespace nereid

#endif  // NEREID_CORE_MODEL_MODEL_OPTIONS_H_
