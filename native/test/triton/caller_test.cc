// Tests of a Triton backend that asks other models within its Execute.
#include <dlfcn.h>

#include <future>
#include <thread>

#include "test/triton/inference_fixture.h"

namespace nereid::test {
namespace {

using Elements = std::vector<int32_t>;

PluginModelSettings Named(const std::string& name, uint32_t instances = 1) {
  PluginModelSettings settings;
  settings.name = name;
  settings.instance_count = instances;
  return settings;
}

// True if the caller's library is loaded.
bool IsLoaded() {
  void* const library = dlopen(NEREID_CALLER_PATH, RTLD_NOW | RTLD_NOLOAD);
  if (library != nullptr) {
    dlclose(library);
  }
  return library != nullptr;
}

// The only reply's value.
int64_t Answers(PluginRequest& request) {
  REQUIRE(request.replies().size() == 1);
  return std::get<int64_t>(request.replies()[0].values.at("answers"));
}

}  // namespace

TEST_CASE("a backend asks other models, whether they answer once or often") {
  const Target target("target", Target::Copy);
  const Target counter("counter", Target::Count, true);
  Plugin plugin(NEREID_CALLER_PATH, "caller");
  PluginModel caller(plugin, Named("caller"));
  PluginRequest once(caller, "call");
  CHECK(once.With("target", "target").Run() == NRD_OK);
  CHECK(once.replies()[0].output == Elements{1, 2, 3});
  CHECK(Answers(once) == 1);
  PluginRequest often(caller, "call", {5});
  CHECK(often.With("target", "counter").Run() == NRD_OK);
  CHECK(often.replies()[0].output == Elements{0, 1, 2, 3, 4});
  CHECK(Answers(often) == 5);
}

TEST_CASE("a backend gets what its target fails with") {
  const Target counter("counter", Target::Count, true);
  Plugin plugin(NEREID_CALLER_PATH, "caller");
  PluginModel caller(plugin, Named("caller"));
  PluginRequest failing(caller, "call", {-1});
  CHECK(failing.With("target", "counter").Run() == NRD_INTERNAL);
  CHECK(failing.message() == "COUNT is below 0");
  PluginRequest missing(caller, "call");
  CHECK(missing.With("target", "nobody").Run() == NRD_UNAVAILABLE);
  CHECK(missing.message() == "the target is not ready");
}

TEST_CASE("a backend asks a model of its own kind, which asks another, and itself") {
  const Target target("target", Target::Copy);
  Plugin plugin(NEREID_CALLER_PATH, "caller");
  PluginModel outer(plugin, Named("outer"));
  PluginModel inner(plugin, Named("inner", 2));
  PluginHost::Get().Offer("inner", inner.get());
  PluginRequest request(outer, "call");
  CHECK(request.With("target", "inner").With("then", "target").Run() == NRD_OK);
  CHECK(request.replies()[0].output == Elements{1, 2, 3});
  // The model's other instance answers.
  PluginRequest own(inner, "call");
  CHECK(own.With("target", "inner").With("then", "target").Run() == NRD_OK);
  CHECK(own.replies()[0].output == Elements{1, 2, 3});
  PluginHost::Get().Withdraw("inner");
}

TEST_CASE("a backend cancels what it asked for, and goes on") {
  const Target counter("counter", Target::Count, true);
  Plugin plugin(NEREID_CALLER_PATH, "caller");
  PluginModel caller(plugin, Named("caller"));
  for (int i = 0; i < 20; ++i) {
    PluginRequest request(caller, "cancel", {20});
    const int32_t status = request.With("target", "counter").Run();
    CHECK((status == NRD_OK || status == NRD_CANCELLED));
  }
  PluginRequest after(caller, "call", {2});
  CHECK(after.With("target", "counter").Run() == NRD_OK);
}

TEST_CASE("a library stays loaded when inferences that it began do not end") {
  REQUIRE(IsLoaded() == false);
  std::promise<void> gate;
  {
    const Target endless(
        "endless", [opened = gate.get_future().share()](nrd_batch* batch, nrd_error* error_out) {
          opened.wait();
          return Target::Copy(batch, error_out);
        });
    Plugin plugin(NEREID_CALLER_PATH, "caller");
    {
      PluginModel caller(plugin, Named("caller"));
      PluginRequest leaving(caller, "leave");
      REQUIRE(leaving.With("target", "endless").Run() == NRD_OK);
    }
    PluginHost::Get().TakeLog();
    plugin.CloseAtOnce();
    CHECK(PluginHost::Get().TakeLog().find("backend 'caller' has begun inferences that do not "
                                           "end: its library stays loaded") != std::string::npos);
    CHECK(IsLoaded());
    gate.set_value();
  }
  while (PluginHost::Get().pins() > 0) {  // until its callbacks have returned
    std::this_thread::yield();
  }
  CHECK(PluginHost::Handles() == "");
}

TEST_CASE("what a traced request starts is told with it") {
  const Target target("target", Target::Copy);
  Plugin plugin(NEREID_CALLER_PATH, "caller");
  PluginModel caller(plugin, Named("caller"));
  PluginHost::Get().TakeActivities();
  PluginRequest request(caller, "trace");
  request.With("target", "target");
  request->flags |= NRD_REQUEST_TRACED;
  request->tag = 77;
  CHECK(request.Run() == NRD_OK);
  const auto activities = PluginHost::Get().TakeActivities();
  const std::vector<std::string> names = {
      "REQUEST_START",        "TENSOR_QUEUE_INPUT", "TENSOR_BACKEND_OUTPUT",
      "QUEUE_START",          "COMPUTE_START",      "COMPUTE_INPUT_END",
      "COMPUTE_OUTPUT_START", "COMPUTE_END",        "REQUEST_END"};
  REQUIRE(activities.size() == names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    CHECK(activities[i].name == names[i]);
    CHECK(activities[i].tag == 77);
    CHECK(activities[i].model == "target");
    CHECK(activities[i].trace == activities[0].trace);
    CHECK(activities[i].parent == 0);
    CHECK(activities[i].time_ns > 0);
  }
  CHECK(activities[0].trace != 0);
  CHECK(activities[1].tensor == "INPUT0");
  CHECK(activities[1].values == Elements{1, 2, 3});
  CHECK(activities[2].tensor == "OUTPUT0");
  CHECK(activities[2].values == Elements{1, 2, 3});
  // Without a trace there is no child.
  PluginRequest untraced(caller, "trace");
  CHECK(untraced.With("target", "target").Run() == NRD_OK);
  CHECK(PluginHost::Get().TakeActivities().empty());
}

TEST_CASE("a model that a traced inference asks sees the trace of that, and starts its own below") {
  const Target target("target", Target::Copy);
  Plugin plugin(NEREID_CALLER_PATH, "caller");
  PluginModel outer(plugin, Named("outer"));
  PluginModel inner(plugin, Named("inner"));
  PluginHost::Get().Offer("inner", inner.get());
  PluginHost::Get().TakeActivities();
  PluginRequest request(outer, "trace");
  request.With("target", "inner").With("then", "target");
  request->flags |= NRD_REQUEST_TRACED;
  request->tag = 78;
  CHECK(request.Run() == NRD_OK);
  PluginHost::Get().Withdraw("inner");
  uint64_t above = 0;
  uint64_t below = 0;
  for (const Activity& activity : PluginHost::Get().TakeActivities()) {
    CHECK(activity.tag == 78);
    if (activity.model == "inner") {
      above = activity.trace;
      CHECK(activity.parent == 0);
    } else if (activity.name == "REQUEST_END") {
      CHECK(activity.model == "target");
      CHECK(activity.parent == above);
      below = activity.trace;
    }
  }
  CHECK(below != 0);
  CHECK(below != above);
}

}  // namespace nereid::test
