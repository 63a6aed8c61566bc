// A plug-in made for Triton, in a child.
#ifndef NEREID_ISOLATION_CHILD_PLUGIN_BACKEND_H_
#define NEREID_ISOLATION_CHILD_PLUGIN_BACKEND_H_

#include "base/status.h"
#include "isolation/child/child_server.h"
#include "nereid/nereid.h"

namespace nereid {

// Loads the plug-in that the parameters of the model name, with libtritonserver.so, which runs it,
// and a runtime of the core, which it takes buffers from. Once in a process, on the main thread; it
// stays until the process ends. The plug-in may complete the configuration. Whatever else it asks
// of the server but for buffers is refused, since the server is in another process.
//
//   isolation.core      libnereid.so
//   isolation.triton    libtritonserver.so
//   isolation.plugin, isolation.plugin_name, isolation.plugin_directory
//   isolation.setting:KEY
Status PluginBackend(const nrd_model_options& options, ChildBackend* backend_out);

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_PLUGIN_BACKEND_H_
