// The main program of a child: opens what its parent names, and executes what comes.
#ifndef NEREID_ISOLATION_CHILD_CHILD_SERVER_H_
#define NEREID_ISOLATION_CHILD_CHILD_SERVER_H_

#include <string_view>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {

using FindBackend = Status (*)(std::string_view name, nrd_backend* backend_out);

// Returns the status to exit with, when the parent has gone or closes the model. `arguments` are
// main's: the name, a title, and the parent's process.
int RunChild(int argument_count, char** arguments, FindBackend find);

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_CHILD_SERVER_H_
