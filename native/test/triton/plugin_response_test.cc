// Tests of responses of Triton backends: in time, late, several, wrong, and none.
#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

// A note made when nothing could be sent any more comes with the next response.
void CheckNothingKept(PluginModel& model) {
  PluginRequest request(model, "answer");
  request.Run();
  request.CheckReport();
}

TEST_CASE("outputs of a response, right and wrong") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "outputs", {1, 2});
  request.Run();
  request.CheckReport();
  CHECK(request.replies()[0].output == std::vector<int32_t>{0x01010101, 0x01010101});
}

TEST_CASE("a response that is deleted leaves nothing behind for the next") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "deleted", {1, 2});
  request.Run();
  request.CheckReport();
  CHECK(!request.replies()[0].values.contains("of the deleted one"));
  CHECK(request.replies()[0].output == std::vector<int32_t>{1, 2});
}

TEST_CASE("a response is sent once") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "twice", {1, 2});
  REQUIRE(request.Run() == NRD_OK);
  CHECK(request.replies()[0].output == std::vector<int32_t>{1, 2});
  CHECK(!request.replies()[0].values.contains("late"));
  CheckNothingKept(model);
}

TEST_CASE("the error of a response is the request's, and no other's") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin, {.flags = NRD_MODEL_DYNAMIC_BATCHING});
  const std::pair<int64_t, int32_t> codes[] = {{1, NRD_INTERNAL},         {2, NRD_NOT_FOUND},
                                               {3, NRD_INVALID_ARGUMENT}, {4, NRD_UNAVAILABLE},
                                               {5, NRD_UNIMPLEMENTED},    {7, NRD_CANCELLED}};
  for (const auto& [code, status] : codes) {
    CAPTURE(code);
    PluginRequest request(model, "fail");
    request.With("code", code);
    PluginRequest other(model, "answer");
    request.Submit();
    other.Submit();
    CHECK(request.Wait() == status);
    CHECK(request.message().find("it did not want to") != std::string::npos);
    other.CheckReport();
  }
}

TEST_CASE("an error of Execute answers its requests, which stay the server's") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "fail_execute");
  CHECK(request.Run() == NRD_UNAVAILABLE);
  CHECK(request.message().find("not now, all of you") != std::string::npos);
  CheckNothingKept(model);
}

TEST_CASE("a request that is given back without a response is an error that says so") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  for (const char* what : {"missing", "unfinished"}) {
    CAPTURE(what);
    PluginRequest request(model, what);
    CHECK(request.Run() == NRD_INTERNAL);
    CHECK(request.message().find("probe") != std::string::npos);
    CHECK(request.message().find("response") != std::string::npos);
  }
  CheckNothingKept(model);
}

TEST_CASE("responses come after Execute returned, and after the request was given back") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  for (const char* what : {"late", "later"}) {
    CAPTURE(what);
    PluginRequest request(model, what, {7});
    request.Submit();
    request.CheckReport();
    CHECK(request.replies()[0].output == std::vector<int32_t>{7});
  }
}

TEST_CASE("a model is unloaded when its last late response has come") {
  Plugin plugin(NEREID_PROBE_PATH);
  std::deque<PluginRequest> requests;
  auto model = std::make_unique<PluginModel>(plugin);
  for (int i = 0; i < 20; ++i) {
    requests.emplace_back(*model, "late");
    requests.back().Submit();
  }
  model.reset();
  for (PluginRequest& request : requests) {
    request.CheckReport();
  }
}

TEST_CASE("a decoupled model answers as often as it likes") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin, {.flags = NRD_MODEL_DECOUPLED});
  for (const char* what : {"stream", "stream_late"}) {
    for (const bool last : {false, true}) {
      for (const int64_t count : {0, 1, 5}) {
        CAPTURE(what);
        CAPTURE(last);
        CAPTURE(count);
        PluginRequest request(model, what, {8, 9});
        request.With("count", count).With("last", last);
        REQUIRE_MESSAGE(request.Run() == NRD_OK, request.message());
        REQUIRE(request.replies().size() == static_cast<size_t>(count));
        for (int64_t i = 0; i < count; ++i) {
          const Reply& reply = request.replies()[static_cast<size_t>(i)];
          CHECK(std::get<int64_t>(reply.values.at("index")) == i);
          CHECK(std::get<std::string>(reply.values.at("wrong")) == "");
          CHECK(reply.output == std::vector<int32_t>{8, 9});
        }
      }
    }
  }
  CheckNothingKept(model);
}

TEST_CASE("an error is one response of a decoupled model, and others follow") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin, {.flags = NRD_MODEL_DECOUPLED});
  for (const char* what : {"stream", "stream_late"}) {
    for (const int64_t fail_at : {0, 1, 2}) {
      CAPTURE(what);
      CAPTURE(fail_at);
      PluginRequest request(model, what, {8, 9});
      request.With("count", int64_t{3}).With("fail_at", fail_at);
      REQUIRE_MESSAGE(request.Run() == NRD_OK, request.message());
      REQUIRE(request.replies().size() == 3);
      for (int64_t i = 0; i < 3; ++i) {
        const Reply& reply = request.replies()[static_cast<size_t>(i)];
        CHECK(reply.error == (i == fail_at ? "there is no such response" : ""));
        CHECK(reply.output == (i == fail_at ? std::vector<int32_t>{} : std::vector{8, 9}));
        CHECK(std::get<int64_t>(reply.values.at("index")) == i);
      }
    }
  }
  CheckNothingKept(model);
}

TEST_CASE("an error with the final flag, or of a model that is not decoupled, is the end") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel decoupled(plugin, {.flags = NRD_MODEL_DECOUPLED});
  PluginRequest last(decoupled, "stream");
  last.With("count", int64_t{2}).With("fail_at", int64_t{1}).With("last", true);
  CHECK(last.Run() == NRD_NOT_FOUND);
  CHECK(last.message() == "there is no such response");
  CHECK(last.replies().size() == 1);
  PluginModel single(plugin);
  PluginRequest only(single, "stream");
  only.With("count", int64_t{1}).With("fail_at", int64_t{0});
  CHECK(only.Run() == NRD_NOT_FOUND);
  CHECK(only.message() == "there is no such response");
  CHECK(only.replies().empty());
}

TEST_CASE("a decoupled request without the final flag ends with an error, behind what it had") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin, {.flags = NRD_MODEL_DECOUPLED});
  for (const bool fails : {false, true}) {
    for (const int64_t count : {0, 2}) {
      CAPTURE(fails);
      CAPTURE(count);
      PluginRequest request(model, "cut", {8, 9});
      request.With("count", count).With("fails", fails);
      CHECK(request.Run() == (fails ? NRD_UNAVAILABLE : NRD_INTERNAL));
      CHECK(request.message().find(fails ? "it broke off" : "without the final flag") !=
            std::string::npos);
      CHECK(request.replies().size() == static_cast<size_t>(count));
    }
  }
  CheckNothingKept(model);
}

TEST_CASE("nothing comes after the last response") {
  Plugin plugin(NEREID_PROBE_PATH);
  for (const uint32_t flags : {0U, static_cast<uint32_t>(NRD_MODEL_DECOUPLED)}) {
    PluginModel model(plugin, {.flags = flags});
    PluginRequest request(model, "after_final", {1});
    REQUIRE(request.Run() == NRD_OK);
    CHECK(request.replies().size() == 1);
    CheckNothingKept(model);
  }
}

TEST_CASE("a model that is not decoupled has one response, whatever it sends") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest none(model, "stream");
  none.With("count", int64_t{0});
  CHECK(none.Run() == NRD_INTERNAL);
  PluginRequest one(model, "stream");
  one.With("count", int64_t{1});
  CHECK(one.Run() == NRD_OK);
}

TEST_CASE("a backend sees that nobody waits any more") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "until_cancelled");
  request.Submit();
  // A request may be cancelled before it executes; the backend then sees the mark.
  nrd_request_cancel(request.get());
  CHECK(request.Wait() == NRD_CANCELLED);
  CheckNothingKept(model);
}

}  // namespace
}  // namespace nereid::test
