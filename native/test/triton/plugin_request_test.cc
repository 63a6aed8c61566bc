// Tests of a request as a Triton backend reads it, and of the server's work meanwhile.
#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

TEST_CASE("a backend reads all that came with a request") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "read", {4, 5});
  request.With("text", std::string("größer"))
      .With("number", int64_t{-7})
      .With("truth", true)
      .With("real", 0.25);
  request->id = View("a request");
  request->timeout_ns = 3'000'000'000'000;
  REQUIRE(request.Run() == NRD_OK);
  request.CheckReport();
  const Reply& reply = request.replies()[0];
  CHECK(std::get<std::string>(reply.values.at("id")) == "a request");
  CHECK(std::get<int64_t>(reply.values.at("sequence")) == 0);
  CHECK(std::get<int64_t>(reply.values.at("flags")) == 0);
  CHECK(std::get<int64_t>(reply.values.at("timeout")) == 3'000'000'000);
  CHECK(std::get<bool>(reply.values.at("cancelled")) == false);
  CHECK(std::get<std::string>(reply.values.at("got text")) == "größer");
  CHECK(std::get<int64_t>(reply.values.at("got number")) == -7);
  CHECK(std::get<bool>(reply.values.at("got truth")) == true);
  CHECK(std::get<double>(reply.values.at("got real")) == 0.25);
  CHECK(std::get<int64_t>(reply.values.at("outputs")) == 1);
  CHECK(reply.output == std::vector<int32_t>{4, 5});
}

TEST_CASE("a request may have no elements at all") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "read", {});
  request.Run();
  request.CheckReport();
  CHECK(request.replies()[0].output.empty());
}

TEST_CASE("what is out of bounds, of no kind or gone is an error and nothing else") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  for (const char* what : {"bounds", "nothing", "kinds", "released", "answer"}) {
    CAPTURE(what);
    PluginRequest request(model, what, {1, 2});
    request.Run();
    request.CheckReport();
    CHECK(request.replies()[0].output == std::vector<int32_t>{1, 2});
  }
}

TEST_CASE("the functions of no object in particular") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginHost::Get().TakeLog();
  PluginRequest request(model, "values");
  request.Run();
  request.CheckReport();
  CHECK(PluginHost::Get().TakeLog().find("the probe was here") != std::string::npos);
}

TEST_CASE("memory comes from the server, and what a backend occupies is reported") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "memory");
  request.Run();
  request.CheckReport();
}

TEST_CASE("a backend says how long it computed") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "statistics");
  request.Run();
  request.CheckReport();
  const nrd_model_stats stats = model.stats();
  CHECK(stats.success.count == 1);
  CHECK(stats.compute_infer.count == 1);
  CHECK(stats.compute_infer.ns == 100);
}

TEST_CASE("activities of a request that is recorded are told, and only then") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginHost::Get().TakeActivities();
  PluginRequest plain(model, "trace");
  plain.Run();
  plain.CheckReport();
  CHECK(PluginHost::Get().TakeActivities().empty());
  PluginRequest traced(model, "trace");
  traced.With("traced", int64_t{1});
  traced->flags |= NRD_REQUEST_TRACED;
  traced->tag = 77;
  traced.Run();
  traced.CheckReport();
  const auto activities = PluginHost::Get().TakeActivities();
  REQUIRE(activities.size() == 1);
  CHECK(activities[0].name == "PROBED");
  CHECK(activities[0].tag == 77);
  CHECK(activities[0].trace == 0);
  CHECK(activities[0].time_ns == 12345);
}

TEST_CASE("a backend's metrics are there as long as it keeps them") {
  {
    Plugin plugin(NEREID_PROBE_PATH);
    PluginModel model(plugin, {.name = "counted"});
    for (int i = 0; i < 2; ++i) {
      PluginRequest request(model, "metrics");
      request.Run();
      request.CheckReport();
    }
    const std::string text = PluginHost::Metrics();
    CHECK(text.find("# HELP probe_requests What the probe counted\n") != std::string::npos);
    CHECK(text.find("# TYPE probe_requests counter\n") != std::string::npos);
    CHECK(text.find("probe_requests{model=\"counted\"} 3\n") != std::string::npos);
    CHECK(text.find("probe_sizes") == std::string::npos);
  }
  CHECK(PluginHost::Metrics().find("probe") == std::string::npos);
}

TEST_CASE("a batch of several requests reaches the backend as it came") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin, {.flags = NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 2});
  std::deque<PluginRequest> requests;
  for (int32_t i = 0; i < 50; ++i) {
    requests.emplace_back(model, i % 3 == 0 ? "late" : "answer", std::vector<int32_t>{i, -i});
    requests.back().Submit();
  }
  for (int32_t i = 0; i < 50; ++i) {
    PluginRequest& request = requests[static_cast<size_t>(i)];
    request.CheckReport();
    CHECK(request.replies()[0].output == std::vector<int32_t>{i, -i});
  }
}

TEST_CASE("a backend chooses which requests go together") {
  Plugin plugin(NEREID_CHOOSY_PATH, "choosy");
  PluginModel model(plugin,
                    {.flags = NRD_MODEL_DYNAMIC_BATCHING, .max_queue_delay_ns = 50'000'000});
  std::deque<PluginRequest> requests;
  for (int64_t i = 0; i < 40; ++i) {
    requests.emplace_back(model, "").With("colour", i / 4);
    requests.back().Submit();
  }
  for (PluginRequest& request : requests) {
    REQUIRE_MESSAGE(request.Wait() == NRD_OK, request.message());
    const Reply& reply = request.replies()[0];
    CHECK(std::get<bool>(reply.values.at("same")));
    CHECK(std::get<int64_t>(reply.values.at("together")) <= 4);
  }
}

}  // namespace
}  // namespace nereid::test
