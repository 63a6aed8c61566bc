// Tests that libtritonserver.so offers every function that Triton publishes; functions that no
// plug-in needs fail with a message.
#include "test/triton/published_functions.h"

#include <dlfcn.h>

#include <cstring>
#include <iterator>
#include <string>

#include "doctest/doctest.h"
#include "triton/core/tritonserver.h"

namespace nereid::test {
namespace {

// Expects a message that names the function.
void CheckUnsupported(TRITONSERVER_Error* error, const std::string& function) {
  REQUIRE(error != nullptr);
  CHECK(TRITONSERVER_ErrorCode(error) == TRITONSERVER_ERROR_UNSUPPORTED);
  CHECK(TRITONSERVER_ErrorMessage(error) == function + " is not supported by Nereid");
  TRITONSERVER_ErrorDelete(error);
}

}  // namespace

TEST_CASE("every published function is one of the library's") {
  Dl_info own{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&TRITONSERVER_ApiVersion), &own) != 0);
  REQUIRE(std::strstr(own.dli_fname, "libtritonserver.so") != nullptr);
  CHECK(std::size(kPublishedFunctions) == 280);
  for (const char* const name : kPublishedFunctions) {
    CAPTURE(name);
    const void* const function = dlsym(RTLD_DEFAULT, name);
    REQUIRE(function != nullptr);
    Dl_info info{};
    REQUIRE(dladdr(function, &info) != 0);
    CHECK(info.dli_fbase == own.dli_fbase);
  }
}

TEST_CASE("functions that no plug-in needs answer with their names") {
  TRITONSERVER_Server* server = nullptr;
  TRITONSERVER_ServerOptions* options = nullptr;
  CheckUnsupported(TRITONSERVER_ServerOptionsNew(&options), "TRITONSERVER_ServerOptionsNew");
  CheckUnsupported(TRITONSERVER_ServerNew(&server, options), "TRITONSERVER_ServerNew");
  CheckUnsupported(TRITONSERVER_ServerPollModelRepository(server),
                   "TRITONSERVER_ServerPollModelRepository");
  CheckUnsupported(TRITONSERVER_ServerOptionsSetBackendConfig(options, "b", "s", "v"),
                   "TRITONSERVER_ServerOptionsSetBackendConfig");
  CheckUnsupported(TRITONSERVER_InferenceRequestAddRawInput(nullptr, "raw"),
                   "TRITONSERVER_InferenceRequestAddRawInput");
}

}  // namespace nereid::test
