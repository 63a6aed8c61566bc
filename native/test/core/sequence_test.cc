// Tests of sequences over the C ABI: which instance executes a request, and when.
#include <functional>

#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

// Does something on the thread that answers a request.
struct Receiver {
  std::function<void()> complete;
  nrd_receiver table{
      .context = this,
      .complete = [](void* me, nrd_request*) { static_cast<Receiver*>(me)->complete(); },
      .respond = nullptr};
};

void CheckRefused(SequenceRequest& request, int32_t code, const char* part) {
  CHECK(request.SubmitAndWait() == code);
  const std::string message(request.message());
  CHECK_MESSAGE(message.find(part) != std::string::npos, message);
}

}  // namespace

TEST_CASE("a sequence adds up, by direct slots, by the oldest and by state") {
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    for (const bool with_state : {false, true}) {
      for (const uint32_t flags : {0U, uint32_t{NRD_MODEL_NO_INLINE}}) {
        CAPTURE(strategy);
        CAPTURE(with_state);
        TestRuntime runtime;
        SequenceModel model(
            runtime,
            {.strategy = strategy, .instance_count = 2, .flags = flags, .with_state = with_state});
        CHECK(SequenceRequest(model, 5, 1, kStart).Sum() == 1);
        CHECK(SequenceRequest(model, 6, 10, kStart).Sum() == 10);
        CHECK(SequenceRequest(model, 5, 2).Sum() == 3);
        CHECK(SequenceRequest(model, 6, 20, kEnd).Sum() == 30);
        CHECK(SequenceRequest(model, 5, 3, kEnd).Sum() == 6);
        CHECK(SequenceRequest(model, 5, 4, kStart | kEnd).Sum() == 4);
        CHECK(model.stats().active == 0);
        CHECK(model.stats().started == 3);
        CHECK(model.stats().ended == 3);
        CHECK(model.stats().slots == 8);
      }
    }
  }
}

TEST_CASE("controls say what each row is, and rows without a request are not ready") {
  TestRuntime runtime;
  SequenceModel model(runtime, {});
  CHECK(SequenceRequest(model, 11, 1, kStart).Sum() == 1);
  CHECK(SequenceRequest(model, 12, 2, kStart).Sum() == 2);
  CHECK(SequenceRequest(model, 13, 3, kStart).Sum() == 3);
  CHECK(SequenceRequest(model, 13, 3, kEnd).Sum() == 6);
  const SeenBatch last = model.seen().back();
  CHECK(last.start == std::vector<int32_t>{0, 0, 0});
  CHECK(last.end == std::vector<int32_t>{0, 0, 1});
  CHECK(last.ready == std::vector<int32_t>{0, 0, 1});
  CHECK(last.ids == std::vector<std::string>{"0", "0", "13"});
}

TEST_CASE("ids are numbers or names, also side by side") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.strategy = NRD_SEQUENCES_OLDEST, .text_ids = true});
  CHECK(SequenceRequest(model, "7", 1, kStart).Sum() == 1);
  CHECK(SequenceRequest(model, UINT64_MAX, 10, kStart).Sum() == 10);
  CHECK(SequenceRequest(model, std::string("a\0b", 3), 100, kStart).Sum() == 100);
  CHECK(SequenceRequest(model, "7", 1).Sum() == 2);
  CHECK(SequenceRequest(model, UINT64_MAX, 10).Sum() == 20);
  CHECK(SequenceRequest(model, std::string("a\0b", 3), 100).Sum() == 200);
  CHECK(model.seen().back().ids == std::vector<std::string>{std::string("a\0b", 3)});
  CHECK(nrd_model_has_sequence(model.get(), 0, AsNrdString("7")) == 1);
  CHECK(nrd_model_has_sequence(model.get(), 7, {}) == 0);
  SequenceRequest(model, std::string(128, 'x'), 1, kStart | kEnd).Sum();
  SequenceRequest longer(model, std::string(129, 'x'), 1, kStart);
  CheckRefused(longer, NRD_INVALID_ARGUMENT, "correlation ID of 129 bytes, at most 128");
}

TEST_CASE("what does not belong to a sequence is refused") {
  TestRuntime runtime;
  SequenceModel model(runtime, {});
  SequenceRequest no_start(model, 5, 1);
  CheckRefused(
      no_start, NRD_INVALID_ARGUMENT,
      "inference request for sequence 5 to model 'adder' must specify the START flag on the "
      "first request of the sequence");
  SequenceRequest no_id(model, 0, 1, kStart);
  CheckRefused(no_id, NRD_INVALID_ARGUMENT, "must specify a non-zero or non-empty correlation ID");
  SequenceRequest name(model, "five", 1, kStart);
  CheckRefused(name, NRD_INVALID_ARGUMENT,
               "'five', expected a number: the model takes them as "
               "UINT64");
  TestRequest rows(model.model(), 2, 1, 1);
  rows->sequence_id = 5;
  rows->flags = kStart;
  CHECK(rows.SubmitAndWait() == NRD_INVALID_ARGUMENT);
  CHECK(std::string(rows.message())
            .find("must specify batch-size 1 due to requirements of "
                  "sequence batcher") != std::string::npos);
  CHECK(SequenceRequest(model, 5, 1, kStart | kEnd).Sum() == 1);
  SequenceRequest after_end(model, 5, 1);
  CheckRefused(after_end, NRD_INVALID_ARGUMENT, "START flag");
}

TEST_CASE("a repeated START begins the sequence anew") {
  for (const bool with_state : {false, true}) {
    TestRuntime runtime;
    SequenceModel model(runtime, {.with_state = with_state});
    CHECK(SequenceRequest(model, 5, 1, kStart).Sum() == 1);
    CHECK(SequenceRequest(model, 5, 2).Sum() == 3);
    CHECK(SequenceRequest(model, 5, 10, kStart).Sum() == 10);
    CHECK(SequenceRequest(model, 5, 2, kEnd).Sum() == 12);
    CHECK(model.stats().started == 1);
  }
}

TEST_CASE("a START behind an END counts as another sequence, and one that was cancelled as none") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.flags = NRD_MODEL_NO_INLINE});
  model.gate.Close();
  std::vector<SequenceRequest> requests;
  for (int32_t value = 1; value <= 3; ++value) {
    requests.emplace_back(model, 7, value, kStart | kEnd);
    CHECK(requests.back().Submit() == NRD_PENDING);
    model.gate.WaitForEntered(1);
  }
  SequenceRequest cancelled(model, 8, 1, kStart);
  CHECK(cancelled.Submit() == NRD_PENDING);
  CHECK(nrd_request_cancel(cancelled.get()) == NRD_OK);
  model.gate.Open();
  for (SequenceRequest& request : requests) {
    CHECK(request.Wait() == NRD_OK);
  }
  CHECK(model.stats().started == 3);
  CHECK(model.stats().ended == 3);
}

TEST_CASE("sequences beyond the slots wait until one ends") {
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    TestRuntime runtime;
    SequenceModel model(runtime, {.strategy = strategy, .max_batch_size = 2, .candidates = 2});
    CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 1);
    CHECK(SequenceRequest(model, 2, 2, kStart).Sum() == 2);
    SequenceRequest waiting(model, 3, 3, kStart);
    SequenceRequest behind(model, 3, 30, kEnd);
    CHECK(waiting.Submit() == NRD_PENDING);
    CHECK(behind.Submit() == NRD_PENDING);
    CHECK(model.stats().backlog == 1);
    CHECK(nrd_request_wait(waiting.get(), In(5)) == NRD_DEADLINE_EXCEEDED);
    CHECK(SequenceRequest(model, 1, 1, kEnd).Sum() == 2);
    CHECK(waiting.Wait() == NRD_OK);
    CHECK(behind.Wait() == NRD_OK);
    CHECK(behind.output().front() == 33);
    CHECK(model.stats().backlog == 0);
    CHECK(model.stats().active == 1);
  }
}

TEST_CASE("a sequence that is idle for too long ends, and the backlog moves on") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.max_batch_size = 1, .max_idle_ns = 20'000'000});
  CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 1);
  SequenceRequest waiting(model, 2, 2, kStart | kEnd);
  CHECK(waiting.SubmitAndWait() == NRD_OK);  // only the idle timeout lets it in
  CHECK(model.stats().idle_ended == 1);
  SequenceRequest late(model, 1, 1);
  CheckRefused(late, NRD_INVALID_ARGUMENT, "START flag");
}

TEST_CASE("requests of a sequence run one after the other, those of others together") {
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    TestRuntime runtime;
    SequenceModel model(runtime, {.strategy = strategy, .flags = NRD_MODEL_NO_INLINE});
    model.gate.Close();
    std::vector<SequenceRequest> requests;
    requests.emplace_back(model, 1, 1, kStart);
    CHECK(requests[0].Submit() == NRD_PENDING);
    model.gate.WaitForEntered(1);
    for (const uint64_t id : {1, 2, 3}) {
      requests.emplace_back(model, id, 10, id == 1 ? 0U : kStart);
      requests.emplace_back(model, id, 100);
      CHECK(requests[requests.size() - 2].Submit() == NRD_PENDING);
      CHECK(requests.back().Submit() == NRD_PENDING);
    }
    model.gate.Open();
    for (SequenceRequest& request : requests) {
      CHECK(request.Wait() == NRD_OK);
    }
    CHECK(requests[1].output().front() == 11);
    CHECK(requests[2].output().front() == 111);
    CHECK(requests[4].output().front() == 110);
    CHECK(requests[1]->executed_batch_size == 3);
    CHECK(requests[2]->executed_batch_size == 3);
    CHECK(model.seen().size() == 3);
  }
}

TEST_CASE("direct slots wait for company as far as the configuration wants") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.max_queue_delay_ns = 60'000'000'000, .minimum_utilization = 0.5});
  SequenceRequest first(model, 1, 1, kStart);
  SequenceRequest second(model, 2, 2, kStart);
  CHECK(first.Submit() == NRD_PENDING);
  CHECK(nrd_request_wait(first.get(), In(5)) == NRD_DEADLINE_EXCEEDED);
  CHECK(second.SubmitAndWait() == NRD_OK);
  CHECK(first.Wait() == NRD_OK);
  CHECK(first->executed_batch_size == 2);
}

TEST_CASE("a cancelled request takes those that wait in its sequence along") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.flags = NRD_MODEL_NO_INLINE});
  model.gate.Close();
  SequenceRequest running(model, 1, 1, kStart);
  SequenceRequest second(model, 1, 2);
  SequenceRequest third(model, 1, 3);
  SequenceRequest other(model, 2, 4, kStart);
  CHECK(running.Submit() == NRD_PENDING);
  model.gate.WaitForEntered(1);
  CHECK(second.Submit() == NRD_PENDING);
  CHECK(third.Submit() == NRD_PENDING);
  CHECK(other.Submit() == NRD_PENDING);
  CHECK(nrd_request_cancel(third.get()) == NRD_OK);
  CHECK(third.Wait() == NRD_CANCELLED);
  CHECK(second.Wait() == NRD_CANCELLED);
  CHECK(std::string(second.message()).find("another request that waited in its sequence") !=
        std::string::npos);
  model.gate.Open();
  CHECK(running.Wait() == NRD_OK);
  CHECK(other.Wait() == NRD_OK);
  CHECK(SequenceRequest(model, 1, 10).Sum() == 11);  // the sequence is still there
}

TEST_CASE("a sequence whose first request did not run has to start again") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.max_batch_size = 1});
  CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 1);
  SequenceRequest start(model, 2, 1, kStart);
  CHECK(start.Submit() == NRD_PENDING);  // in the backlog
  CHECK(nrd_request_cancel(start.get()) == NRD_OK);
  CHECK(start.Wait() == NRD_CANCELLED);
  SequenceRequest next(model, 2, 1);
  CheckRefused(next, NRD_INVALID_ARGUMENT, "START flag");
  CHECK(model.stats().backlog == 0);
}

TEST_CASE("a request that is cancelled when its batch was taken counts as one that waited") {
  for (const uint32_t flags : {kStart, 0U}) {
    CAPTURE(flags);
    // The timer's thread is kept busy, so that the instance's thread finds the expired request
    // together with the batch, and answers it in between.
    Gate gate;
    Receiver blocks{.complete = [&] { gate.Enter(); }};
    nrd_request* victim = nullptr;
    int32_t code = NRD_OK;
    Receiver cancels{.complete = [&] { code = nrd_request_cancel(victim); }};
    TestRuntime runtime;
    SequenceModel model(runtime, {.flags = NRD_MODEL_NO_INLINE});
    CHECK(SequenceRequest(model, 1, 1, kStart | (flags == kStart ? kEnd : 0U)).Sum() == 1);
    model.gate.Close();
    SequenceRequest running(model, 2, 1, kStart);
    SequenceRequest expired(model, 3, 1, kStart);
    SequenceRequest expired_later(model, 4, 1, kStart);
    SequenceRequest cancelled(model, 1, 10, flags);
    SequenceRequest behind(model, 1, 100);
    expired->timeout_ns = expired_later->timeout_ns = 1;
    nrd_request_receive(expired.get(), &blocks.table);
    nrd_request_receive(expired_later.get(), &cancels.table);
    victim = cancelled.get();
    CHECK(running.Submit() == NRD_PENDING);
    model.gate.WaitForEntered(2);
    CHECK(expired.Submit() == NRD_PENDING);
    gate.WaitForEntered(1);
    CHECK(expired_later.Submit() == NRD_PENDING);
    CHECK(cancelled.Submit() == NRD_PENDING);
    CHECK(behind.Submit() == NRD_PENDING);
    model.gate.Open();
    CHECK(cancelled.Wait() == NRD_CANCELLED);
    CHECK(code == NRD_FAILED_PRECONDITION);  // it was in a batch
    CHECK(behind.Wait() == NRD_CANCELLED);
    gate.Open();
    SequenceRequest next(model, 1, 1000);
    if (flags == kStart) {
      CheckRefused(next, NRD_INVALID_ARGUMENT, "START flag");
    } else {
      CHECK(next.Sum() == 1001);
    }
    CHECK(running.Wait() == NRD_OK);
  }
}

TEST_CASE("a START without memory for its batch has not begun its sequence") {
  nrd_runtime_options options{};
  options.pool_chunk_bytes = options.pool_byte_limit = 1 << 20;
  TestRuntime runtime(0, options);
  SequenceModel model(runtime, {});
  CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 1);
  SequenceRequest start(model, 2, 1, kStart);  // needs a batch of two rows
  SequenceRequest next(model, 2, 1);
  nrd_error error{};
  std::vector<void*> taken(1);
  while (nrd_buffer_alloc(runtime.get(), 8, &taken.back(), &error) == NRD_OK) {
    taken.push_back(nullptr);
  }
  CHECK(start.SubmitAndWait() == NRD_RESOURCE_EXHAUSTED);
  taken.pop_back();
  for (void* const buffer : taken) {
    nrd_buffer_release(buffer);
  }
  CheckRefused(next, NRD_INVALID_ARGUMENT, "START flag");
}

TEST_CASE("a request whose time is up takes those that wait in its sequence along") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.flags = NRD_MODEL_NO_INLINE});
  model.gate.Close();
  SequenceRequest running(model, 1, 1, kStart);
  SequenceRequest late(model, 1, 2);
  SequenceRequest behind(model, 1, 3, kEnd);
  late->deadline_ns = In(5);
  CHECK(running.Submit() == NRD_PENDING);
  model.gate.WaitForEntered(1);
  CHECK(behind.get() != nullptr);
  const int32_t submitted = late.Submit();
  if (submitted == NRD_PENDING) {  // otherwise the machine was too slow for the deadline
    CHECK(behind.Submit() == NRD_PENDING);
    CHECK(late.Wait() == NRD_DEADLINE_EXCEEDED);
    CHECK(behind.Wait() == NRD_CANCELLED);
  }
  model.gate.Open();
  CHECK(running.Wait() == NRD_OK);
}

TEST_CASE("a failed request leaves its sequence as it was") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.with_state = true});
  CHECK(SequenceRequest(model, 1, 5, kStart).Sum() == 5);
  SequenceRequest poisoned(model, 1, SequenceModel::kPoison);
  CHECK(poisoned.SubmitAndWait() == NRD_INTERNAL);
  CHECK(SequenceRequest(model, 1, 2, kEnd).Sum() == 7);
}

TEST_CASE("sequences go on when no new ones may start") {
  TestRuntime runtime;
  SequenceModel model(runtime, {});
  CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 1);
  nrd_model_finish_sequences(model.get());
  SequenceRequest fresh(model, 2, 1, kStart);
  CheckRefused(fresh, NRD_UNAVAILABLE, "no sequence starts any more");
  CHECK(SequenceRequest(model, 1, 1, kEnd).Sum() == 2);
  CHECK(model.stats().active == 0);
}

TEST_CASE("a release answers what waits in sequences") {
  TestRuntime runtime;
  auto model = std::make_unique<SequenceModel>(runtime, SequenceSettings{.max_batch_size = 1});
  CHECK(SequenceRequest(*model, 1, 1, kStart).Sum() == 1);
  SequenceRequest waiting(*model, 2, 1, kStart);
  SequenceRequest behind(*model, 2, 1);
  CHECK(waiting.Submit() == NRD_PENDING);
  CHECK(behind.Submit() == NRD_PENDING);
  model->model().Release();
  CHECK(waiting.Wait() == NRD_UNAVAILABLE);
  CHECK(behind.Wait() == NRD_UNAVAILABLE);
}

TEST_CASE("instances have slots of their own, and sequences are spread over them") {
  TestRuntime runtime;
  SequenceModel model(runtime, {.max_batch_size = 1, .instance_count = 3, .with_state = true});
  for (uint64_t id = 1; id <= 3; ++id) {
    CHECK(SequenceRequest(model, id, 1, kStart).Sum() == 1);
  }
  CHECK(model.stats().active == 3);
  CHECK(model.stats().state_bytes == 3 * sizeof(int32_t));
}

}  // namespace nereid::test
