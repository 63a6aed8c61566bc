// Tests batches that outlive execute.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "test/core/core_fixture.h"
#include "test/core/decoupled_fixture.h"
#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

void Finish(nrd_batch* batch, int32_t code = NRD_OK, std::string_view message = {}) {
  nrd_batch_finish(batch, code, message.data(), message.size());
}

// Keeps each batch until a test takes it, in the order in which they came.
struct Keeper {
  FunctionBackend backend{.run = [this](nrd_batch* batch, nrd_error*) { return Keep(batch); },
                          .flags = NRD_BACKEND_DETACHES};
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<nrd_batch*> kept;

  int32_t Keep(nrd_batch* batch) {
    const std::lock_guard lock(mutex);
    kept.push_back(batch);
    changed.notify_all();
    return NRD_PENDING;
  }

  nrd_batch* Take() {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                             [this] { return !kept.empty(); }));
    nrd_batch* const batch = kept.front();
    kept.pop_front();
    return batch;
  }

  bool HasSome() {
    const std::lock_guard lock(mutex);
    return !kept.empty();
  }
};

void Answer(nrd_batch* batch) {
  nrd_error error{};
  CHECK(CopyInputs(batch, &error) == NRD_OK);
  Finish(batch);
}

TEST_CASE("an instance goes on while its backend keeps batches, which end in any order") {
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend, {.flags = 0});  // would run inline if that were allowed
  TestRequest first(model, 1, 1);
  TestRequest second(model, 1, 2);
  TestRequest third(model, 1, 3);
  REQUIRE(first.Submit() == NRD_PENDING);
  nrd_batch* const one = keeper.Take();
  REQUIRE(second.Submit() == NRD_PENDING);
  nrd_batch* const two = keeper.Take();
  REQUIRE(third.Submit() == NRD_PENDING);
  nrd_batch* const three = keeper.Take();
  CHECK(model.stats().executing_count == 3);
  Answer(two);
  CHECK(second.Wait() == NRD_OK);
  CHECK(second.output() == std::vector<int32_t>(4, 2));
  CHECK(nrd_request_wait(first.get(), In(1)) == NRD_DEADLINE_EXCEEDED);
  Answer(three);
  Answer(one);
  CHECK(first.Wait() == NRD_OK);
  CHECK(first.output() == std::vector<int32_t>(4, 1));
  CHECK(third.Wait() == NRD_OK);
  CHECK(model.stats().execution_count == 3);
  CHECK(model.stats().success.count == 3);
}

TEST_CASE("a batch that is finished before execute returns ends with it") {
  FunctionBackend backend{.flags = NRD_BACKEND_DETACHES};
  bool other_thread = false;
  backend.run = [&](nrd_batch* batch, nrd_error*) {
    if (other_thread) {
      std::thread(Answer, batch).join();
    } else {
      Answer(batch);
    }
    return NRD_PENDING;
  };
  TestRuntime runtime;
  TestModel model(runtime, backend);
  for (const bool other : {false, true}) {
    other_thread = other;
    TestRequest request(model, 1, 5);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request.output() == std::vector<int32_t>(4, 5));
  }
}

TEST_CASE("a backend that may detach need not") {
  FunctionBackend backend{.run = CopyInputs, .flags = NRD_BACKEND_DETACHES};
  TestRuntime runtime;
  TestModel model(runtime, backend, {.flags = 0});
  TestRequest request(model, 1, 5);
  CHECK(request.Submit() == NRD_PENDING);
  CHECK(request.Wait() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(4, 5));
  CHECK(request->ran_inline == 0);
}

TEST_CASE("what a batch is finished with is what execute would have returned") {
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend);
  TestRequest request(model);
  SUBCASE("an error") {
    REQUIRE(request.Submit() == NRD_PENDING);
    Finish(keeper.Take(), NRD_UNAVAILABLE, "the stub has died");
    CHECK(request.Wait() == NRD_UNAVAILABLE);
    CHECK(request.message() == "the stub has died");
  }
  SUBCASE("an unknown code") {
    REQUIRE(request.Submit() == NRD_PENDING);
    Finish(keeper.Take(), NRD_PENDING);
    CHECK(request.Wait() == NRD_INTERNAL);
    CHECK(request.message() == "the backend failed with status -1");
  }
  SUBCASE("a failure of one request") {
    REQUIRE(request.Submit() == NRD_PENDING);
    nrd_batch* const batch = keeper.Take();
    nrd_batch_request_fail(batch, 0, NRD_NOT_FOUND, "nothing", 7);
    Finish(batch);
    CHECK(request.Wait() == NRD_NOT_FOUND);
  }
  CHECK(model.stats().fail_backend == 1);
}

TEST_CASE("only the first word on how a batch ended counts") {
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend);
  TestRequest request(model);
  SUBCASE("finished twice") {
    REQUIRE(request.Submit() == NRD_PENDING);
    nrd_batch* const batch = keeper.Take();
    Finish(batch, NRD_UNAVAILABLE, "first");
    CHECK(request.Wait() == NRD_UNAVAILABLE);
    Finish(batch, NRD_INTERNAL, "second");
    nrd_error error{};
    void* data = nullptr;
    const int64_t shape[] = {1, 4};
    CHECK(nrd_batch_request_output(batch, 0, 0, NRD_TYPE_INT32, 2, shape, 16, &data, &error) ==
          NRD_INTERNAL);  // the batch is gone already
    CHECK(request.message() == "first");
  }
  SUBCASE("finished, and then returned") {
    keeper.backend.run = [](nrd_batch* batch, nrd_error*) {
      Finish(batch, NRD_UNAVAILABLE, "first");
      return NRD_OK;
    };
    CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
    CHECK(request.message() == "first");
  }
  SUBCASE("returned, and then finished") {
    nrd_batch* executed = nullptr;
    keeper.backend.run = [&executed](nrd_batch* batch, nrd_error* error) {
      executed = batch;
      return CopyInputs(batch, error);
    };
    CHECK(request.SubmitAndWait() == NRD_OK);
    Finish(executed, NRD_INTERNAL, "late");
    CHECK(request->status == NRD_OK);
  }
}

TEST_CASE("a backend without the flag cannot keep a batch") {
  Keeper keeper;
  keeper.backend.flags = 0;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend);
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(request.message() == "the backend failed with status -1");
  Finish(keeper.Take());  // does nothing
}

TEST_CASE("a release waits for the batches that a backend keeps, and then closes the instance") {
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend);
  TestRequest request(model);
  REQUIRE(request.Submit() == NRD_PENDING);
  nrd_batch* const batch = keeper.Take();
  nrd_error error{};
  CHECK(nrd_model_drain(model.get(), In(1), &error) == NRD_DEADLINE_EXCEEDED);
  std::atomic<bool> released{false};
  std::thread releasing([&] {
    model.Release();
    released = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_FALSE(released);
  CHECK(keeper.backend.open_instances == 1);
  Answer(batch);
  releasing.join();
  CHECK(keeper.backend.open_instances == 0);
  CHECK(request.Wait() == NRD_OK);
}

TEST_CASE("answers keep the order of requests, in whatever order batches are finished") {
  struct Order {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<uint64_t> tags;
  } order;
  nrd_runtime_options options{};
  options.complete_context = &order;
  options.complete = [](void* context, const uint64_t* tags, uint32_t count) {
    auto* const self = static_cast<Order*>(context);
    const std::lock_guard lock(self->mutex);
    self->tags.insert(self->tags.end(), tags, tags + count);
    self->changed.notify_all();
  };
  Keeper keeper;
  TestRuntime runtime(0, options);
  TestModel model(runtime, keeper.backend, {.flags = NRD_MODEL_PRESERVE_ORDERING});
  std::deque<TestRequest> requests;
  std::vector<nrd_batch*> batches;
  for (uint64_t tag = 0; tag < 3; ++tag) {
    requests.emplace_back(model);
    requests.back()->tag = tag;
    REQUIRE(requests.back().Submit() == NRD_PENDING);
    batches.push_back(keeper.Take());
  }
  Answer(batches[2]);
  Answer(batches[1]);
  {
    const std::lock_guard lock(order.mutex);
    CHECK(order.tags.empty());
  }
  Answer(batches[0]);
  std::unique_lock lock(order.mutex);
  REQUIRE(order.changed.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                                 [&] { return order.tags.size() == 3; }));
  CHECK(order.tags == std::vector<uint64_t>{0, 1, 2});
}

TEST_CASE("a warm-up waits for a batch that the backend keeps") {
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend, {.instance_count = 2});
  TestRequest request(model);
  std::thread finishing([&] {
    for (int i = 0; i < 2; ++i) {
      Answer(keeper.Take());
    }
  });
  CHECK(nrd_request_warm_up(request.get()) == NRD_OK);
  finishing.join();
  CHECK(request->outputs[0].data == nullptr);
  CHECK(model.stats().execution_count == 0);
}

TEST_CASE("an instance that needs resources holds them until its batch is finished") {
  Keeper keeper;
  TestRuntime runtime;
  const nrd_resource resource{.name = AsNrdString("R"), .count = 1, .device = -1};
  const nrd_instance_options needs{
      .resources = &resource, .resource_count = 1, .priority = 1, .numa_node = -1};
  TestModel model(runtime, keeper.backend, {.instance_count = 2, .instances = {2, needs}});
  TestRequest first(model);
  TestRequest second(model);
  REQUIRE(first.Submit() == NRD_PENDING);
  nrd_batch* const batch = keeper.Take();
  REQUIRE(second.Submit() == NRD_PENDING);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_FALSE(keeper.HasSome());
  Answer(batch);
  CHECK(first.Wait() == NRD_OK);
  Answer(keeper.Take());
  CHECK(second.Wait() == NRD_OK);
}

TEST_CASE("a backend says when it computed") {
  constexpr int64_t kMs = 1'000'000;
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend);
  TestRequest request(model);
  const auto run = [&](auto&& body) {
    REQUIRE(request.Submit() == NRD_PENDING);
    nrd_batch* const batch = keeper.Take();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    body(batch, nrd_clock_now_ns());
    Answer(batch);
    CHECK(request.Wait() == NRD_OK);
  };
  run([](nrd_batch*, int64_t) {});
  CHECK(request->compute_infer_ns >= 3 * kMs);
  run([](nrd_batch* batch, int64_t now_ns) { nrd_batch_computed(batch, now_ns - kMs, now_ns); });
  CHECK(request->compute_input_ns >= kMs);
  CHECK(request->compute_infer_ns == kMs);
  run([](nrd_batch* batch, int64_t now_ns) {  // before there was a batch, and after it
    nrd_batch_computed(batch, 1, now_ns + 1'000'000'000'000);
  });
  CHECK(request->compute_input_ns == 0);
  CHECK(request->compute_infer_ns >= 3 * kMs);
  CHECK(request->compute_infer_ns < 1'000'000 * static_cast<uint64_t>(kMs));
}

// Makes one request's output, a copy of its input.
void Copy(nrd_batch* batch, uint32_t index) {
  const nrd_tensor& input = batch->requests[index]->inputs[0];
  void* data = nullptr;
  nrd_error error{};
  REQUIRE(nrd_batch_request_output(batch, index, 0, input.datatype, input.rank, input.shape,
                                   input.byte_size, &data, &error) == NRD_OK);
  std::memcpy(data, input.data, input.byte_size);
}

TEST_CASE("a request can be answered before the others of its batch") {
  Keeper keeper;
  keeper.backend.flags |= NRD_BACKEND_GATHERS;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = kUntilFullNs,
                   .preferred_sizes = {3}});
  TestRequest first(model, 1, 1);
  TestRequest second(model, 1, 2);
  TestRequest third(model, 1, 3);
  REQUIRE(first.Submit() == NRD_PENDING);
  REQUIRE(second.Submit() == NRD_PENDING);
  REQUIRE(third.Submit() == NRD_PENDING);
  nrd_batch* const batch = keeper.Take();
  REQUIRE(batch->request_count == 3);
  Copy(batch, 1);
  REQUIRE(nrd_batch_request_finish(batch, 1) == NRD_OK);
  CHECK(second.Wait() == NRD_OK);
  CHECK(second.output() == std::vector<int32_t>(4, 2));
  CHECK(second->executed_batch_size == 3);
  CHECK(nrd_batch_request_finish(batch, 1) == NRD_FAILED_PRECONDITION);
  CHECK(nrd_batch_request_finish(batch, 3) == NRD_FAILED_PRECONDITION);
  CHECK(model.stats().executing_count == 2);
  SUBCASE("the others are answered when it is finished") {
    Copy(batch, 0);
    nrd_batch_request_fail(batch, 2, NRD_INTERNAL, "no", 2);
    Finish(batch);
    CHECK(third.Wait() == NRD_INTERNAL);
  }
  SUBCASE("none may be left then, and one that made nothing failed") {
    Copy(batch, 0);
    CHECK(nrd_batch_request_finish(batch, 2) == NRD_OK);
    CHECK(nrd_batch_request_finish(batch, 0) == NRD_OK);
    CHECK(third.Wait() == NRD_INTERNAL);
    Finish(batch);
  }
  CHECK(first.Wait() == NRD_OK);
  CHECK(first.output() == std::vector<int32_t>(4, 1));
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), nullptr) == NRD_OK);
  // The instance's thread counts the execution when the backend has returned to it.
  CHECK(Eventually([&] { return model.stats().execution_count > 0; }));
  const nrd_model_stats stats = model.stats();
  CHECK(stats.executing_count == 0);
  CHECK(stats.execution_count == 1);
  CHECK(stats.inference_count == 2);
  CHECK(stats.success.count == 2);
  CHECK(stats.fail.count == 1);
}

TEST_CASE("an output of the batch reaches those that are left, after one was answered before") {
  Keeper keeper;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = kUntilFullNs,
                   .preferred_sizes = {4}});
  TestRequest first(model, 1, 1);
  TestRequest second(model, 2, 2);
  TestRequest third(model, 1, 3);
  for (TestRequest* request : {&first, &second, &third}) {
    REQUIRE(request->Submit() == NRD_PENDING);
  }
  nrd_batch* const batch = keeper.Take();
  REQUIRE(batch->request_count == 3);
  uint32_t early = 0;
  SUBCASE("the first") { early = 0; }
  SUBCASE("the second") { early = 1; }
  Copy(batch, early);
  REQUIRE(nrd_batch_request_finish(batch, early) == NRD_OK);
  Answer(batch);
  CHECK(first.Wait() == NRD_OK);
  CHECK(first.output() == std::vector<int32_t>(4, 1));
  CHECK(second.Wait() == NRD_OK);
  CHECK(second.output() == std::vector<int32_t>(8, 2));
  CHECK(third.Wait() == NRD_OK);
  CHECK(third.output() == std::vector<int32_t>(4, 3));
}

TEST_CASE("a warm-up is not answered before its batch") {
  FunctionBackend backend{.flags = NRD_BACKEND_DETACHES | NRD_BACKEND_GATHERS};
  backend.run = [](nrd_batch* batch, nrd_error*) {
    Copy(batch, 0);
    CHECK(nrd_batch_request_finish(batch, 0) == NRD_FAILED_PRECONDITION);
    Finish(batch);
    return NRD_PENDING;
  };
  TestRuntime runtime;
  TestModel model(runtime, backend);
  for (int i = 0; i < 2; ++i) {
    TestRequest request(model);
    CHECK(nrd_request_warm_up(request.get()) == NRD_OK);
  }
  CHECK(model.stats().executing_count == 0);
  CHECK(nrd_model_drain(model.get(), In(kPatienceMs), nullptr) == NRD_OK);
}

TEST_CASE("an objective learns from a batch whose requests were answered before it ended") {
  nrd_objective objective{};
  objective.latency_ns = 1'000'000'000;
  Keeper keeper;
  keeper.backend.flags |= NRD_BACKEND_GATHERS;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING, .objective = &objective});
  TestRequest request(model);
  REQUIRE(request.Submit() == NRD_PENDING);
  nrd_batch* const batch = keeper.Take();
  Copy(batch, 0);
  CHECK(nrd_batch_request_finish(batch, 0) == NRD_OK);
  CHECK(request.Wait() == NRD_OK);
  Finish(batch);
  CHECK(Eventually([&] {  // the instance's thread measures
    uint32_t points = 0;
    nrd_model_cost_curve_read(model.get(), nullptr, 0, &points);
    return points == 1;
  }));
}

TEST_CASE("requests whose answers have an order are answered with their batch") {
  Keeper keeper;
  keeper.backend.flags |= NRD_BACKEND_GATHERS;
  TestRuntime runtime;
  TestModel model(runtime, keeper.backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_PRESERVE_ORDERING,
                   .max_queue_delay_ns = kUntilFullNs,
                   .preferred_sizes = {2}});
  TestRequest first(model, 1, 1);
  TestRequest second(model, 1, 2);
  REQUIRE(first.Submit() == NRD_PENDING);
  REQUIRE(second.Submit() == NRD_PENDING);
  nrd_batch* const batch = keeper.Take();
  Copy(batch, 0);
  Copy(batch, 1);
  CHECK(nrd_batch_request_finish(batch, 0) == NRD_FAILED_PRECONDITION);
  Finish(batch);
  CHECK(first.Wait() == NRD_OK);
  CHECK(second.Wait() == NRD_OK);
}

TEST_CASE("responses of a batch that a decoupled model keeps come after execute returned") {
  Collector collector;
  Keeper keeper;
  TestRuntime runtime(0, collector.Options());
  TestModel model(runtime, keeper.backend, {.flags = kDecoupled});
  TestRequest request(model);
  request->tag = 3;
  REQUIRE(request.Submit() == NRD_PENDING);
  nrd_batch* const batch = keeper.Take();
  nrd_error error{};
  CHECK(Send(batch, 0, 1, &error) == NRD_OK);
  CHECK(Send(batch, 0, 2, &error) == NRD_OK);
  (void)nrd_request_cancel(request.get());
  CHECK(Send(batch, 0, 3, &error) == NRD_CANCELLED);
  Finish(batch);
  CHECK(request.Wait() == NRD_CANCELLED);
  CHECK(collector.Of(3).size() == 2);
}

// ---- Sequences ----

struct SequenceKeeper : Keeper {
  SequenceKeeper(TestRuntime& runtime, const SequenceSettings& settings) {
    nrd_error error{};
    nrd_model* loaded = nullptr;
    REQUIRE(LoadSequenceModel(runtime.get(), backend.Table(), settings, &loaded, &error) == NRD_OK);
    model = std::make_unique<TestModel>(loaded);
  }

  TestRequest Request(uint64_t id, int32_t value, uint32_t flags = 0) {
    TestRequest request(*model, 1, value, 1);
    request->sequence_id = id;
    request->flags |= flags;
    return request;
  }

  std::unique_ptr<TestModel> model;
};

// Adds what a request brings to the state of its sequence, which is its answer, too.
void AddToState(nrd_batch* batch) {
  nrd_error error{};
  const nrd_tensor& input = batch->inputs[0];
  void* out = nullptr;
  void* kept = nullptr;
  CHECK(nrd_batch_output(batch, 0, NRD_TYPE_INT32, input.rank, input.shape, input.byte_size, &out,
                         &error) == NRD_OK);
  CHECK(nrd_batch_output(batch, 1, NRD_TYPE_INT32, input.rank, input.shape, input.byte_size, &kept,
                         &error) == NRD_OK);
  for (int64_t row = 0; row < batch->batch_size; ++row) {
    const int32_t sum = static_cast<const int32_t*>(input.data)[row] +
                        static_cast<const int32_t*>(batch->inputs[1].data)[row];
    static_cast<int32_t*>(out)[row] = sum;
    static_cast<int32_t*>(kept)[row] = sum;
  }
}

TEST_CASE("a batch that is kept keeps its sequences, and no others, from running") {
  TestRuntime runtime;
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    SequenceKeeper keeper(runtime, {.strategy = strategy, .with_state = true});
    TestRequest first = keeper.Request(1, 10, kStart);
    REQUIRE(first.Submit() == NRD_PENDING);
    nrd_batch* const one = keeper.Take();
    TestRequest next = keeper.Request(1, 5, kEnd);
    REQUIRE(next.Submit() == NRD_PENDING);
    TestRequest other = keeper.Request(2, 100, kStart | kEnd);
    REQUIRE(other.Submit() == NRD_PENDING);
    nrd_batch* const two = keeper.Take();
    REQUIRE(two->request_count == 1);
    CHECK(two->requests[0] == other.get());
    AddToState(two);
    Finish(two);
    CHECK(other.Wait() == NRD_OK);
    CHECK(other.output() == std::vector<int32_t>{100});
    CHECK_FALSE(keeper.HasSome());
    AddToState(one);
    Finish(one);
    CHECK(first.Wait() == NRD_OK);
    nrd_batch* const three = keeper.Take();
    CHECK(three->requests[0] == next.get());
    AddToState(three);
    Finish(three);
    CHECK(next.Wait() == NRD_OK);
    CHECK(next.output() == std::vector<int32_t>{15});
  }
}

TEST_CASE("a batch that is kept keeps the rows of its sequences") {
  TestRuntime runtime;
  SequenceKeeper keeper(runtime, {.strategy = NRD_SEQUENCES_DIRECT});
  TestRequest first = keeper.Request(1, 10, kStart | kEnd);
  REQUIRE(first.Submit() == NRD_PENDING);
  nrd_batch* const one = keeper.Take();
  TestRequest second = keeper.Request(2, 20, kStart | kEnd);
  REQUIRE(second.Submit() == NRD_PENDING);
  nrd_batch* const two = keeper.Take();
  CHECK(two->batch_size == 2);
  CHECK(two->requests[0]->first_row == 1);
  const auto* const ready = static_cast<const int32_t*>(two->inputs[3].data);
  CHECK(ready[0] == 0);
  CHECK(ready[1] == 1);
  CHECK(static_cast<const int32_t*>(one->inputs[0].data)[0] == 10);
  for (nrd_batch* const batch : {two, one}) {
    nrd_error error{};
    const nrd_tensor& input = batch->inputs[0];
    CHECK(nrd_batch_output_forward(batch, 0, 0, &error) == NRD_OK);
    CHECK(input.shape[0] == batch->batch_size);
    Finish(batch);
  }
  CHECK(first.Wait() == NRD_OK);
  CHECK(second.Wait() == NRD_OK);
  CHECK(second.output() == std::vector<int32_t>{20});
}

TEST_CASE("a request of a batch that is kept can be executed again") {
  TestRuntime runtime;
  SequenceKeeper keeper(runtime, {.strategy = NRD_SEQUENCES_OLDEST,
                                  .sequence_flags = NRD_SEQUENCES_ITERATIVE,
                                  .with_state = true});
  TestRequest request = keeper.Request(0, 4);
  REQUIRE(request.Submit() == NRD_PENDING);
  for (int32_t round = 1; round <= 3; ++round) {
    nrd_batch* const batch = keeper.Take();
    nrd_error error{};
    AddToState(batch);
    if (round < 3) {
      CHECK(nrd_batch_request_reschedule(batch, 0, &error) == NRD_OK);
    }
    Finish(batch);
  }
  CHECK(request.Wait() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>{12});
}

}  // namespace
}  // namespace nereid::test
