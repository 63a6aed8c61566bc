// The backend that executes another backend of the core in a process of its own.
#ifndef NEREID_ISOLATION_ISOLATED_BACKEND_H_
#define NEREID_ISOLATION_ISOLATED_BACKEND_H_

#include "base/log_target.h"
#include "isolation/isolated_model.h"
#include "nereid/nereid.h"

namespace nereid {

// `log` outlives the models; `inner` is the table of the backend that the child executes.
nrd_backend IsolatedBackend(const LogTarget* log, const nrd_backend& inner);
// The same for plug-ins made for Triton, which this process does not load.
nrd_backend IsolatedPlugins(const LogTarget* log);

// See nrd_model_isolation_read. Null: a model with this table is not isolated.
IsolatedModel* AsIsolated(const nrd_backend& backend, void* model_state);

}  // namespace nereid

#endif  // NEREID_ISOLATION_ISOLATED_BACKEND_H_
