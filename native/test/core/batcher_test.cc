// Tests batches by a caller's own batcher.
#include <algorithm>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

int32_t ValueOf(const nrd_request* request) {
  return *static_cast<const int32_t*>(request->inputs[0].data);
}

// Only requests of one value go together, and their values add up to ten at most.
int32_t Includes(void* context, const nrd_request* const* chosen, uint32_t chosen_count,
                 const nrd_request* next) {
  static_cast<std::atomic<int>*>(context)->fetch_add(1);
  int32_t sum = ValueOf(next);
  for (uint32_t i = 0; i < chosen_count; ++i) {
    if (ValueOf(chosen[i]) != ValueOf(next)) {
      return 0;
    }
    sum += ValueOf(chosen[i]);
  }
  return sum <= 10 ? 1 : 0;
}

struct Batches {
  std::mutex mutex;
  std::vector<std::vector<int32_t>> seen;
};

}  // namespace

TEST_CASE("a batcher says where a batch ends") {
  TestRuntime runtime;
  Gate gate;
  Batches batches;
  std::atomic<int> asked{0};
  const nrd_batcher batcher{&asked, Includes};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    std::vector<int32_t> values;
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      values.push_back(ValueOf(batch->requests[i]));
    }
    const std::lock_guard lock(batches.mutex);
    batches.seen.push_back(values);
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING, .batcher = &batcher});
  TestRequest blocker(model, 1, 0);
  CHECK(blocker.Submit() == NRD_PENDING);
  gate.WaitForEntered(1);
  CHECK(asked == 0);
  std::vector<TestRequest> requests;
  for (const int32_t value : {5, 5, 5, 1, 1, 9, 1, 1}) {
    requests.emplace_back(model, 1, value);
    CHECK(requests.back().Submit() == NRD_PENDING);
  }
  gate.Open();
  for (TestRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(batches.seen == std::vector<std::vector<int32_t>>{{0}, {5, 5}, {5}, {1, 1}, {9}, {1, 1}});
  CHECK(asked > 0);
}

TEST_CASE("what a batcher refuses does not wait for more, and what it lets in does") {
  TestRuntime runtime;
  Gate gate;
  std::atomic<int> asked{0};
  const nrd_batcher batcher{&asked, Includes};
  std::atomic<int> largest{0};
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    largest = std::max<int>(largest, static_cast<int>(batch->request_count));
    return CopyInputs(batch, error);
  }};
  TestModel model(runtime, backend,
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = kUntilFullNs,
                   .batcher = &batcher});
  TestRequest first(model, 1, 2);
  TestRequest second(model, 1, 2);
  TestRequest other(model, 1, 3);
  CHECK(first.Submit() == NRD_PENDING);
  CHECK(second.Submit() == NRD_PENDING);
  CHECK(nrd_request_wait(first.get(), In(20)) == NRD_DEADLINE_EXCEEDED);  // waits for company
  CHECK(other.Submit() == NRD_PENDING);  // this request does not fit the batch
  CHECK(first.Wait() == NRD_OK);
  CHECK(second.Wait() == NRD_OK);
  CHECK(largest == 2);
  CHECK(nrd_request_cancel(other.get()) == NRD_OK);
  CHECK(other.Wait() == NRD_CANCELLED);
}

TEST_CASE("a batcher needs batches") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  const nrd_batcher batcher{nullptr, Includes};
  nrd_model* model = nullptr;
  nrd_error error{};
  CHECK(LoadModel(runtime.get(), backend.Table(), {.batcher = &batcher}, &model, &error) ==
        NRD_INVALID_ARGUMENT);
  CHECK(std::string_view(error.message, error.message_size)
            .starts_with("a batcher says which requests share a batch"));
  const nrd_batcher empty{};
  CHECK(LoadModel(runtime.get(), backend.Table(),
                  {.flags = NRD_MODEL_DYNAMIC_BATCHING, .batcher = &empty}, &model,
                  &error) == NRD_INVALID_ARGUMENT);
}

}  // namespace nereid::test
