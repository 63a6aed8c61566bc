// The main program of a child: opens the model that its parent names, and executes its batches.
#ifndef NEREID_ISOLATION_CHILD_CHILD_SERVER_H_
#define NEREID_ISOLATION_CHILD_CHILD_SERVER_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "nereid/nereid.h"

namespace nereid {

// The table of a backend, and the place of the configuration that it completes while opening a
// model; null: it completes none.
struct ChildBackend {
  nrd_backend table{};
  const std::string* completed = nullptr;
};

// Finds the backend of this name, for the only model, with the options of open_model.
using FindBackend = Status (*)(std::string_view name, const nrd_model_options& options,
                               ChildBackend* backend_out);

// Loads a library, which stays until the process ends.
Status OpenLibrary(std::string_view file, void** library_out);

// Returns the exit status, when the parent has gone or closed the model. `arguments` are main's:
// the name, a title, the parent's process, and processors for ReadProcessors or nothing.
int RunChild(int argument_count, char** arguments, FindBackend find);

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_CHILD_SERVER_H_
