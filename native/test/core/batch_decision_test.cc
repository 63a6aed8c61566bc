// The batch policy is a pure function: every rule is shown with made-up times, nothing waits.
#include "core/queue/batch_decision.h"

#include <random>

#include "doctest/doctest.h"

namespace nereid {
namespace {

constexpr int64_t kNow = 1'000'000;

std::vector<WaitingRequest> Waiting(const std::vector<int64_t>& rows, int64_t enqueue_ns = kNow) {
  std::vector<WaitingRequest> waiting;
  for (const int64_t count : rows) {
    waiting.push_back({.rows = count, .enqueue_ns = enqueue_ns, .joins = true});
  }
  return waiting;
}

BatchPolicy Dynamic(int64_t max_batch_size, uint64_t delay_ns = 0,
                    std::vector<int64_t> preferred = {}) {
  return {.dynamic = true,
          .max_batch_size = max_batch_size,
          .preferred_sizes = std::move(preferred),
          .max_queue_delay_ns = delay_ns};
}

TEST_CASE("an empty queue gives nothing to do and no wake-up time") {
  const BatchDecision decision = DecideBatch(Dynamic(8), {}, kNow);
  CHECK(decision.take == 0);
  CHECK(decision.wake_ns == kNever);
}

TEST_CASE("without dynamic batching every request is its own batch") {
  const BatchPolicy policy{.max_batch_size = 8};
  CHECK(DecideBatch(policy, Waiting({1, 1, 1}), kNow).take == 1);
}

TEST_CASE("without delay and preferred sizes all that waits runs, up to the largest batch") {
  CHECK(DecideBatch(Dynamic(8), Waiting({1}), kNow).take == 1);
  CHECK(DecideBatch(Dynamic(8), Waiting({1, 2, 3}), kNow).take == 3);
  CHECK(DecideBatch(Dynamic(8), Waiting({3, 3, 3}), kNow).take == 2);
  CHECK(DecideBatch(Dynamic(8), Waiting({8, 1}), kNow).take == 1);
}

TEST_CASE("a batch says why it is not larger") {
  const auto end = [](const BatchPolicy& policy, const std::vector<WaitingRequest>& waiting,
                      int64_t now_ns = kNow) { return DecideBatch(policy, waiting, now_ns).end; };
  const auto slots_end = [](const SlotPolicy& policy, size_t count, int64_t now_ns) {
    return DecideSlots(policy, Waiting(std::vector<int64_t>(count, 1)), now_ns).end;
  };
  CHECK(end({.max_batch_size = 8}, Waiting({1, 1})) == NRD_BATCH_SINGLE);
  CHECK(end(Dynamic(8), Waiting({1, 2})) == NRD_BATCH_IDLE);
  CHECK(end(Dynamic(8), Waiting({8})) == NRD_BATCH_FULL);
  CHECK(end(Dynamic(8), Waiting({5, 5})) == NRD_BATCH_FULL);
  CHECK(end(Dynamic(8, 500, {4}), Waiting({2, 2, 1})) == NRD_BATCH_FULL);
  CHECK(end(Dynamic(8, 500), Waiting({1}), kNow + 500) == NRD_BATCH_DELAY);
  CHECK(end(Dynamic(8, 500), Waiting({1}), kNever) == NRD_BATCH_DRAIN);
  CHECK(end(Dynamic(8), Waiting({1}), kNever) == NRD_BATCH_DRAIN);
  auto unlike = Waiting({1, 1, 1});
  unlike[2].joins = false;
  CHECK(end(Dynamic(8, 500), unlike) == NRD_BATCH_UNLIKE);
  CHECK(end(Dynamic(8), unlike) == NRD_BATCH_UNLIKE);
  CHECK(slots_end({.slots = 2}, 2, kNow) == NRD_BATCH_FULL);
  CHECK(slots_end({.slots = 2, .max_queue_delay_ns = 500}, 1, kNow) == NRD_BATCH_IDLE);
  CHECK(slots_end({.slots = 2, .minimum_utilization = 1, .max_queue_delay_ns = 500}, 1,
                  kNow + 500) == NRD_BATCH_DELAY);
}

TEST_CASE("a delay makes a small batch wait for the oldest request's sake, not longer") {
  const BatchPolicy policy = Dynamic(8, 500);
  auto waiting = Waiting({1, 1});
  waiting[1].enqueue_ns = kNow + 100;
  CHECK(DecideBatch(policy, waiting, kNow + 100).take == 0);
  CHECK(DecideBatch(policy, waiting, kNow + 100).wake_ns == kNow + 500);
  CHECK(DecideBatch(policy, waiting, kNow + 499).take == 0);
  CHECK(DecideBatch(policy, waiting, kNow + 500).take == 2);
}

TEST_CASE("a full batch does not wait") {
  const BatchPolicy policy = Dynamic(4, 500);
  CHECK(DecideBatch(policy, Waiting({1, 1, 2}), kNow).take == 3);
  CHECK(DecideBatch(policy, Waiting({3, 2}), kNow).take == 1);  // the second does not fit
}

TEST_CASE("a preferred size runs at once, the largest that is met") {
  const BatchPolicy policy = Dynamic(16, 500, {4, 8});
  CHECK(DecideBatch(policy, Waiting({1, 1, 1}), kNow).take == 0);
  CHECK(DecideBatch(policy, Waiting({1, 1, 1, 1}), kNow).take == 4);
  CHECK(DecideBatch(policy, Waiting({2, 2, 2}), kNow).take == 2);
  CHECK(DecideBatch(policy, Waiting({2, 2, 2, 2, 1}), kNow).take == 4);
  CHECK(DecideBatch(policy, Waiting({9}), kNow).take == 1);  // above the largest preferred size
}

TEST_CASE("a batch stops short of the largest preferred size rather than passing it") {
  const BatchPolicy policy = Dynamic(16, 500, {4});
  CHECK(DecideBatch(policy, Waiting({3, 2}), kNow).take == 1);
  CHECK(DecideBatch(policy, Waiting({1, 1, 3, 1}), kNow).take == 2);
  CHECK(DecideBatch(policy, Waiting({9, 1}), kNow).take == 1);
}

TEST_CASE("preferred sizes count without a delay too, and what is left over does not wait") {
  const BatchPolicy policy = Dynamic(16, 0, {4});
  CHECK(DecideBatch(policy, Waiting({1, 1, 1, 1, 1, 1}), kNow).take == 4);
  CHECK(DecideBatch(policy, Waiting({1, 1}), kNow).take == 2);
}

TEST_CASE("when the delay is over everything that fits goes, whatever is preferred") {
  const BatchPolicy policy = Dynamic(16, 500, {4});
  CHECK(DecideBatch(policy, Waiting({2, 2, 1}), kNow + 500).take == 3);
}

TEST_CASE("a request that cannot join ends the batch, and waiting is over") {
  const BatchPolicy policy = Dynamic(8, 500);
  auto waiting = Waiting({1, 1, 1});
  waiting[1].joins = false;
  CHECK(DecideBatch(policy, waiting, kNow).take == 1);
}

TEST_CASE("an endless delay wakes nobody") {
  const BatchPolicy policy = Dynamic(8, UINT64_MAX);
  CHECK(DecideBatch(policy, Waiting({1}), kNow).wake_ns == kNever);
}

TEST_CASE("rows worth waking for are the next size at which the policy would act") {
  CHECK(RowsWorthWaking(Dynamic(16, 500, {4, 8}), 1) == 4);
  CHECK(RowsWorthWaking(Dynamic(16, 500, {4, 8}), 4) == 8);
  CHECK(RowsWorthWaking(Dynamic(16, 500), 3) == 16);
}

TEST_CASE("whatever waits: a batch never exceeds its size, never splits, never starves") {
  std::mt19937_64 random(42);
  const auto pick = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 20'000; ++round) {
    const int64_t most = pick(1, 16);
    BatchPolicy policy = Dynamic(most, static_cast<uint64_t>(pick(0, 1000)));
    for (int64_t size = 1; size <= most; ++size) {
      if (pick(0, 3) == 0) {
        policy.preferred_sizes.push_back(size);
      }
    }
    std::vector<WaitingRequest> waiting;
    for (int64_t i = pick(1, 20); i > 0; --i) {
      waiting.push_back(
          {.rows = pick(1, most), .enqueue_ns = kNow - pick(0, 1500), .joins = pick(0, 9) != 0});
    }
    const BatchDecision decision = DecideBatch(policy, waiting, kNow);
    REQUIRE(decision.take <= waiting.size());
    if (decision.take == 0) {
      REQUIRE(decision.wake_ns > kNow);
      // A decision must act at its own wake time.
      REQUIRE(DecideBatch(policy, waiting, decision.wake_ns).take > 0);
    }
    int64_t rows = 0;
    for (size_t i = 0; i < decision.take; ++i) {
      rows += waiting[i].rows;
      REQUIRE((i == 0 || waiting[i].joins));
    }
    REQUIRE(rows <= most);
  }
}

}  // namespace
}  // namespace nereid
