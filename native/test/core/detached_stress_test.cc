// Batches that backends keep, everything at once: threads that send and cancel, threads that finish
// in any order, and models that are released in between. The fixtures check that nothing is left.
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

// Threads that finish batches, the oldest or any other; some are finished before execute returns.
class Finishers {
 public:
  Finishers() {
    for (uint32_t seed = 0; seed < 3; ++seed) {
      threads_.emplace_back([this, seed] { Run(seed); });
    }
  }
  ~Finishers() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  int32_t Execute(nrd_batch* batch, nrd_error* error) {
    switch (++batches_ % 4) {
      case 0:
        return CopyInputs(batch, error);
      case 1:
        End(batch);
        return NRD_PENDING;
      default: {
        const std::lock_guard lock(mutex_);
        kept_.push_back(batch);
        changed_.notify_one();
        return NRD_PENDING;
      }
    }
  }

 private:
  static void End(nrd_batch* batch) {
    nrd_error error{};
    const int32_t code = CopyInputs(batch, &error);
    nrd_batch_finish(batch, code, error.message, error.message_size);
  }

  void Run(uint32_t seed) {
    std::mt19937 random(seed);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !kept_.empty(); });
      if (kept_.empty()) {
        return;
      }
      const size_t place = random() % kept_.size();
      nrd_batch* const batch = kept_[place];
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(place));
      lock.unlock();
      End(batch);
      lock.lock();
    }
  }

  std::atomic<uint32_t> batches_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<nrd_batch*> kept_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

TEST_CASE("stress: kept batches, cancellations and releases at once") {
  Finishers finishers;
  FunctionBackend backend{
      .run = [&](nrd_batch* batch, nrd_error* error) { return finishers.Execute(batch, error); },
      .flags = NRD_BACKEND_DETACHES};
  TestRuntime runtime(1 << 20);
  std::atomic<uint64_t> wrong{0};
  const uint32_t kinds[] = {0, NRD_MODEL_DYNAMIC_BATCHING,
                            NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_PRESERVE_ORDERING,
                            NRD_MODEL_RESPONSE_CACHE};
  for (const uint32_t flags : kinds) {
    TestModel model(runtime, backend, {.flags = flags, .instance_count = 2});
    std::vector<std::thread> clients;
    std::atomic<uint64_t> succeeded{0};
    for (uint32_t client = 0; client < 3; ++client) {
      clients.emplace_back([&, client] {
        std::mt19937 random(client);
        for (int32_t i = 0; i < 100; ++i) {
          std::vector<TestRequest> requests;
          for (int32_t j = 0; j < 4; ++j) {
            requests.emplace_back(model, 1 + static_cast<int64_t>(random() % 3), i * 4 + j);
          }
          std::vector<int32_t> codes;
          for (TestRequest& request : requests) {
            codes.push_back(request.Submit());
          }
          (void)nrd_request_cancel(requests[random() % 4].get());
          for (size_t j = 0; j < requests.size(); ++j) {
            const int32_t code = codes[j] == NRD_PENDING ? requests[j].Wait() : codes[j];
            const bool right =
                code == NRD_OK && requests[j].output().front() == i * 4 + static_cast<int32_t>(j);
            succeeded += right ? 1 : 0;
            wrong += right || code == NRD_CANCELLED || code == NRD_UNAVAILABLE ? 0 : 1;
          }
        }
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    CHECK(model.stats().success.count == succeeded);
    CHECK(succeeded >= 900);
  }
  CHECK(wrong == 0);
}

TEST_CASE("stress: a model is released while its batches are being finished") {
  Finishers finishers;
  FunctionBackend backend{
      .run = [&](nrd_batch* batch, nrd_error* error) { return finishers.Execute(batch, error); },
      .flags = NRD_BACKEND_DETACHES};
  TestRuntime runtime;
  for (int round = 0; round < 100; ++round) {
    TestModel model(runtime, backend, {.instance_count = 2});
    std::vector<TestRequest> requests;
    std::vector<int32_t> codes;
    for (int32_t i = 0; i < 6; ++i) {
      requests.emplace_back(model, 1, i);
      codes.push_back(requests.back().Submit());
    }
    model.Release();
    CHECK(backend.open_instances == 0);
    for (size_t i = 0; i < requests.size(); ++i) {
      const int32_t code = codes[i] == NRD_PENDING ? requests[i].Wait() : codes[i];
      CHECK((code == NRD_OK || code == NRD_UNAVAILABLE));
    }
  }
}

}  // namespace
}  // namespace nereid::test
