#include "test/isolation/isolation_fixture.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nereid::test {

Status LoadIsolated(TestRuntime& runtime, const IsolationSettings& settings,
                    nrd_model** model_out) {
  nrd_error error{};
  nrd_backend backend{};
  REQUIRE(nrd_backend_isolate(runtime.get(), settings.backend.data(), settings.backend.size(),
                              &backend, &error) == NRD_OK);
  auto all = settings.parameters;
  all.emplace_back("isolation.backend", settings.backend);
  all.emplace_back("isolation.child", settings.child);
  std::vector<nrd_parameter> parameters;
  for (const auto& [key, value] : all) {
    parameters.push_back({AsNrdString(key), AsNrdString(value)});
  }
  const int32_t code =
      LoadModel(runtime.get(), backend, settings.model, model_out, &error, parameters);
  return StatusFromCallback(code, error, "loading");
}

nrd_model* Isolated(TestRuntime& runtime, const IsolationSettings& settings) {
  nrd_model* model = nullptr;
  const Status status = LoadIsolated(runtime, settings, &model);
  REQUIRE_MESSAGE(status.ok(), std::string(status.message()));
  return model;
}

int32_t RunWithinLimit(TestRequest& request) {
  int32_t code = NRD_OK;
  CHECK(Eventually([&] {
    code = request.SubmitAndWait();
    return code == NRD_OK || request.message().find("no answer within") == std::string_view::npos;
  }));
  return code;
}

nrd_isolation_stats IsolationStats(TestModel& model) {
  nrd_isolation_stats stats{};
  REQUIRE(nrd_model_isolation_read(model.get(), &stats, nullptr) == NRD_OK);
  return stats;
}

std::string LastEnd(TestModel& model) {
  nrd_isolation_stats stats{};
  nrd_error reason{};
  REQUIRE(nrd_model_isolation_read(model.get(), &stats, &reason) == NRD_OK);
  return {reason.message, reason.message_size};
}

CommandRequest::CommandRequest(TestModel& model, Command command, int32_t argument)
    : TestRequest(model) {
  auto* const values = static_cast<int32_t*>(get()->inputs[0].data);
  values[0] = static_cast<int32_t>(command);
  values[1] = argument;
}

Belongings CountBelongings() {
  Belongings found;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    found.descriptors += each.path().empty() ? 0 : 1;
  }
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(each.path() / "children");
    for (std::string process; children >> process;) {
      ++found.children;
    }
    ++found.threads;
  }
  return found;
}

void CheckNothingLeft(const Belongings& before) {
  CHECK(Eventually([&] { return CountBelongings().threads <= before.threads; }));
  const Belongings after = CountBelongings();
  CHECK(after.descriptors == before.descriptors);
  CHECK(after.children == before.children);
}

bool IsAlive(int32_t process) { return process != 0 && kill(process, 0) == 0; }

}  // namespace nereid::test
