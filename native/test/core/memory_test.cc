// Tests the memory of models: buffers of the pool, and the backends' own figures.
#include <thread>
#include <vector>

#include "memory/buffer_pool.h"
#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

nrd_memory_stats MemoryOf(TestModel& model) {
  nrd_memory_stats stats{};
  nrd_model_memory_read(model.get(), &stats);
  CHECK(stats.struct_size == sizeof(stats));
  return stats;
}

uint64_t PoolBytes(TestModel& model) { return MemoryOf(model).pool_bytes; }

TEST_CASE("a model has the buffers of its requests: inputs, gathered inputs and outputs") {
  TestRuntime runtime;
  uint64_t while_executing = 0;
  TestModel* self = nullptr;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const int32_t code = CopyInputs(batch, error);
    while_executing = PoolBytes(*self);
    return code;
  }};
  FunctionBackend other_backend{.run = CopyInputs};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = kUntilFullNs,
                   .preferred_sizes = {2}});
  self = &model;
  TestModel other(runtime, other_backend);
  CHECK(PoolBytes(model) == 0);
  {
    TestRequest first(model);
    const uint64_t one = PoolBytes(model);
    CHECK(one > 0);
    TestRequest second(model);
    CHECK(PoolBytes(model) == 2 * one);
    CHECK(PoolBytes(model) == runtime.live_bytes());
    REQUIRE(first.Submit() == NRD_PENDING);
    REQUIRE(second.SubmitAndWait() == NRD_OK);
    REQUIRE(first.Wait() == NRD_OK);
    REQUIRE(first->executed_batch_size == 2);
    CHECK(while_executing == 4 * one);  // both inputs, the gathered one, and the common output
    CHECK(PoolBytes(model) == 3 * one);
    CHECK(PoolBytes(other) == 0);
    nrd_request_drop_inputs(first.get());
    nrd_request_drop_inputs(second.get());
    CHECK(PoolBytes(model) == one);
  }
  CHECK(PoolBytes(model) == 0);
}

TEST_CASE("large buffers count, those that no model asked for do not") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.dim = -1});
  void* buffer = nullptr;
  REQUIRE(nrd_buffer_alloc(runtime.get(), 100, &buffer, nullptr) == NRD_OK);
  {
    TestRequest request(model, 1, 1, 1 << 20);
    CHECK(PoolBytes(model) >= 4U << 20);
    CHECK(PoolBytes(model) < 5U << 20);
    CHECK(PoolBytes(model) < runtime.live_bytes());
    REQUIRE(request.SubmitAndWait() == NRD_OK);
    CHECK(PoolBytes(model) >= 8U << 20);
  }
  CHECK(PoolBytes(model) == 0);
  nrd_buffer_release(buffer);
}

TEST_CASE("answers from the cache count for the model that asked") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  TestRequest first(model);
  REQUIRE(first.SubmitAndWait() == NRD_OK);
  const uint64_t one = PoolBytes(model) / 2;
  TestRequest second(model);
  REQUIRE(second.SubmitAndWait() == NRD_OK);
  CHECK(second->cache_hit == 1);
  CHECK(PoolBytes(model) == 4 * one);
}

TEST_CASE("a buffer that outlives its model is not counted for the next one") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  void* kept = nullptr;
  uint64_t one = 0;
  {
    TestModel model(runtime, backend);
    TestRequest request(model);
    one = PoolBytes(model);
    kept = request->inputs[0].slab;
    nrd_buffer_retain(kept);
  }
  TestModel next(runtime, backend);
  CHECK(PoolBytes(next) == 0);
  {
    TestRequest request(next);
    CHECK(PoolBytes(next) == one);
    nrd_buffer_release(kept);
    CHECK(PoolBytes(next) == one);
  }
  CHECK(PoolBytes(next) == 0);
}

TEST_CASE("accounts are opened again once they are empty, and not before") {
  BufferPool pool({});
  PoolAccount* const account = pool.accounts().Open();
  void* buffer = nullptr;
  REQUIRE(pool.Allocate(100, &buffer, account).ok());
  pool.accounts().Close(account);
  PoolAccount* const other = pool.accounts().Open();
  CHECK(other != account);
  BufferPool::Release(buffer);
  CHECK(pool.accounts().Open() == account);
  CHECK(pool.accounts().Open() != other);
}

TEST_CASE("what threads allocate and others release adds up") {
  BufferPool pool({});
  PoolAccount* const account = pool.accounts().Open();
  constexpr size_t kThreads = 4;
  constexpr size_t kBuffers = 2000;
  std::vector<std::vector<void*>> buffers(kThreads, std::vector<void*>(kBuffers));
  const auto on_threads = [](auto work) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back(work, i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  };
  on_threads([&](size_t thread) {
    for (size_t i = 0; i < kBuffers; ++i) {
      const uint64_t byte_size = i % 100 == 0 ? 100'000 : 64 * (i % 50);
      REQUIRE(pool.Allocate(byte_size, &buffers[thread][i], account).ok());
    }
  });
  nrd_pool_stats stats{};
  pool.ReadStats(&stats);
  CHECK(account->LiveBytes() == stats.live_bytes);
  on_threads([&](size_t thread) {
    for (void* buffer : buffers[(thread + 1) % kThreads]) {
      BufferPool::Release(buffer);
    }
  });
  CHECK(account->LiveBytes() == 0);
}

TEST_CASE("a backend tells what it occupies, or nothing") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel silent(runtime, backend);
  CHECK(MemoryOf(silent).weight_bytes == 0);
  CHECK(MemoryOf(silent).working_bytes == 0);

  nrd_backend table = backend.Table();
  table.memory_read = [](void* state, uint64_t* weight_bytes, uint64_t* working_bytes) {
    *weight_bytes = 1000;
    *working_bytes = static_cast<uint64_t>(static_cast<FunctionBackend*>(state)->executions);
  };
  nrd_model* model = nullptr;
  REQUIRE(LoadModel(runtime.get(), table, {}, &model, nullptr) == NRD_OK);
  backend.executions = 7;
  nrd_memory_stats stats{};
  nrd_model_memory_read(model, &stats);
  CHECK(stats.weight_bytes == 1000);
  CHECK(stats.working_bytes == 7);
  nrd_model_release(model);
}

}  // namespace
}  // namespace nereid::test
