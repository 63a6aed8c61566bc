// Outputs with the elements of all requests one after another, distributed by the shapes of an
// input.
#ifndef NEREID_CORE_BATCH_SCATTERED_OUTPUTS_H_
#define NEREID_CORE_BATCH_SCATTERED_OUTPUTS_H_

#include <cstdint>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/request.h"

namespace nereid {

// Reads the options' scattered outputs, after the tensors, and checks that each can be distributed.
Status ReadScatteredOutputs(const nrd_model_options& options, ModelConfig* config);

// Points output `index` of the request, if it is wanted and not made yet, at its elements of
// `whole`, with a reference to that. They begin at `byte_offset`, which is moved to their end.
Status SliceByShape(const ModelConfig& config, const nrd_tensor& whole, Request& request,
                    uint32_t index, uint64_t* byte_offset);

}  // namespace nereid

#endif  // NEREID_CORE_BATCH_SCATTERED_OUTPUTS_H_
