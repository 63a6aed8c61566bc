// Tests of Triton backends, models and instances: they are opened, closed or refused.
#include <memory>
#include <thread>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

TEST_CASE("a backend, its models and instances see what they are") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin, {.instance_count = 2,
                             .profiles = R"(["profile 0","profile 1"])",
                             .secondary = R"([{"kind":"KIND_NVDLA","device":1}])"});
  PluginRequest request(model, "lifecycle");
  request.Run();
  request.CheckReport();
}

TEST_CASE("passive instances are made, and get no requests") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginHost::Get().TakeLog();
  {
    PluginModel model(plugin,
                      {.secondary = R"([{"kind":"KIND_NVDLA","device":1}])", .passive_count = 2});
    for (int i = 0; i < 5; ++i) {
      PluginRequest request(model, "lifecycle");
      REQUIRE_MESSAGE(request.Run() == NRD_OK, request.message());
      request.CheckReport();
      CHECK(std::get<int64_t>(request.replies()[0].values.at("passive")) == 2);
    }
  }
  CHECK(PluginModel::Refusal(plugin, {.name = "shy", .passive_count = 1})
            .find("this instance is shy") != std::string::npos);
  CHECK(PluginHost::Get().TakeLog() == "");
}

TEST_CASE("a backend says what it prefers") {
  Plugin plugin(NEREID_PROBE_PATH);
  nrt_backend_info info{};
  info.struct_size = sizeof(info);
  nrt_backend_info_read(plugin.get(), &info);
  CHECK(info.parallel_instance_loading == 1);
  REQUIRE(info.preferred_group_count == 2);
  CHECK(info.preferred_kind[0] == 2);
  CHECK(info.preferred_kind[1] == 1);
  CHECK(info.preferred_instances[1] == 2);
}

TEST_CASE("instances of a backend begin at the same time only where it says that they can") {
  {
    Plugin together(NEREID_PROBE_PATH);
    const PluginModel meeting(together, {.name = "meeting", .instance_count = 2});
  }
  Plugin alone(NEREID_CHOOSY_PATH, "choosy");
  const PluginModel following(
      alone, {.name = "following", .flags = NRD_MODEL_DYNAMIC_BATCHING, .instance_count = 6});
}

TEST_CASE("a backend may complete a configuration, when it is asked to") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel left(plugin, {.outputs = "[]"});
  CHECK(PluginHost::Get().completed(left.load()) == "");
  PluginModel model(plugin, {.outputs = "[]", .auto_complete = true});
  CHECK(PluginHost::Get().completed(model.load()).find("OUTPUT0") != std::string::npos);
  PluginRequest request(model, "lifecycle");
  request.Run();
  request.CheckReport();
}

TEST_CASE("a model or an instance that a backend refuses is not loaded") {
  Plugin plugin(NEREID_PROBE_PATH);
  CHECK(PluginModel::Refusal(plugin, {.name = "refused"}).find("the probe does not want it") !=
        std::string::npos);
  CHECK(PluginModel::Refusal(plugin, {.name = "unwilling", .instance_count = 3})
            .find("this instance is unwilling") != std::string::npos);
}

TEST_CASE("readiness is the instances'") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel awake(plugin, {.name = "awake"});
  PluginModel sleepy(plugin, {.name = "sleepy"});
  Errors errors;
  CHECK(nrt_model_ready(awake.load(), errors.out()) == NRD_OK);
  CHECK(nrt_model_ready(sleepy.load(), errors.out()) == NRD_UNAVAILABLE);
  CHECK(errors.message().find("the instance sleeps") != std::string::npos);
  CHECK(nrt_model_ready(sleepy.load() + 1000, errors.out()) != NRD_OK);
}

TEST_CASE("a plug-in that is asked whether it is ready may ask the server, and be unloaded") {
  Plugin plugin(NEREID_PROBE_PATH);
  for (int i = 0; i < 20; ++i) {
    auto model = std::make_unique<PluginModel>(
        plugin, PluginModelSettings{.name = "curious", .instance_count = 2});
    const uint64_t load = model->load();
    Errors errors;
    CHECK(nrt_model_ready(load, errors.out()) == NRD_OK);
    std::thread asker([load] {
      while (nrt_model_ready(load, nullptr) != NRD_NOT_FOUND) {
      }
    });
    model.reset();
    asker.join();
  }
}

TEST_CASE("an instance that is broken begins anew, and one that merely sleeps does not") {
  Plugin plugin(NEREID_PROBE_PATH);
  for (const char* name : {"awake", "sleepy"}) {
    CAPTURE(name);
    PluginModel model(plugin, {.name = name});
    PluginHost::Get().TakeLog();
    PluginRequest failing(model, "fail");
    CHECK(failing.Run() == NRD_INTERNAL);
    PluginRequest untouched(model, "lifecycle");
    untouched.Run();
    untouched.CheckReport();
    CHECK(PluginHost::Get().TakeLog().find("begins anew") == std::string::npos);
  }
  PluginModel model(plugin, {.name = "awake"});
  PluginRequest breaking(model, "break");
  CHECK(breaking.Run() == NRD_INTERNAL);
  PluginRequest next(model, "lifecycle");
  next.Run();
  next.CheckReport();
  CHECK(PluginHost::Get().TakeLog().find("the instance broke") != std::string::npos);
  Errors errors;
  CHECK(nrt_model_ready(model.load(), errors.out()) == NRD_OK);
}

TEST_CASE("functions that are nowhere are listed before any code has run") {
  const std::string message = Plugin::Refusal(NEREID_BROKEN_PATH, "broken");
  CHECK(message.find("broken") != std::string::npos);
  CHECK(message.find("TRITONBACKEND_NobodyOffersThis") != std::string::npos);
  CHECK(message.find("TRITONSERVER_NorThis") != std::string::npos);
  CHECK(message.find("TRITONSERVER_ErrorDelete") == std::string::npos);
}

TEST_CASE("what is no backend is refused") {
  CHECK(
      Plugin::Refusal(NEREID_USELESS_PATH, "useless").find("TRITONBACKEND_ModelInstanceExecute") !=
      std::string::npos);
  CHECK(Plugin::Refusal("/nowhere/libtriton_x.so", "x").find("/nowhere/libtriton_x.so") !=
        std::string::npos);
  CHECK(Plugin::Refusal(std::string(NEREID_TEST_FOLDER) + "/CMakeLists.txt", "x") != "");
}

TEST_CASE("an exception in a plug-in is an error with its name, wherever it is thrown") {
  CHECK(Plugin::Refusal(NEREID_THROWING_PATH, "throwing_initialize")
            .find("the plug-in lost its temper") != std::string::npos);
  Plugin plugin(NEREID_THROWING_PATH, "throwing");
  for (const char* name : {"model_initialize", "instance_initialize"}) {
    CAPTURE(name);
    const std::string message = PluginModel::Refusal(plugin, {.name = name});
    CHECK(message.find("the plug-in lost its temper") != std::string::npos);
    CHECK(message.find("throwing") != std::string::npos);
  }
  for (const char* name : {"model_finalize", "instance_finalize"}) {
    CAPTURE(name);
    PluginModel model(plugin, {.name = name});
    PluginRequest request(model, "");
    CHECK(request.Run() == NRD_UNIMPLEMENTED);
    CHECK(request.message().find(name) != std::string::npos);
  }
  PluginModel execute(plugin, {.name = "execute"});
  PluginModel late(plugin, {.name = "execute_late"});
  for (int i = 0; i < 3; ++i) {
    PluginRequest before(execute, "");
    CHECK(before.Run() == NRD_INTERNAL);
    CHECK(before.message().find("the plug-in lost its temper") != std::string::npos);
    PluginRequest behind(late, "");
    CHECK(behind.Run() == NRD_UNIMPLEMENTED);
  }
  PluginModel ready(plugin, {.name = "ready"});
  Errors errors;
  CHECK(nrt_model_ready(ready.load(), errors.out()) == NRD_INTERNAL);
  CHECK(errors.message().find("the plug-in lost its temper") != std::string::npos);
}

}  // namespace
}  // namespace nereid::test
