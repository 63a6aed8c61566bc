// The heap refuses everything while requests are on their way: they are answered all the same, and
// no counter, record or buffer is lost. (The pool has its own memory; lifecycle_test empties that.)
#include <cstdlib>
#include <new>
#include <thread>

#include "core_fixture.h"

namespace {

std::atomic<bool> heap_is_empty{false};

}  // namespace

// Replace those of the whole test program.
void* operator new(size_t byte_size) {
  if (heap_is_empty.load(std::memory_order_relaxed)) {
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(byte_size == 0 ? 1 : byte_size); memory != nullptr) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*byte_size*/) noexcept { std::free(memory); }

namespace nereid::test {
namespace {

// Nothing that allocates, such as an assertion, may happen while one lives.
struct EmptyHeap {
  EmptyHeap() { heap_is_empty = true; }
  ~EmptyHeap() { heap_is_empty = false; }
};

// Everything that can happen to a request, without a heap; returns what each was told. The first is
// held at the gate while the third is cancelled and the fourth runs out of time.
std::vector<int32_t> RunAll(TestModel& model, Gate& gate, const FunctionBackend& backend,
                            std::vector<TestRequest>& requests) {
  std::vector<int32_t> codes(requests.size());
  const EmptyHeap empty_heap;
  for (size_t i = 0; i < requests.size(); ++i) {
    codes[i] = requests[i].Submit();
    while (backend.executions == 0) {
      std::this_thread::yield();
    }
  }
  (void)nrd_request_cancel(requests[2].get());
  codes[3] = requests[3].Wait();
  gate.Open();
  for (size_t i = 0; i < requests.size(); ++i) {
    codes[i] = codes[i] == NRD_PENDING ? requests[i].Wait() : codes[i];
  }
  (void)nrd_model_drain(model.get(), 0, nullptr);
  return codes;
}

TEST_CASE("without a heap requests are answered, in order too, and failures keep their reason") {
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_PRESERVE_ORDERING},
                               uint32_t{NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_RESPONSE_CACHE}}) {
    TestRuntime runtime(1 << 20);
    Gate gate;
    FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
      gate.Enter();
      return CopyInputs(batch, error);
    }};
    TestModel model(runtime, backend,
                    {.flags = flags | NRD_MODEL_NO_INLINE,
                     .policy = {.default_timeout_ns = 10'000'000'000, .max_queue_size = 8}});
    // Warms up the pool, and with it the sizes that are needed below.
    { TestRequest warm_up(model, 8); }
    std::vector<TestRequest> requests;
    for (int32_t i = 0; i < 12; ++i) {
      requests.emplace_back(model, 1, i);
    }
    requests[3]->timeout_ns = 1'000'000;
    requests[4]->inputs[0].byte_size = 3;
    const std::vector<int32_t> codes = RunAll(model, gate, backend, requests);
    CHECK(codes[0] == NRD_OK);
    CHECK(codes[1] == NRD_OK);
    CHECK(codes[2] == NRD_CANCELLED);
    CHECK(codes[3] == NRD_UNAVAILABLE);
    // Their messages would have to be made on the heap.
    CHECK(codes[4] == NRD_RESOURCE_EXHAUSTED);
    CHECK(requests[4].message() == "the process is out of memory");
    CHECK(codes[5] == NRD_OK);
    const nrd_model_stats stats = model.stats();
    CHECK(stats.success.count + stats.fail.count == requests.size());
    CHECK(stats.pending_count == 0);
    CHECK(stats.executing_count == 0);
  }
}

TEST_CASE("without a heap a backend's failure fails its batch, and the instance goes on") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    switch (*static_cast<const int32_t*>(batch->inputs[0].data)) {
      case 1:
        return int32_t{NRD_INTERNAL};
      case 2:
        throw 2;
      case 3:
        return int32_t{NRD_OK};  // and no output
      default:
        return CopyInputs(batch, error);
    }
  }};
  for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel model(runtime, backend, {.flags = flags});
    { TestRequest warm_up(model, 8); }
    for (int32_t value = 1; value <= 4; ++value) {
      TestRequest request(model, 1, value);
      int32_t code = NRD_PENDING;
      {
        const EmptyHeap empty_heap;
        code = request.SubmitAndWait();
      }
      CHECK(code == (value == 4 ? NRD_OK : NRD_RESOURCE_EXHAUSTED));
    }
    CHECK(model.stats().fail.count == 3);
  }
}

TEST_CASE("without a heap nothing is half acquired or half loaded, and releasing needs none") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  {
    TestModel model(runtime, backend);
    std::vector<TestRequest> requests;
    for (int i = 0; i < 100; ++i) {
      requests.emplace_back(model);
    }
    nrd_request* record = nullptr;
    nrd_model* other = nullptr;
    int32_t loaded = NRD_OK;
    const nrd_backend table = backend.Table();
    const ModelSettings settings;
    {
      const EmptyHeap empty_heap;
      loaded = LoadModel(runtime.get(), table, settings, &other, nullptr);
      requests.clear();
      for (int i = 0; i < 100; ++i) {
        if (nrd_request_acquire(model.get(), &record, nullptr) == NRD_OK) {
          nrd_request_release(record);
        }
      }
      model.Release();
    }
    CHECK(loaded == NRD_RESOURCE_EXHAUSTED);
  }
  CHECK(backend.open_models == 0);
  CHECK(backend.open_instances == 0);
}

}  // namespace
}  // namespace nereid::test
