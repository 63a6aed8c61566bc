// A plug-in made for Triton, in a child.
#ifndef NEREID_ISOLATION_CHILD_PLUGIN_BACKEND_H_
#define NEREID_ISOLATION_CHILD_PLUGIN_BACKEND_H_

#include "base/status.h"
#include "isolation/child/child_server.h"
#include "nereid/nereid.h"

namespace nereid {

// Loads the plug-in that the parameters of the model name, with libtritonserver.so, which runs it,
// and a runtime of the core, which it takes buffers from. Called once in a process, on the main
// thread; the plug-in stays until the process ends. It may complete the configuration. Other
// requests to the server, except for buffers, are refused, since the server is in another process.
//
// isolation.core      libnereid.so isolation.triton    libtritonserver.so isolation.plugin,
// isolation.plugin_name, isolation.plugin_directory isolation.setting:KEY
Status PluginBackend(const nrd_model_options& options, ChildBackend* backend_out);

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_PLUGIN_BACKEND_H_
