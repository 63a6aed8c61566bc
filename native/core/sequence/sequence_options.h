// Reads and checks a model's options for batching by sequences.
#ifndef NEREID_CORE_SEQUENCE_SEQUENCE_OPTIONS_H_
#define NEREID_CORE_SEQUENCE_SEQUENCE_OPTIONS_H_

#include "base/status.h"
#include "core/config/model_config.h"
#include "nereid/nereid.h"

namespace nereid {

// Reads options.sequences, which is there, into config->sequences. The tensors and the batching of
// the configuration have been read before.
Status ReadSequenceConfig(const nrd_model_options& options, ModelConfig* config);

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_SEQUENCE_OPTIONS_H_
