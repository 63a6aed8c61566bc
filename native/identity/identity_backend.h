// The built-in backend `identity`, which answers with its inputs: for tests and measurements.
#ifndef NEREID_IDENTITY_IDENTITY_BACKEND_H_
#define NEREID_IDENTITY_IDENTITY_BACKEND_H_

#include "nereid/nereid.h"

namespace nereid {

nrd_backend IdentityBackend();

}  // namespace nereid

#endif  // NEREID_IDENTITY_IDENTITY_BACKEND_H_
