// Tests of inferences in flight that a plug-in started: cancelled, unloaded, misused.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "test/triton/inference_fixture.h"

namespace nereid::test {
namespace {

using Elements = std::vector<int32_t>;

// A backend that waits until it is let through, or until its request is cancelled.
class Gate {
 public:
  Target::Execute execute() {
    return [this](nrd_batch* batch, nrd_error* error_out) {
      ++arrived;
      std::unique_lock lock(mutex_);
      while (!open_) {
        changed_.wait_for(lock, std::chrono::milliseconds(1));
        if (nrd_request_is_cancelled(batch->requests[0]) != 0) {
          return Fail(error_out, NRD_CANCELLED, "seen and stopped");
        }
      }
      return Target::Copy(batch, error_out);
    };
  }
  void WaitForArrival() {
    while (arrived == 0) {
      std::this_thread::yield();
    }
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  std::atomic<int> arrived{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// The pin ends after the last callback.
void WaitForNoPins() {
  while (PluginHost::Get().pins() != 0) {
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("a request that waits is cancelled, and no callback runs inside of the call") {
  Gate gate;
  const Target target("gate", gate.execute());
  Asker first("gate");
  Asker second("gate");
  std::mutex held;
  second.on_response = [&held] { const std::lock_guard lock(held); };
  first.Send();
  gate.WaitForArrival();
  second.Send();
  {
    const std::lock_guard lock(held);
    Works(TRITONSERVER_InferenceRequestCancel(second.get()));
  }
  second.Wait();
  CHECK(second.answer().error.find("Cancelled: ") == 0);
  bool cancelled = false;
  Works(TRITONSERVER_InferenceRequestIsCancelled(second.get(), &cancelled));
  CHECK(cancelled);
  gate.Open();
  first.Wait();
  CHECK(first.answer().output == Elements{1, 2, 3});
  // A cancelled request is not cancelled any more when it is sent again.
  second.Run();
  CHECK(second.answer().output == Elements{1, 2, 3});
  Works(TRITONSERVER_InferenceRequestCancel(second.get()));
  second.Run();
  CHECK(second.answer().error == "");
}

TEST_CASE("a backend sees that the request which it executes is cancelled") {
  Gate gate;
  const Target target("gate", gate.execute());
  Asker asker("gate");
  asker.Send();
  gate.WaitForArrival();
  Works(TRITONSERVER_InferenceRequestCancel(asker.get()));
  asker.Wait();
  CHECK(asker.answer().error == "Cancelled: seen and stopped");
}

TEST_CASE("a request in flight is not the plug-in's") {
  Gate gate;
  const Target target("gate", gate.execute());
  Asker asker("gate");
  asker.Send();
  gate.WaitForArrival();
  const std::string refusal =
      "Invalid argument: [request id: <id_unknown>] the request is in flight, expected one that "
      "was released";
  CHECK(Refused(TRITONSERVER_InferenceRequestDelete(asker.get())) == refusal);
  CHECK(Refused(TRITONSERVER_InferenceRequestSetId(asker.get(), "x")) == refusal);
  CHECK(Refused(TRITONSERVER_InferenceRequestRemoveAllInputs(asker.get())) == refusal);
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), asker.get(), nullptr)) == refusal);
  gate.Open();
  asker.Wait();
  CHECK(asker.answer().error == "");
}

TEST_CASE("handles that are gone, or of another kind, are errors") {
  const Target target("target", Target::Copy);
  TRITONSERVER_InferenceRequest* request = nullptr;
  Works(TRITONSERVER_InferenceRequestNew(&request, Server(), "target", -1));
  Works(TRITONSERVER_InferenceRequestDelete(request));
  CHECK(Refused(TRITONSERVER_InferenceRequestDelete(request))
            .find("is no inference request, or not any more") != std::string::npos);
  CHECK(Refused(TRITONSERVER_InferenceRequestSetFlags(request, 1))
            .find("TRITONSERVER_InferenceRequestSetFlags") != std::string::npos);
  CHECK(Refused(TRITONSERVER_ServerInferAsync(Server(), request, nullptr))
            .find("is no inference request") != std::string::npos);
  bool live = false;
  CHECK(Refused(TRITONSERVER_ServerIsLive(reinterpret_cast<TRITONSERVER_Server*>(request), &live))
            .find("is no server") != std::string::npos);
  uint32_t count = 0;
  CHECK(Refused(TRITONSERVER_InferenceResponseOutputCount(nullptr, &count))
            .find("NULL for a inference response") != std::string::npos);
  Works(TRITONSERVER_InferenceRequestDelete(nullptr));
}

TEST_CASE("a model is pinned until its answer was delivered and the request given back") {
  Gate gate;
  const Target target("gate", gate.execute());
  Asker asker("gate");
  CHECK(PluginHost::Get().pins() == 0);
  int64_t pins_at_response = 0;
  int64_t pins_at_release = 0;
  asker.on_response = [&] { pins_at_response = PluginHost::Get().pins(); };
  asker.on_release = [&] { pins_at_release = PluginHost::Get().pins(); };
  asker.Send();
  gate.WaitForArrival();
  CHECK(PluginHost::Get().pins() == 1);
  gate.Open();
  asker.Wait();
  CHECK(pins_at_response == 1);
  CHECK(pins_at_release == 1);
  WaitForNoPins();
  // A request that could not be sent holds nothing.
  const int64_t shape = 1;
  Works(TRITONSERVER_InferenceRequestAddInput(asker.get(), "INPUT9", TRITONSERVER_TYPE_INT32,
                                              &shape, 1));
  Refused(TRITONSERVER_ServerInferAsync(Server(), asker.get(), nullptr));
  CHECK(PluginHost::Get().pins() == 0);
}

TEST_CASE("a plug-in deletes its request when it gets it back, and asks again from its callbacks") {
  const Target target("target", Target::Copy);
  {
    Asker asker("target");
    asker.deletes_on_release = true;
    asker.Run();
    CHECK(asker.answer().error == "");
  }
  Asker inner("target", {9});
  Asker outer("target");
  outer.on_response = [&inner] { inner.Send(); };
  outer.Run();
  inner.Wait();
  CHECK(outer.answer().output == Elements{1, 2, 3});
  CHECK(inner.answer().output == Elements{9});
  // The request is sent again from its own release: only the plug-in ends this.
  Asker again("target");
  std::atomic<int> rounds{0};
  again.on_release = [&] {
    if (++rounds < 5) {
      Works(TRITONSERVER_ServerInferAsync(Server(), again.get(), nullptr));
    }
  };
  again.Send();
  while (rounds < 5) {
    again.Wait();
  }
  WaitForNoPins();
}

TEST_CASE("many threads ask and cancel at once, and everything comes back") {
  const Target target("target", Target::Copy);
  const Target counter("counter", Target::Count, true);
  const auto ask = [](int seed) {
    for (int i = 0; i < 50; ++i) {
      const bool streams = (i + seed) % 3 == 0;
      Asker asker(streams ? "counter" : "target", {4, 5});
      asker.Send();
      if (i % 2 == 0) {
        Works(TRITONSERVER_InferenceRequestCancel(asker.get()));
      }
      asker.Wait();
      CHECK(asker.answers().back().is_final);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(ask, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  WaitForNoPins();
}

}  // namespace nereid::test
