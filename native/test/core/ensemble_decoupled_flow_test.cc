// Tests streams through an ensemble that end early or are blocked.
#include <thread>

#include "test/core/ensemble_stream_fixture.h"

namespace nereid::test {
namespace {

const ModelSettings kQueued{.flags = NRD_MODEL_NO_INLINE};

// Sends 1, 2, ... until it is told to stop.
Run Endless(std::atomic<int32_t>* sent, std::atomic<int32_t>* told) {
  return [=](nrd_batch* batch, nrd_error* error) {
    int32_t code = NRD_OK;
    const int64_t give_up_ns = In(kPatienceMs);
    while (code == NRD_OK && nrd_clock_now_ns() < give_up_ns) {
      code = Send(batch, 0, *sent + 1, error);
      *sent += code == NRD_OK ? 1 : 0;
    }
    *told = code;
    return int32_t{NRD_OK};
  };
}

}  // namespace

TEST_CASE("a decoupled step that fails after some responses is told behind them") {
  Collector collector;
  Stream stream(
      collector,
      [](nrd_batch* batch, nrd_error* error) {
        for (int32_t i = 0; i < 3; ++i) {
          CHECK(Send(batch, 0, i, error) == NRD_OK);
        }
        return FailWith(error, NRD_NOT_FOUND, "no fourth");
      },
      kQueued);
  stream.run_adder = [](nrd_batch* batch, nrd_error* error) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return SumInputs(batch, error, 100);
  };
  TestRequest request(stream.ensemble);
  CHECK(request.SubmitAndWait() == NRD_NOT_FOUND);
  CHECK(request.message() == "in ensemble 'e', step 'counter': no fourth");
  CHECK(collector.Of(0) == Rows({100, 101, 102}));
  CHECK(request->outputs[0].data == nullptr);
  CHECK(stream.ensemble.stats().fail_backend == 1);
}

TEST_CASE("a step behind that fails ends the request, and the decoupled one is told") {
  std::atomic<int32_t> sent{0};
  std::atomic<int32_t> told{0};
  Collector collector;
  Stream stream(collector, Endless(&sent, &told),
                {.flags = NRD_MODEL_NO_INLINE, .instance_count = 2}, 4);
  stream.run_adder = [](nrd_batch* batch, nrd_error* error) {
    if (ValueOf(batch, 0) == 5) {
      return FailWith(error, NRD_UNAVAILABLE, "five");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return SumInputs(batch, error, 100);
  };
  TestRequest request(stream.ensemble);
  CHECK(request.SubmitAndWait() == NRD_UNAVAILABLE);
  CHECK(request.message() == "in ensemble 'e', step 'm': five");
  CHECK(collector.Of(0) == Rows({101, 102, 103, 104}));
  CHECK(told == NRD_CANCELLED);
  CHECK(sent < 10);
}

TEST_CASE("cancelling ends all that is on its way") {
  for (const uint32_t limit : {0U, 3U}) {
    std::atomic<int32_t> sent{0};
    std::atomic<int32_t> told{0};
    Collector collector;
    Stream stream(collector, Endless(&sent, &told), kQueued, limit);
    Gate gate;
    stream.run_adder = [&](nrd_batch* batch, nrd_error* error) {
      gate.Enter();
      return SumInputs(batch, error, 100);
    };
    TestRequest request(stream.ensemble);
    CHECK(request.Submit() == NRD_PENDING);
    gate.WaitForEntered(1);
    CHECK(Eventually([&] { return sent >= 3; }));
    CHECK(nrd_request_cancel(request.get()) == NRD_FAILED_PRECONDITION);  // one executes
    CHECK(Eventually([&] { return told == NRD_CANCELLED; }));
    gate.Open();
    CHECK(request.Wait() == NRD_CANCELLED);
    CHECK(request.message() == "Request was cancelled");
    CHECK(stream.adder_backend.executions == 1);
    CHECK(stream.ensemble.stats().fail_cancelled == 1);
    CHECK(stream.ensemble.stats().executing_count == 0);
  }
}

TEST_CASE("a deadline ends a stream") {
  for (const uint32_t limit : {1U, 3U}) {
    std::atomic<int32_t> sent{0};
    std::atomic<int32_t> told{0};
    Collector collector;
    Stream stream(collector, Endless(&sent, &told), kQueued, limit);
    stream.run_adder = [&](nrd_batch* batch, nrd_error* error) {
      CHECK(Eventually([&] { return told != NRD_OK; }));
      return SumInputs(batch, error, 100);
    };
    TestRequest request(stream.ensemble);
    CHECK(UnderSomeLimit(50, [&](int64_t limit_ms) {
      request->deadline_ns = In(limit_ms);
      CHECK(request.SubmitAndWait() == NRD_DEADLINE_EXCEEDED);
      return told != NRD_OK;
    }));
  }
}

TEST_CASE("the timeout of a request begins anew for each response") {
  constexpr int64_t kTimeoutNs = 600'000'000'000;
  Collector collector;
  std::atomic<int64_t> sent_ns{0};
  Stream stream(collector, [&](nrd_batch* batch, nrd_error* error) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    sent_ns = nrd_clock_now_ns();
    return Send(batch, 0, 1, error);
  });
  stream.run_adder = [&](nrd_batch* batch, nrd_error* error) {
    const auto rest_ns = static_cast<int64_t>(batch->requests[0]->timeout_ns);
    CHECK(rest_ns + nrd_clock_now_ns() - sent_ns >= kTimeoutNs);
    CHECK(rest_ns <= kTimeoutNs);
    return SumInputs(batch, error, 100);
  };
  TestRequest request(stream.ensemble);
  request->timeout_ns = kTimeoutNs;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(collector.Of(0) == Rows({101}));
}

TEST_CASE("a slow reader holds up the decoupled step, and not the models behind it") {
  Collector collector;
  Gate slow;
  std::atomic<int> waits{0};
  collector.on_wait = [&](uint64_t tag) {
    if (tag == 1 && ++waits > 3) {
      slow.Enter();
    }
  };
  std::atomic<int32_t> sent{0};
  std::atomic<int32_t> told{0};
  Stream stream(collector, Endless(&sent, &told), kQueued);
  TestRequest request(stream.ensemble);
  request->tag = 1;
  CHECK(request.Submit() == NRD_PENDING);
  slow.WaitForEntered(1);
  CHECK(Eventually([&] { return collector.Of(1).size() == 3; }));
  CHECK(sent == 3);
  TestRequest plain(stream.adder);
  CHECK(plain.SubmitAndWait() == NRD_OK);
  CHECK(nrd_request_cancel(request.get()) == NRD_FAILED_PRECONDITION);
  slow.Open();
  CHECK(request.Wait() == NRD_CANCELLED);
}

TEST_CASE("no more responses are on their way than max_inflight_requests") {
  constexpr int32_t kLimit = 3;
  Collector collector;
  std::atomic<int32_t> sent{0};
  std::atomic<int32_t> under_way{0};
  std::atomic<int32_t> most{0};
  Stream stream(
      collector,
      [&](nrd_batch* batch, nrd_error* error) {
        for (int32_t i = 0; i < 50; ++i) {
          if (Send(batch, 0, i, error) != NRD_OK) {
            return error->code;
          }
          ++sent;
        }
        return Make(batch, 0, 0, 50, error);  // cannot wait for room
      },
      {.flags = NRD_MODEL_NO_INLINE, .instance_count = 8}, kLimit);
  Gate gate;
  stream.run_adder = [&](nrd_batch* batch, nrd_error* error) {
    const int32_t now = ++under_way;
    for (int32_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    gate.Enter();
    const int32_t code = SumInputs(batch, error, 0);
    --under_way;
    return code;
  };
  TestRequest request(stream.ensemble);
  CHECK(request.Submit() == NRD_PENDING);
  gate.WaitForEntered(kLimit);
  CHECK(Eventually([&] { return sent == kLimit; }));
  CHECK(stream.adder.stats().pending_count == 0);
  gate.Open();
  CHECK(request.Wait() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(4, 50));
  CHECK(collector.Of(0).size() == 50);
  CHECK(most == kLimit);
}

TEST_CASE("an ensemble that is released ends its streams") {
  std::atomic<int32_t> sent{0};
  std::atomic<int32_t> told{0};
  Collector collector;
  Stream stream(collector, Endless(&sent, &told), kQueued, 2);
  TestRequest request(stream.ensemble);
  CHECK(request.Submit() == NRD_PENDING);
  CHECK(Eventually([&] { return sent > 10; }));
  CHECK(nrd_model_drain(stream.ensemble.get(), In(5), nullptr) == NRD_DEADLINE_EXCEEDED);
  CHECK(request.Wait() == NRD_UNAVAILABLE);
  CHECK(request.message() == "model 'e' version 1 was unloaded");
  stream.ensemble.Release();
  CHECK(told == NRD_CANCELLED);
}

TEST_CASE("a step behind that was released fails the stream") {
  std::atomic<int32_t> sent{0};
  std::atomic<int32_t> told{0};
  Collector collector;
  Stream stream(collector, Endless(&sent, &told), kQueued, 2);
  TestRequest request(stream.ensemble);
  CHECK(request.Submit() == NRD_PENDING);
  CHECK(Eventually([&] { return sent > 10; }));
  stream.adder.Release();
  CHECK(request.Wait() == NRD_UNAVAILABLE);
  CHECK(told == NRD_CANCELLED);
}

}  // namespace nereid::test
