// Ensembles under everything at once: several clients, cancellations, deadlines, full queues,
// inline and queued steps, and ensembles that are released meanwhile. The fixtures check that no
// record, buffer, model or runtime is left.
#include <array>
#include <random>
#include <shared_mutex>
#include <thread>

#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

constexpr size_t kClients = 3;
constexpr size_t kWindow = 8;  // requests of one client in flight
constexpr int kRequestsPerClient = 1200;
constexpr size_t kEnsembles = 4;

struct Flight {
  std::mutex mutex;  // held to cancel, and to acquire and release
  nrd_request* record = nullptr;
  std::atomic<int> answers{0};  // callbacks for the request that is in flight
  bool pending = false;
  size_t ensemble = 0;
  int32_t value = 0;
};

struct Stress {
  bool with_callback = false;
  std::array<std::array<Flight, kWindow>, kClients> flights;
  std::shared_mutex ensembles_mutex;  // none may be released while it is asked for a record
  std::array<std::unique_ptr<TestModel>, kEnsembles> ensembles;
  std::array<int32_t, kEnsembles> adds{};  // what each adds to its input
  std::array<std::atomic<uint64_t>, kEnsembles> submitted{};
  std::atomic<uint64_t> succeeded{0};
  std::atomic<uint64_t> wrong{0};
  std::atomic<bool> done{false};

  bool Acquire(Flight& flight, size_t ensemble);
  void Submit(Flight& flight, std::mt19937_64& random);
  void Finish(Flight& flight);
  void Client(size_t client);
  void Cancel(uint64_t seed);
};

void OnComplete(void* /*context*/, const uint64_t* tags, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    auto* const flight = reinterpret_cast<Flight*>(tags[i]);
    flight->answers.fetch_add(1);
    flight->answers.notify_all();
  }
}

bool Stress::Acquire(Flight& flight, size_t ensemble) {
  const std::shared_lock lock(ensembles_mutex);
  if (ensembles[ensemble] == nullptr) {
    return false;
  }
  const std::lock_guard flight_lock(flight.mutex);
  flight.ensemble = ensemble;
  if (nrd_request_acquire(ensembles[ensemble]->get(), &flight.record, nullptr) != NRD_OK) {
    wrong.fetch_add(1);
    return false;
  }
  return true;
}

void Stress::Submit(Flight& flight, std::mt19937_64& random) {
  nrd_request& record = *flight.record;
  const auto rows = static_cast<int64_t>(1 + random() % 3);
  flight.value = static_cast<int32_t>(random() % 5);  // few, for the cache
  nrd_tensor& input = record.inputs[0];
  input.datatype = NRD_TYPE_INT32;
  input.rank = 2;
  input.shape[0] = rows;
  input.shape[1] = 4;
  input.byte_size = static_cast<uint64_t>(rows * 4) * sizeof(int32_t);
  if (nrd_request_input_alloc(&record, 0) != NRD_OK) {
    wrong.fetch_add(1);
  }
  std::fill_n(static_cast<int32_t*>(input.data), rows * 4, flight.value);
  record.tag = reinterpret_cast<uint64_t>(&flight);
  record.flags = random() % 3 == 0 ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
  record.flags |= random() % 3 == 0 ? uint32_t{NRD_REQUEST_NO_CACHE} : 0U;
  const uint64_t timeouts[] = {0, 0, 0, 1, 200'000, 1'000'000};
  record.timeout_ns = timeouts[random() % 6];
  const int64_t deadlines[] = {0, 0, 0, 0, In(1), nrd_clock_now_ns() + 100'000};
  record.deadline_ns = deadlines[random() % 6];
  flight.answers = 0;
  submitted[flight.ensemble].fetch_add(1);
  flight.pending = nrd_request_submit(&record) == NRD_PENDING;
}

// Waits for the answer, checks it and gives the record back.
void Stress::Finish(Flight& flight) {
  nrd_request& record = *flight.record;
  if (flight.pending && with_callback) {
    flight.answers.wait(0);
  } else if (flight.pending && nrd_request_wait(&record, In(20'000)) != record.status) {
    wrong.fetch_add(1);
  }
  const nrd_tensor& output = record.outputs[0];
  const bool ok = record.status == NRD_OK;
  const int32_t expected = flight.value + adds[flight.ensemble];
  if (ok != (output.data != nullptr) || record.status == NRD_PENDING ||
      (ok && *static_cast<int32_t*>(output.data) != expected)) {
    wrong.fetch_add(1);
  }
  succeeded.fetch_add(ok ? 1 : 0);
  const std::lock_guard lock(flight.mutex);
  if (flight.answers != (flight.pending && with_callback ? 1 : 0)) {
    wrong.fetch_add(1);
  }
  nrd_request_release(std::exchange(flight.record, nullptr));
}

void Stress::Client(size_t client) {
  std::mt19937_64 random(client + 1);
  for (int i = 0; i < kRequestsPerClient; ++i) {
    Flight& flight = flights[client][random() % kWindow];
    if (flight.record != nullptr) {
      Finish(flight);
    }
    if (Acquire(flight, random() % kEnsembles)) {
      Submit(flight, random);
    }
  }
  for (Flight& flight : flights[client]) {
    if (flight.record != nullptr) {
      Finish(flight);
    }
  }
}

void Stress::Cancel(uint64_t seed) {
  std::mt19937_64 random(seed);
  while (!done) {
    Flight& flight = flights[random() % kClients][random() % kWindow];
    {
      const std::lock_guard lock(flight.mutex);
      if (flight.record != nullptr) {
        (void)nrd_request_cancel(flight.record);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60));
  }
}

// Adds one to its input; sometimes takes a while, rarely fails.
int32_t Step(nrd_batch* batch, nrd_error* error) {
  thread_local std::minstd_rand random;
  if (random() % 100 == 0) {
    return FailWith(error, NRD_INTERNAL, "now and then");
  }
  if (random() % 20 == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  }
  return SumInputs(batch, error, 1);
}

EnsembleSettings Diamond(nrd_model* source, nrd_model* left, nrd_model* right, nrd_model* join) {
  EnsembleSettings settings;
  settings.steps = {{source, {{0, 0}}, {{0, 1}}},
                    {left, {{0, 1}}, {{0, 2}}},
                    {right, {{0, 1}}, {{0, 3}}},
                    {join, {{0, 2}, {1, 3}}, {{0, 4}}},
                    {join, {{0, 4}, {1, 1}}, {{0, 5}}}};
  settings.outputs = {Int32Spec("OUTPUT0"), Int32Spec("OUTPUT1")};
  settings.output_values = {2, 5};
  return settings;
}

void Run(bool with_callback) {
  nrd_runtime_options options{};
  options.complete = with_callback ? OnComplete : nullptr;
  TestRuntime runtime(1 << 18, options);
  FunctionBackend backend{.run = Step};
  TestModel quick(runtime, backend, {.name = "quick", .flags = 0, .instance_count = 2});
  TestModel queued(runtime, backend,
                   {.name = "queued", .flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING});
  TestModel ordered(
      runtime, backend,
      {.name = "ordered", .flags = NRD_MODEL_PRESERVE_ORDERING, .policy = {.max_queue_size = 3}});
  TestModel join(runtime, backend,
                 {.name = "join", .flags = NRD_MODEL_RESPONSE_CACHE, .with_optional_input = true});
  Stress stress;
  stress.with_callback = with_callback;
  const auto load = [&](size_t index, EnsembleSettings settings, int32_t adds, uint32_t flags) {
    settings.name = "ensemble" + std::to_string(index);
    settings.flags = flags;
    stress.ensembles[index] = std::make_unique<TestModel>(LoadEnsemble(runtime, settings));
    stress.adds[index] = adds;
  };
  load(0, Chain({quick.get(), quick.get(), join.get()}), 3, 0);
  load(1, Chain({quick.get(), queued.get(), ordered.get()}), 3, NRD_MODEL_RESPONSE_CACHE);
  load(2, Diamond(quick.get(), queued.get(), ordered.get(), join.get()), 2, 0);
  EnsembleSettings outer;
  outer.steps = {{stress.ensembles[0]->get(), {{0, 0}}, {{0, 1}}},
                 {stress.ensembles[2]->get(), {{0, 1}}, {{0, 2}, {1, 3}}},
                 {stress.ensembles[1]->get(), {{0, 1}}, {{0, 4}}}};
  outer.outputs = {Int32Spec("A"), Int32Spec("B"), Int32Spec("C")};
  outer.output_values = {4, 3, 1};
  load(3, outer, 6, 0);

  std::thread canceller([&] { stress.Cancel(99); });
  std::vector<std::thread> clients;
  for (size_t i = 0; i < kClients; ++i) {
    clients.emplace_back([&stress, i] { stress.Client(i); });
  }
  // Half way through, the outer one goes, whatever is on its way.
  while (stress.submitted[3] < kClients * kRequestsPerClient / kEnsembles / 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::unique_ptr<TestModel> released;
  {
    const std::unique_lock lock(stress.ensembles_mutex);
    released = std::move(stress.ensembles[3]);
  }
  released.reset();
  for (std::thread& client : clients) {
    client.join();
  }
  stress.done = true;
  canceller.join();
  CHECK(stress.wrong == 0);
  CHECK(stress.succeeded > 0);
  for (TestModel* model : {&quick, &queued, &ordered, &join}) {
    CHECK(model->stats().pending_count + model->stats().executing_count == 0);
  }
  for (size_t i = 0; i < 3; ++i) {
    const nrd_model_stats stats = stress.ensembles[i]->stats();
    CHECK(stats.executing_count == 0);
    CHECK(stats.success.count + stats.fail.count >= stress.submitted[i]);
    CHECK(stats.fail_rejected + stats.fail_cancelled + stats.fail_backend + stats.fail_other ==
          stats.fail.count);
    CHECK(stats.success.count == stats.execution_count + stats.cache_hit.count);
  }
  stress.ensembles = {};
}

TEST_CASE("ensembles keep every request under load, cancellation and release") {
  for (const bool with_callback : {false, true}) {
    Run(with_callback);
  }
}

TEST_CASE("requests are answered whenever their ensemble is drained and released") {
  constexpr size_t kPerClient = 12;
  TestRuntime runtime;
  FunctionBackend backend = Adder(1);
  TestModel quick(runtime, backend, {.name = "quick", .flags = 0});
  TestModel queued(runtime, backend, {.name = "queued"});
  TestModel join(runtime, backend, {.name = "join", .flags = 0, .with_optional_input = true});
  std::mt19937_64 random(7);
  uint64_t refused = 0;
  for (int round = 0; round < 60; ++round) {
    TestModel ensemble(LoadEnsemble(runtime, [&] {
      EnsembleSettings settings = Diamond(quick.get(), queued.get(), quick.get(), join.get());
      settings.outputs.resize(1);
      settings.output_values = {5};
      return settings;
    }()));
    std::vector<TestRequest> requests;
    for (size_t i = 0; i < kClients * kPerClient; ++i) {
      requests.emplace_back(ensemble, 1, 1);
      requests.back()->flags = random() % 2 == 0 ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
    }
    std::atomic<uint64_t> wrong{0};
    std::atomic<uint64_t> unavailable{0};
    std::vector<std::thread> clients;
    for (size_t client = 0; client < kClients; ++client) {
      clients.emplace_back([&, client] {
        for (size_t i = 0; i < kPerClient; ++i) {
          TestRequest& request = requests[client * kPerClient + i];
          const int32_t code = request.SubmitAndWait();
          unavailable += code == NRD_UNAVAILABLE ? 1 : 0;
          wrong += code == NRD_UNAVAILABLE || (code == NRD_OK && request.output()[0] == 10) ? 0 : 1;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
    if (round % 3 != 0) {
      const int64_t deadline_ns = nrd_clock_now_ns() + static_cast<int64_t>(random() % 200'000);
      (void)nrd_model_drain(ensemble.get(), round % 3 == 1 ? 0 : deadline_ns, nullptr);
    }
    ensemble.Release();
    for (std::thread& client : clients) {
      client.join();
    }
    CHECK(wrong == 0);
    refused += unavailable;
  }
  CHECK(refused > 0);
}

}  // namespace
}  // namespace nereid::test
