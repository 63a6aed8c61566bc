// Tests that a plug-in which keeps requests does not hinder unloading.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

// The library of the plug-in 'hoarding', whose calls can be held up.
class HoardingLibrary {
 public:
  HoardingLibrary() : library_(dlopen(NEREID_HOARDING_PATH, RTLD_NOW | RTLD_NOLOAD)) {
    REQUIRE(library_ != nullptr);
  }
  ~HoardingLibrary() { dlclose(library_); }
  HoardingLibrary(const HoardingLibrary&) = delete;
  HoardingLibrary& operator=(const HoardingLibrary&) = delete;

  void Hold(int held) { reinterpret_cast<void (*)(int)>(dlsym(library_, "hoarding_hold"))(held); }
  int Questions() { return reinterpret_cast<int (*)()>(dlsym(library_, "hoarding_questions"))(); }
  // Returns when a call is blocked.
  void Await() { reinterpret_cast<void (*)()>(dlsym(library_, "hoarding_await"))(); }

 private:
  void* const library_;
};

TEST_CASE("what a plug-in holds when its model is unloaded is told and taken from it") {
  {
    Plugin plugin(NEREID_HOARDING_PATH, "hoarding");
    PluginModel model(plugin);
    PluginRequest request(model, "", {1});
    request.Submit();
    Errors errors;
    // The instance has taken the request; from here on it cannot be answered.
    while (model.stats().executing_count == 0) {
    }
    CHECK(nrd_model_drain(model.get(), nrd_clock_now_ns() + 1, errors.out()) ==
          NRD_DEADLINE_EXCEEDED);
    while (PluginHost::Handles().find("1 response factory of") == std::string::npos) {
    }
    PluginHost::Get().TakeLog();
    nrt_model_give_up(model.load());
    CHECK(request.Wait() == NRD_UNAVAILABLE);
    CHECK(request.message().find("'hoarding' did not answer") != std::string::npos);
    const std::string log = PluginHost::Get().TakeLog();
    CHECK(log.find("'hoarding' still holds 1 request, 1 response, 1 response factory") !=
          std::string::npos);
    // Nothing is left to give up.
    nrt_model_give_up(model.load());
    nrt_model_give_up(model.load() + 1000);
  }
  CHECK(PluginHost::Get().TakeLog().find("4 refused, cancelled") != std::string::npos);
  CHECK(PluginHost::Handles() == "");
}

TEST_CASE("a request is answered when it has ended, whatever others of its batch do") {
  {
    Plugin plugin(NEREID_HOARDING_PATH, "hoarding");
    PluginModel model(plugin, {.max_batch_size = 2,
                               .flags = NRD_MODEL_DYNAMIC_BATCHING,
                               .max_queue_delay_ns = 600'000'000'000});
    PluginRequest hoarded(model, "", {1});
    PluginRequest answered(model, "", {1});
    hoarded.Submit();
    answered.Submit();
    CHECK(answered.Wait() == NRD_OK);
    CHECK(answered.replies()[0].output == std::vector<int32_t>{8});
    CHECK(model.stats().executing_count == 1);
    Errors errors;
    CHECK(nrd_model_drain(model.get(), nrd_clock_now_ns() + 1, errors.out()) ==
          NRD_DEADLINE_EXCEEDED);
    nrt_model_give_up(model.load());
    CHECK(hoarded.Wait() == NRD_UNAVAILABLE);
  }
  CHECK(PluginHost::Get().TakeLog().find("4 refused, cancelled") != std::string::npos);
  CHECK(PluginHost::Handles() == "");
}

TEST_CASE("what an Execute that runs on has is left to it until it returns") {
  {
    Plugin plugin(NEREID_HOARDING_PATH, "hoarding");
    HoardingLibrary library;
    PluginModel model(plugin);
    PluginRequest request(model, "", {1});
    library.Hold(1);
    request.Submit();
    library.Await();
    Errors errors;
    CHECK(nrd_model_drain(model.get(), nrd_clock_now_ns() + 1, errors.out()) ==
          NRD_DEADLINE_EXCEEDED);
    nrt_model_give_up(model.load());
    // Its handles stay valid: the backend uses them.
    CHECK(PluginHost::Handles().find("1 request of backend 'hoarding'") != std::string::npos);
    library.Hold(0);
    CHECK(request.Wait() == NRD_UNAVAILABLE);
    CHECK(request.message().find("'hoarding' did not answer") != std::string::npos);
  }
  CHECK(PluginHost::Get().TakeLog().find("4 refused, cancelled") != std::string::npos);
  CHECK(PluginHost::Handles() == "");
}

TEST_CASE("a batch that would begin after its model was given up is answered in place of that") {
  {
    Plugin plugin(NEREID_HOARDING_PATH, "hoarding");
    HoardingLibrary library;
    PluginModel model(plugin);
    PluginRequest executing(model, "", {1});
    PluginRequest waiting(model, "", {1});
    library.Hold(1);
    executing.Submit();
    library.Await();
    waiting.Submit();
    nrt_model_give_up(model.load());
    library.Hold(0);
    CHECK(executing.Wait() == NRD_UNAVAILABLE);
    CHECK(waiting.Wait() == NRD_UNAVAILABLE);
    CHECK(waiting.message().find("model 'm' was given up") != std::string::npos);
  }
  CHECK(PluginHost::Get().TakeLog().find("4 refused, cancelled") != std::string::npos);
  CHECK(PluginHost::Handles() == "");
}

TEST_CASE("callers that ask whether a model is ready while it is asked wait for one answer") {
  Plugin plugin(NEREID_HOARDING_PATH, "hoarding");
  HoardingLibrary library;
  PluginModel model(plugin);
  library.Hold(1);
  std::atomic<int> ready{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back(
        [&] { ready += nrt_model_ready(model.load(), nullptr) == NRD_OK ? 1 : 0; });
  }
  library.Await();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // most of them come
  CHECK(library.Questions() == 1);
  CHECK(ready == 0);
  library.Hold(0);
  for (std::thread& caller : callers) {
    caller.join();
  }
  CHECK(ready == 8);
}

}  // namespace
}  // namespace nereid::test
