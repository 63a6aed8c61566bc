// Everything at once, with a completion callback that gives records back and submits others. The
// fixtures check that no record, buffer, model or runtime is left.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <random>
#include <shared_mutex>
#include <thread>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

constexpr size_t kModels = 4;
constexpr int kClients = 3;
constexpr int kRequestsPerClient = 1500;
constexpr int kRounds = 6;
constexpr uint32_t kMaxFollowUps = 3;

struct Stress;

// A record on its way. Holders of a reference keep it from being released: the core until the
// answer, and a canceller while it cancels.
struct Flight {
  Stress* stress = nullptr;
  nrd_request* record = nullptr;
  std::atomic<int> holders{0};
  size_t model = 0;
  int32_t value = 0;
  uint32_t follow_ups = 0;
  uint64_t seed = 0;
};

struct Stress {
  std::shared_mutex models_mutex;  // no model may be released while a record is acquired
  std::array<std::unique_ptr<TestModel>, kModels> models;
  std::array<std::atomic<uint64_t>, kModels> submitted{};
  std::array<std::atomic<uint64_t>, kModels> succeeded{};
  std::atomic<uint64_t> wrong{0};

  std::mutex mutex;
  std::condition_variable idle;
  uint64_t in_flight = 0;

  // In flight and not answered, for the cancellers; an entry is empty or holds a reference.
  std::array<std::atomic<Flight*>, 64> targets{};

  void Release(size_t model);
  void Start(size_t model, uint32_t follow_ups, uint64_t seed);
  void Fill(Flight& flight);
  void Answered(Flight* flight, int32_t status);
  void Drop(Flight* flight);
  void WaitUntilIdle();
};

void Stress::Fill(Flight& flight) {
  std::mt19937_64 random(flight.seed);
  nrd_request& record = *flight.record;
  const auto rows = static_cast<int64_t>(1 + random() % 3);
  flight.value = static_cast<int32_t>(random() % 40);
  nrd_tensor& input = record.inputs[0];
  input.datatype = NRD_TYPE_INT32;
  input.rank = 2;
  input.shape[0] = rows;
  input.shape[1] = random() % 50 == 0 ? 5 : 4;  // some do not fit
  input.byte_size = static_cast<uint64_t>(rows * input.shape[1]) * sizeof(int32_t);
  if (nrd_request_input_alloc(&record, 0) == NRD_OK) {
    std::fill_n(static_cast<int32_t*>(input.data), rows * input.shape[1], flight.value);
  }
  record.tag = reinterpret_cast<uint64_t>(&flight);
  record.flags = random() % 2 == 0 ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
  record.flags |= random() % 8 == 0 ? uint32_t{NRD_REQUEST_NO_CACHE} : 0U;
  record.priority = static_cast<uint32_t>(random() % 5);
  const uint64_t limits[] = {0, 0, 1, 50'000, 1'000'000, UINT64_MAX};
  record.timeout_ns = limits[random() % 6];
  const int64_t deadlines[] = {0, 0, 0, 1, In(1), INT64_MAX, INT64_MIN};
  record.deadline_ns = deadlines[random() % 7];
}

void Stress::Release(size_t model) {
  std::unique_ptr<TestModel> released;
  {
    const std::unique_lock lock(models_mutex);
    released = std::move(models[model]);
  }
}

void Stress::Start(size_t model, uint32_t follow_ups, uint64_t seed) {
  nrd_request* record = nullptr;
  {
    const std::shared_lock lock(models_mutex);
    if (models[model] == nullptr) {
      return;
    }
    if (nrd_request_acquire(models[model]->get(), &record, nullptr) != NRD_OK) {
      wrong.fetch_add(1);
      return;
    }
  }
  auto* const flight = new Flight{
      .stress = this, .record = record, .model = model, .follow_ups = follow_ups, .seed = seed};
  Fill(*flight);
  {
    const std::lock_guard lock(mutex);
    ++in_flight;
  }
  const bool offered = seed % 3 == 0;
  flight->holders = offered ? 2 : 1;
  if (offered) {
    // The one that was there before had its chance.
    if (Flight* const old = targets[seed % targets.size()].exchange(flight); old != nullptr) {
      Drop(old);
    }
  }
  submitted[model].fetch_add(1);
  const int32_t status = nrd_request_submit(record);
  if (status != NRD_PENDING) {
    Answered(flight, status);
  }
}

// On any thread, from inside the callback too.
void Stress::Answered(Flight* flight, int32_t status) {
  const nrd_tensor& output = flight->record->outputs[0];
  if (status == NRD_OK) {
    succeeded[flight->model].fetch_add(1);
    if (output.data == nullptr || *static_cast<int32_t*>(output.data) != flight->value) {
      wrong.fetch_add(1);
    }
  } else if (status == NRD_PENDING || output.data != nullptr) {
    wrong.fetch_add(1);
  }
  if (flight->follow_ups > 0 && flight->seed % 4 == 1) {
    Start(flight->seed / 8 % kModels, flight->follow_ups - 1,
          flight->seed * 6364136223846793005U + 1442695040888963407U);
  }
  Drop(flight);
  const std::lock_guard lock(mutex);
  if (--in_flight == 0) {
    idle.notify_all();
  }
}

void Stress::Drop(Flight* flight) {
  if (flight->holders.fetch_sub(1) == 1) {
    if (flight->seed % 2 == 0) {
      nrd_request_reset(flight->record);
    }
    nrd_request_release(flight->record);
    delete flight;
  }
}

void Stress::WaitUntilIdle() {
  std::unique_lock lock(mutex);
  REQUIRE(idle.wait_for(lock, std::chrono::seconds(60), [this] { return in_flight == 0; }));
}

void OnComplete(void* /*context*/, const uint64_t* tags, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    auto* const flight = reinterpret_cast<Flight*>(tags[i]);
    flight->stress->Answered(flight, flight->record->status);
  }
}

ModelSettings Settings(size_t model, int round) {
  const bool ordered = model == 1;
  ModelSettings settings{
      .flags = (model % 2 == 0 ? uint32_t{NRD_MODEL_DYNAMIC_BATCHING} : 0U) |
               (model == 3 || round % 2 == 1 ? uint32_t{NRD_MODEL_RESPONSE_CACHE} : 0U) |
               (ordered ? uint32_t{NRD_MODEL_PRESERVE_ORDERING | NRD_MODEL_DYNAMIC_BATCHING} : 0U),
      .instance_count = static_cast<uint32_t>(1 + model % 3),
      .max_queue_delay_ns = model == 2 ? 100'000U : 0U,
      .policy = {.default_timeout_ns = 3'000'000,
                 .timeout_action = model == 0 ? NRD_TIMEOUT_DELAY : NRD_TIMEOUT_REJECT,
                 .allow_timeout_override = static_cast<uint32_t>(round % 2),
                 .max_queue_size = 64}};
  if (model == 2) {
    settings.preferred_sizes = {2, 4};
  }
  if (!ordered) {
    settings.priority_levels = 3;
    settings.default_priority_level = 2;
  }
  return settings;
}

void CancelNow(Stress& stress, std::mt19937_64& random) {
  Flight* const flight = stress.targets[random() % stress.targets.size()].exchange(nullptr);
  if (flight != nullptr) {
    (void)nrd_request_cancel(flight->record);
    stress.Drop(flight);
  }
}

// Submits and cancels; the first client drains or releases a model half-way.
void RunClient(Stress& stress, int client, int round) {
  std::mt19937_64 random(static_cast<uint64_t>(round * 100 + client));
  for (int i = 0; i < kRequestsPerClient; ++i) {
    stress.Start(random() % kModels, kMaxFollowUps, random());
    if (random() % 2 == 0) {
      CancelNow(stress, random);
    }
    if (client == 0 && i == kRequestsPerClient / 2) {
      if (round % 2 == 1) {
        (void)nrd_model_drain(stress.models[0]->get(), In(1), nullptr);
      } else {
        stress.Release(3);
      }
    }
  }
}

// Returns the counts, so that the test can check that everything happened.
nrd_model_stats CheckCounts(Stress& stress, TestModel& model, size_t index) {
  // The last answer is delivered before the scheduler has counted it.
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), &error) == NRD_OK);
  const nrd_model_stats stats = model.stats();
  CHECK(stats.pending_count == 0);
  CHECK(stats.executing_count == 0);
  CHECK(stats.success.count == stress.succeeded[index]);
  CHECK(stats.success.count + stats.fail.count == stress.submitted[index]);
  CHECK(stats.fail.count ==
        stats.fail_rejected + stats.fail_cancelled + stats.fail_backend + stats.fail_other);
  CHECK(stats.success.count == stats.compute_infer.count + stats.cache_hit.count);
  CHECK(stats.inference_count >= stats.compute_infer.count);
  return stats;
}

TEST_CASE("clients, cancellers, callbacks that submit, drains and releases under load") {
  nrd_runtime_options options{};
  options.complete = OnComplete;
  TestRuntime runtime(1 << 20, options);
  std::atomic<uint64_t> turn{0};
  Stress* now = nullptr;
  std::array<uint64_t, 7> happened{};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const uint64_t number = turn.fetch_add(1);
    if (number % 23 == 0) {
      return Report(Status::Internal("every twenty-third"), error);
    }
    if (number % 7 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    if (number % 11 == 0) {  // asks another model, without waiting
      now->Start(number / 11 % kModels, 0, number);
    }
    return CopyInputs(batch, error);
  }};
  for (int round = 0; round < kRounds; ++round) {
    Stress stress;
    now = &stress;
    for (size_t i = 0; i < kModels; ++i) {
      stress.models[i] = std::make_unique<TestModel>(runtime, backend, Settings(i, round));
    }
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client) {
      clients.emplace_back([&, client] { RunClient(stress, client, round); });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    stress.WaitUntilIdle();
    for (std::atomic<Flight*>& target : stress.targets) {
      if (Flight* const flight = target.exchange(nullptr); flight != nullptr) {
        stress.Drop(flight);
      }
    }
    for (size_t i = 0; i < kModels; ++i) {
      if (stress.models[i] != nullptr) {
        const nrd_model_stats stats = CheckCounts(stress, *stress.models[i], i);
        happened[0] += stats.success.count;
        happened[1] += stats.fail_rejected;
        happened[2] += stats.fail_cancelled;
        happened[3] += stats.fail_backend;
        happened[4] += stats.fail_other;
        happened[5] += stats.cache_hit.count;
        happened[6] += stats.inline_count;
      }
    }
    CHECK(stress.wrong == 0);
  }
  CHECK(std::find(happened.begin(), happened.end(), 0U) == happened.end());
}

}  // namespace
}  // namespace nereid::test
