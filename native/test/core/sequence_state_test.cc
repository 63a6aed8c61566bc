// Tests of sequence states kept between requests, and of requests that are executed again.
#include <algorithm>
#include <random>
#include <thread>

#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

int32_t LoadWith(TestRuntime& runtime, const SequenceSettings& settings, std::string* message) {
  FunctionBackend backend;
  backend.run = CopyInputs;
  const nrd_backend table = backend.Table();
  nrd_error error{};
  nrd_model* model = nullptr;
  const int32_t code = LoadSequenceModel(runtime.get(), table, settings, &model, &error);
  if (model != nullptr) {
    nrd_model_release(model);
  }
  *message = std::string(error.message, error.message_size);
  return code;
}

}  // namespace

TEST_CASE("a state begins with what the configuration says, and its buffers are given back") {
  for (const uint32_t flags : {0U, uint32_t{NRD_STATE_SAME_BUFFER}}) {
    TestRuntime runtime;
    SequenceModel model(runtime, {.with_state = true, .state_flags = flags, .initial_state = 100});
    CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 101);
    CHECK(SequenceRequest(model, 1, 2).Sum() == 103);
    CHECK(model.stats().state_bytes == sizeof(int32_t));
    CHECK(SequenceRequest(model, 1, 3, kStart).Sum() == 103);
    CHECK(SequenceRequest(model, 1, 4, kEnd).Sum() == 107);
    CHECK(model.stats().state_bytes == 0);
    CHECK(runtime.live_bytes() == 0);
  }
}

TEST_CASE("states of a batch are those of its requests, whoever is missing in it") {
  for (const uint32_t flags : {0U, uint32_t{NRD_STATE_SAME_BUFFER}}) {
    for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
      TestRuntime runtime;
      SequenceModel model(runtime, {.strategy = strategy,
                                    .max_batch_size = 8,
                                    .flags = NRD_MODEL_NO_INLINE,
                                    .with_state = true,
                                    .state_flags = flags,
                                    .initial_state = 7});
      std::mt19937 random(5);
      std::array<int32_t, 9> sums;
      sums.fill(7);
      std::array<bool, 9> started{};
      for (int round = 0; round < 40; ++round) {
        model.gate.Close();
        SequenceRequest first(model, 99, 0, kStart | kEnd);  // holds the instance
        CHECK(first.Submit() == NRD_PENDING);
        std::vector<std::pair<uint64_t, SequenceRequest>> requests;
        for (uint64_t id = 1; id <= 7; ++id) {
          if (random() % 2 == 0) {
            const auto value = static_cast<int32_t>(random() % 100);
            requests.emplace_back(id, SequenceRequest(model, id, value, started[id] ? 0U : kStart));
            started[id] = true;
            sums[id] += value;
            CHECK(requests.back().second.Submit() == NRD_PENDING);
          }
        }
        model.gate.Open();
        CHECK(first.Wait() == NRD_OK);
        for (auto& [id, request] : requests) {
          CHECK(request.Wait() == NRD_OK);
          CHECK(request.output().front() == sums[id]);
        }
      }
    }
  }
}

TEST_CASE("a warm-up is no sequence, also with a record that was in one") {
  for (const bool with_state : {false, true}) {
    TestRuntime runtime;
    SequenceModel model(runtime, {.instance_count = 2,
                                  .with_state = with_state,
                                  .state_flags = NRD_STATE_SAME_BUFFER,
                                  .initial_state = with_state ? 5 : 0});
    SequenceRequest used(model, 3, 1, kStart);
    CHECK(used.Sum() == (with_state ? 6 : 1));
    CHECK(SequenceRequest(model, 3, 1, kEnd).Sum() == (with_state ? 7 : 2));
    used->sequence_id = 0;
    used->flags = 0;
    CHECK(nrd_request_warm_up(used.get()) == NRD_OK);
    CHECK(model.stats().started == 1);
    CHECK(model.stats().state_bytes == 0);
    CHECK(SequenceRequest(model, 4, 1, kStart | kEnd).Sum() == (with_state ? 6 : 1));
  }
}

TEST_CASE("a state goes when its sequence is idle for too long") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.max_idle_ns = 10'000'000, .with_state = true});
  CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 1);
  while (model.stats().idle_ended == 0) {
    std::this_thread::yield();
  }
  CHECK(model.stats().state_bytes == 0);
  CHECK(runtime.live_bytes() == 0);
}

TEST_CASE("a request of an iterative model is executed until its backend is done") {
  TestRuntime runtime;
  FunctionBackend backend;
  std::vector<uint32_t> sizes;
  // Counts down the state that begins at 5; the answer is how many executions it took.
  backend.run = [&sizes](nrd_batch* batch, nrd_error* error) {
    sizes.push_back(batch->request_count);
    const nrd_tensor& before = batch->inputs[1];
    void* out = nullptr;
    void* kept = nullptr;
    if (nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, batch->inputs[0].shape, before.byte_size,
                         &out, error) != NRD_OK ||
        nrd_batch_output(batch, 1, NRD_TYPE_INT32, 2, before.shape, before.byte_size, &kept,
                         error) != NRD_OK) {
      return error->code;
    }
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      const uint32_t row = batch->requests[i]->first_row;
      const int32_t count = static_cast<const int32_t*>(before.data)[row] + 1;
      static_cast<int32_t*>(out)[row] = count;
      static_cast<int32_t*>(kept)[row] = count;
      if (count < static_cast<const int32_t*>(batch->inputs[0].data)[row] &&
          nrd_batch_request_reschedule(batch, i, error) != NRD_OK) {
        return error->code;
      }
    }
    return int32_t{NRD_OK};
  };
  const nrd_backend table = backend.Table();
  nrd_error error{};
  nrd_model* loaded = nullptr;
  REQUIRE(LoadSequenceModel(runtime.get(), table,
                            {.strategy = NRD_SEQUENCES_OLDEST,
                             .sequence_flags = NRD_SEQUENCES_ITERATIVE,
                             .with_state = true},
                            &loaded, &error) == NRD_OK);
  TestModel model(loaded);
  TestRequest once(model, 1, 1, 1);
  CHECK(once.SubmitAndWait() == NRD_OK);
  CHECK(once.output().front() == 1);
  TestRequest many(model, 1, 30, 1);
  TestRequest fewer(model, 1, 12, 1);
  CHECK(many.Submit() == NRD_PENDING);
  CHECK(fewer.Submit() == NRD_PENDING);
  CHECK(fewer.Wait() == NRD_OK);
  CHECK(many.Wait() == NRD_OK);
  CHECK(many.output().front() == 30);
  CHECK(fewer.output().front() == 12);
  CHECK(model.stats().success.count == 3);
  CHECK(model.stats().inference_count == 3);
  CHECK(model.stats().execution_count == sizes.size());
}

TEST_CASE("a request that is executed again and again does not hinder the unload of its model") {
  TestRuntime runtime;
  FunctionBackend backend;
  backend.run = [](nrd_batch* batch, nrd_error* error) {
    const int32_t code = CopyInputs(batch, error);
    return code == NRD_OK ? nrd_batch_request_reschedule(batch, 0, error) : code;
  };
  const nrd_backend table = backend.Table();
  for (const bool drains : {false, true}) {
    CAPTURE(drains);
    nrd_error error{};
    nrd_model* loaded = nullptr;
    REQUIRE(LoadSequenceModel(runtime.get(), table,
                              {.strategy = NRD_SEQUENCES_OLDEST,
                               .sequence_flags = NRD_SEQUENCES_ITERATIVE,
                               .max_batch_size = 1},
                              &loaded, &error) == NRD_OK);
    TestModel model(loaded);
    TestRequest endless(model, 1, 1, 1);
    backend.executions = 0;
    CHECK(endless.Submit() == NRD_PENDING);
    while (backend.executions < 3) {
      std::this_thread::yield();
    }
    if (drains) {
      CHECK(nrd_model_drain(model.get(), nrd_clock_now_ns() + 1, &error) == NRD_DEADLINE_EXCEEDED);
      CHECK(endless.Wait() == NRD_UNAVAILABLE);
      CHECK(model.stats().fail_rejected == 1);
      CHECK(model.stats().pending_count == 0);
    }
    model.Release();
    CHECK(endless.Wait() == NRD_UNAVAILABLE);
    CHECK(endless.message().find("was unloaded") != std::string_view::npos);
  }
}

TEST_CASE("only iterative models execute a request again") {
  TestRuntime runtime;
  FunctionBackend backend;
  backend.run = [](nrd_batch* batch, nrd_error* error) {
    return nrd_batch_request_reschedule(batch, 0, error);
  };
  TestModel model(runtime, backend);
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_FAILED_PRECONDITION);
  CHECK(std::string(request.message()).find("has no iterative sequences") != std::string::npos);
}

TEST_CASE("configurations that contradict themselves are refused") {
  TestRuntime runtime;
  std::string message;
  CHECK(LoadWith(runtime, {.strategy = 3}, &message) == NRD_INVALID_ARGUMENT);
  CHECK(message == "the strategy of sequences is 3, expected direct (1) or oldest (2)");
  CHECK(LoadWith(runtime, {.flags = NRD_MODEL_DYNAMIC_BATCHING}, &message) == NRD_INVALID_ARGUMENT);
  CHECK(message == "sequence batching and dynamic batching exclude each other");
  CHECK(LoadWith(runtime, {.flags = NRD_MODEL_RESPONSE_CACHE}, &message) == NRD_INVALID_ARGUMENT);
  CHECK(LoadWith(runtime, {.flags = NRD_MODEL_PRESERVE_ORDERING}, &message) ==
        NRD_INVALID_ARGUMENT);
  CHECK(LoadWith(runtime, {.minimum_utilization = 1.5}, &message) == NRD_INVALID_ARGUMENT);
  CHECK(message == "minimum_slot_utilization is 1.500000, expected 0 to 1");
  CHECK(LoadWith(runtime, {.strategy = NRD_SEQUENCES_OLDEST, .flags = NRD_MODEL_PRESERVE_ORDERING},
                 &message) == NRD_OK);
}

}  // namespace nereid::test
