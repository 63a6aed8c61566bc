// Converts tensors between the shapes of clients and the backend: `dims` and `reshape` of a spec.
#ifndef NEREID_CORE_REQUEST_RESHAPE_H_
#define NEREID_CORE_REQUEST_RESHAPE_H_

#include <string_view>

#include "base/status.h"
#include "core/config/model_config.h"

namespace nereid {

// Fails unless every tensor of the shape `spec.dims` can have `spec.reshape` too, and the other way
// round: the dimensions between two free ones (-1), before the first and behind the last have the
// same number of elements on both sides. `what` names the tensor in the message.
Status CheckReshape(const TensorSpec& spec, std::string_view what);

// Gives `tensor`, which fits `spec.dims`, the shape that the backend sees. Its data stays.
void ToBackendShape(const TensorSpec& spec, bool batched, nrd_tensor* tensor);

// Gives `tensor`, which fits `spec.BackendDims()`, the shape that clients see.
void ToClientShape(const TensorSpec& spec, bool batched, nrd_tensor* tensor);

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_RESHAPE_H_
