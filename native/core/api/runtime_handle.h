// The runtime that a caller of the C ABI holds.
#ifndef NEREID_CORE_API_RUNTIME_HANDLE_H_
#define NEREID_CORE_API_RUNTIME_HANDLE_H_

#include "core/model/runtime.h"

struct nrd_runtime final : nereid::Runtime {
  using Runtime::Runtime;
};

#endif  // NEREID_CORE_API_RUNTIME_HANDLE_H_
