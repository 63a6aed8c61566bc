// Tests of Triton backends in processes of their own. ctest runs the other tests again with
// NEREID_ISOLATED_PLUGINS, to show that all else is as without a process.
#include <csignal>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

nrd_isolation_stats StatsOf(PluginModel& model) {
  nrd_isolation_stats stats{};
  REQUIRE(nrd_model_isolation_read(model.get(), &stats, nullptr) == NRD_OK);
  return stats;
}

void CheckAnswers(PluginModel& model) {
  PluginRequest request(model, "answer", {4, 5});
  request.Run();
  request.CheckReport();
  CHECK(request.replies()[0].output == std::vector<int32_t>{4, 5});
}

TEST_CASE("a plug-in that dies takes nobody along, and comes back") {
  Plugin isolated(NEREID_PROBE_PATH, "probe", {});
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel victim(isolated, {.name = "victim"});
  PluginModel other(isolated, {.name = "other"});
  PluginModel neighbour(plugin, {.name = "neighbour"});
  const std::pair<std::string, std::string> ends[] = {
      {"abort", "signal 6"}, {"segfault", "signal 11"}, {"exit", "ended by itself with status 7"}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& [how, end] : ends) {
      PluginRequest request(victim, "die");
      request.With("how", how);
      CHECK(request.Run() == NRD_UNAVAILABLE);
      CHECK_MESSAGE(request.message().find(end) != std::string::npos, request.message());
      CheckAnswers(neighbour);
      CheckAnswers(other);
      CheckAnswers(victim);
    }
  }
  CHECK(StatsOf(victim).restarts == 6);
  CHECK(StatsOf(other).restarts == 0);
}

TEST_CASE("a plug-in that hangs is ended, and comes back") {
  constexpr std::string_view kEnd = "gave no answer within isolation_timeout_ms";
  Plugin isolated(NEREID_PROBE_PATH, "probe",
                  {{"isolation_timeout_ms", "300"}, {"isolation_deaths", "1000000"}});
  PluginModel model(isolated);
  const auto end = [&](const char* what) {
    PluginRequest request(model, what);
    request.With("how", std::string("hang"));
    return request.Run() == NRD_OK ? std::string("none") : request.message();
  };
  const std::string first = end("die");
  CHECK_MESSAGE(first.find(kEnd) != std::string::npos, first);
  std::string after = end("answer");
  for (int tries = 0; tries < 100 && after.find(kEnd) != std::string::npos; ++tries) {
    after = end("answer");
  }
  CHECK(after == "none");
}

TEST_CASE("a stream breaks off with its process, and says so") {
  Plugin isolated(NEREID_PROBE_PATH, "probe", {});
  PluginModel model(isolated, {.flags = NRD_MODEL_DECOUPLED});
  PluginRequest endless(model, "until_cancelled");
  endless.Submit();
  while (model.stats().executing_count == 0) {
  }
  kill(StatsOf(model).process, SIGKILL);
  CHECK(endless.Wait() == NRD_UNAVAILABLE);
  CHECK_MESSAGE(endless.message().find("signal 9") != std::string::npos, endless.message());
  PluginRequest stream(model, "stream_late", {8, 9});
  stream.With("count", int64_t{1000}).With("last", true);
  REQUIRE_MESSAGE(stream.Run() == NRD_OK, stream.message());
  CHECK(stream.replies().size() == 1000);
}

TEST_CASE("responses that need more room than there is wait for what was sent") {
  Plugin isolated(NEREID_PROBE_PATH, "probe", {{"isolation_tensor_mb", "1"}});
  PluginModel model(isolated, {.flags = NRD_MODEL_DECOUPLED});
  const std::vector<int32_t> large(100'000, 3);
  PluginRequest stream(model, "stream", large);
  stream.With("count", int64_t{40});
  REQUIRE_MESSAGE(stream.Run() == NRD_OK, stream.message());
  REQUIRE(stream.replies().size() == 40);
  for (const Reply& reply : stream.replies()) {
    CHECK(reply.output == large);
  }
}

TEST_CASE("a plug-in that cannot be isolated, or loaded, is refused with the reason") {
  Plugin choosy(NEREID_CHOOSY_PATH, "choosy", {});
  const std::string batches = PluginModel::Refusal(choosy, {});
  CHECK_MESSAGE(batches.find("says which requests go together") != std::string::npos, batches);
  Plugin broken(NEREID_BROKEN_PATH, "broken", {});
  const std::string lacks = PluginModel::Refusal(broken, {});
  CHECK_MESSAGE(lacks.find("broken") != std::string::npos, lacks);
  Plugin nothing("/nowhere/libtriton_nothing.so", "nothing", {});
  const std::string missing = PluginModel::Refusal(nothing, {});
  CHECK_MESSAGE(missing.find("/nowhere/libtriton_nothing.so") != std::string::npos, missing);
}

TEST_CASE("an isolated plug-in cannot ask the server, and is told why") {
  Plugin caller(NEREID_CALLER_PATH, "caller", {});
  PluginModel model(caller, {.name = "caller"});
  PluginRequest request(model, "call");
  request.With("target", std::string("ours"));
  CHECK(request.Run() != NRD_OK);
  CHECK_MESSAGE(request.message() != "", request.message());
}

}  // namespace
}  // namespace nereid::test
