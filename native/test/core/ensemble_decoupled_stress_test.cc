// Streams through ensembles under everything at once: several clients, cancellations, deadlines,
// steps that fail, readers that are slow, and ensembles that are released meanwhile. The fixtures
// check that no record, buffer, model or runtime is left.
#include <array>
#include <random>
#include <shared_mutex>
#include <thread>

#include "test/core/ensemble_stream_fixture.h"

namespace nereid::test {
namespace {

constexpr size_t kClients = 3;
constexpr int kRequestsPerClient = 400;
constexpr int32_t kFails = 1000;  // values from here on are failures of some step

// What a request has been told so far; responses are numbered from its value on.
struct Reader {
  std::atomic<int32_t> next{0};
  std::atomic<int> in_callback{0};
};

struct Stress {
  static void Respond(void* context, uint64_t tag, nrd_tensor* outputs, uint32_t count) {
    auto& self = *static_cast<Stress*>(context);
    auto& reader = *reinterpret_cast<Reader*>(tag);
    if (outputs == nullptr) {
      if (reader.next % 7 == 3) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      return;
    }
    // One at a time, in order, and each once.
    const bool alone = ++reader.in_callback == 1;
    const int32_t value = count == 1 ? *static_cast<int32_t*>(outputs[0].data) : -1;
    self.wrong += alone && value == reader.next ? 0 : 1;
    ++reader.next;
    --reader.in_callback;
  }

  void Client(uint64_t seed);
  void One(std::mt19937_64& random, Reader& reader);

  std::shared_mutex mutex;  // no ensemble may be released while a record is acquired
  std::array<std::unique_ptr<TestModel>, 3> ensembles;
  std::array<int32_t, 3> responses{};  // of a request whose steps do not fail
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> succeeded{0};
};

void Stress::One(std::mt19937_64& random, Reader& reader) {
  const size_t which = random() % ensembles.size();
  std::unique_ptr<TestRequest> request;
  const int32_t value = static_cast<int32_t>(random() % 20) + (random() % 8 == 0 ? kFails : 0);
  {
    const std::shared_lock lock(mutex);
    if (ensembles[which] == nullptr) {
      return;
    }
    request = std::make_unique<TestRequest>(*ensembles[which], 1 + random() % 2, value);
  }
  reader.next = value;
  (*request)->tag = reinterpret_cast<uint64_t>(&reader);
  (*request)->flags = random() % 2 == 0 ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
  (*request)->deadline_ns = random() % 8 == 0 ? nrd_clock_now_ns() + 300'000 : 0;
  const bool cancels = random() % 4 == 0;
  const auto delay = std::chrono::microseconds(random() % 400);
  if (request->Submit() == NRD_PENDING && cancels) {
    std::this_thread::sleep_for(delay);
    nrd_request_cancel(request->get());
  }
  const int32_t code = request->Wait();
  if (code == NRD_OK) {
    // The last one comes with the end.
    const bool all = reader.next == value + responses[which] - 1 && value < kFails &&
                     request->output().front() == value + responses[which] - 1;
    wrong += all ? 0 : 1;
    succeeded += 1;
  } else if ((*request)->outputs[0].data != nullptr || (code == NRD_NOT_FOUND && value < kFails)) {
    wrong += 1;
  }
}

void Stress::Client(uint64_t seed) {
  std::mt19937_64 random(seed);
  Reader reader;
  for (int i = 0; i < kRequestsPerClient; ++i) {
    One(random, reader);
  }
}

// Passes values on; some of those that are to fail do.
Run Passing(uint32_t every) {
  return [every, count = std::make_shared<std::atomic<uint32_t>>(0)](nrd_batch* batch,
                                                                     nrd_error* error) {
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      if (ValueOf(batch, i) >= kFails && ++*count % every == 0) {
        nrd_batch_request_fail(batch, i, NRD_NOT_FOUND, "as told", 7);
      }
    }
    return SumInputs(batch, error, 0);
  };
}

// Those that are to fail do so after their responses, so that none of them succeeds.
Run Sending(int32_t count, bool fails) {
  return [send = Count(count, true), fails](nrd_batch* batch, nrd_error* error) {
    const int32_t code = send(batch, error);
    if (fails && code == NRD_OK && ValueOf(batch, 0) >= kFails) {
      return FailWith(error, NRD_NOT_FOUND, "as told");
    }
    return code;
  };
}

}  // namespace

TEST_CASE("streams through ensembles end exactly once, in order, whatever happens to them") {
  for (const uint32_t limit : {0U, 1U, 4U}) {
    Stress stress;
    nrd_runtime_options options{};
    options.respond = Stress::Respond;
    options.respond_context = &stress;
    TestRuntime runtime(0, options);
    FunctionBackend sending{.run = Sending(12, true)};
    FunctionBackend once{.run = Sending(1, false)};
    FunctionBackend passing{.run = Passing(5)};
    FunctionBackend queued{.run = Passing(3)};
    TestModel counter(runtime, sending,
                      {.name = "counter", .flags = kDecoupled, .instance_count = 3});
    TestModel single(runtime, once, {.name = "single", .flags = kDecoupled, .instance_count = 2});
    TestModel inlined(runtime, passing, {.name = "inlined", .flags = 0, .instance_count = 2});
    TestModel batched(runtime, queued,
                      {.name = "batched",
                       .flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING,
                       .instance_count = 2});
    const auto load = [&](const std::vector<nrd_model*>& models) {
      EnsembleSettings settings = Chain(models);
      settings.max_inflight_requests = limit;
      return LoadEnsemble(runtime, settings);
    };
    const auto load_simple = [&] {
      return load({inlined.get(), counter.get(), batched.get(), inlined.get()});
    };
    stress.responses = {12, 12, 12};
    stress.ensembles[0] = std::make_unique<TestModel>(load_simple());
    stress.ensembles[1] =
        std::make_unique<TestModel>(load({counter.get(), batched.get(), single.get()}));
    TestModel inner(load({counter.get(), batched.get()}));
    stress.ensembles[2] = std::make_unique<TestModel>(load({inner.get(), batched.get()}));
    std::vector<std::thread> clients;
    for (size_t i = 0; i < kClients; ++i) {
      clients.emplace_back([&stress, i, limit] { stress.Client(i + 10 * limit + 1); });
    }
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      std::unique_ptr<TestModel> old;
      {
        const std::lock_guard lock(stress.mutex);
        old = std::exchange(stress.ensembles[0], std::make_unique<TestModel>(load_simple()));
      }
      nrd_model_drain(old->get(), i % 2 == 0 ? In(1000) : In(0), nullptr);
    }
    for (std::thread& client : clients) {
      client.join();
    }
    CHECK(stress.wrong == 0);
    CHECK(stress.succeeded > kRequestsPerClient);
    for (const std::unique_ptr<TestModel>& ensemble : stress.ensembles) {
      CHECK(ensemble->stats().executing_count == 0);
    }
    stress.ensembles = {};  // before the models that they use
  }
}

}  // namespace nereid::test
