// nereid-child: runs one isolated model with a backend of the core.
#include <string>

#include "identity/identity_backend.h"
#include "isolation/child/child_server.h"
#include "onnxruntime/onnxruntime_backend.h"

namespace {

nereid::Status Find(std::string_view name, nrd_backend* backend_out) {
  if (name == "identity") {
    *backend_out = nereid::IdentityBackend();
  } else if (name == "onnxruntime") {
    *backend_out = nereid::OnnxRuntimeBackend();
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
