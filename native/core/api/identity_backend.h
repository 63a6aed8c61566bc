// The built-in backend `identity`, which answers with its inputs: for tests and measurements.
#ifndef NEREID_CORE_API_IDENTITY_BACKEND_H_
#define NEREID_CORE_API_IDENTITY_BACKEND_H_

#include "nereid/nereid.h"

namespace nereid {

nrd_backend IdentityBackend();

}  // namespace nereid

#endif  // NEREID_CORE_API_IDENTITY_BACKEND_H_
