// nereid-child: runs isolated models with a backend of the core, a plug-in, or a backend in Java.
#include <string>

#include "identity/identity_backend.h"
#include "isolation/child/child_server.h"
#include "isolation/child/java_backend.h"
#include "isolation/child/plugin_backend.h"
#include "isolation/isolation_options.h"
#include "onnxruntime/onnxruntime_backend.h"

namespace {

nereid::Status Find(std::string_view name, const nrd_model_options& options,
                    nereid::ChildBackend* backend_out) {
  if (name == "identity") {
    backend_out->table = nereid::IdentityBackend();
  } else if (name == "onnxruntime") {
    backend_out->table = nereid::OnnxRuntimeBackend();
  } else if (name == nereid::kPlugins) {
    return nereid::PluginBackend(options, backend_out);
  } else if (name == nereid::kJava) {
    return nereid::JavaBackend(options, backend_out);
  } else {
    return nereid::Status(NRD_UNIMPLEMENTED,
                          "a child cannot run the backend '" + std::string(name) + "'");
  }
  return nereid::Status();
}

}  // namespace

int main(int argument_count, char** arguments) {
  return nereid::RunChild(argument_count, arguments, Find);
}
