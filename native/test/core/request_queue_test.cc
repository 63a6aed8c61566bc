// Priorities, limits and timeouts of the queue, with times made up by the test.
#include "core/queue/request_queue.h"

#include <algorithm>
#include <memory>
#include <random>

#include "doctest/doctest.h"

namespace nereid {
namespace {

constexpr int64_t kNow = 5'000;

std::unique_ptr<Request> NewRequest(uint32_t priority = 0, uint64_t timeout_ns = 0,
                                    int64_t deadline_ns = 0) {
  auto request = std::make_unique<Request>();
  request->rows = 1;
  request->record.priority = priority;
  request->record.timeout_ns = timeout_ns;
  request->record.deadline_ns = deadline_ns;
  return request;
}

std::vector<const Request*> Order(const RequestQueue& queue) {
  std::vector<const Request*> order;
  for (const Request* request = queue.First(); request != nullptr; request = queue.After(request)) {
    order.push_back(request);
  }
  return order;
}

using Requests = std::vector<Request*>;
using Expected = std::vector<const Request*>;

Requests TakeExpired(RequestQueue& queue, int64_t now_ns) {
  RequestList list;
  queue.TakeExpired(now_ns, &list);
  Requests expired;
  while (Request* const request = list.TakeFirst()) {
    expired.push_back(request);
  }
  return expired;
}

std::pair<int32_t, std::string> Expiry(Request& request, int64_t now_ns) {
  SetExpired(request, now_ns);
  return {request.record.status, {request.error.message, request.error.message_size}};
}

TEST_CASE("levels are served from the most urgent; within one, the first to come") {
  RequestQueue queue({{}, {}, {}}, 1);
  const auto low = NewRequest(3);
  const auto standard = NewRequest(0);
  const auto odd = NewRequest(99);  // out of range: the default level
  const auto high = NewRequest(1);
  for (Request* request : {low.get(), standard.get(), odd.get(), high.get()}) {
    REQUIRE(queue.Push(request, kNow).ok());
  }
  CHECK(Order(queue) == Expected{high.get(), standard.get(), odd.get(), low.get()});
  queue.Remove(standard.get());
  CHECK(Order(queue) == Expected{high.get(), odd.get(), low.get()});
  CHECK(queue.rows() == 3);
}

TEST_CASE("each level has its own limit") {
  RequestQueue queue({{.max_queue_size = 1}, {.max_queue_size = 2}}, 1);
  const auto a = NewRequest(1);
  const auto b = NewRequest(1);
  const auto c = NewRequest(2);
  REQUIRE(queue.Push(a.get(), kNow).ok());
  const Status full = queue.Push(b.get(), kNow);
  CHECK(full.code() == NRD_UNAVAILABLE);
  CHECK(full.message().find("Exceeds maximum queue size") != std::string_view::npos);
  CHECK(queue.Push(c.get(), kNow).ok());
  queue.Remove(a.get());
  CHECK(queue.Push(b.get(), kNow).ok());
}

TEST_CASE("REJECT takes out what has expired, and nothing else") {
  RequestQueue queue({{.default_timeout_ns = 100}}, 0);
  const auto old = NewRequest();
  const auto young = NewRequest();
  REQUIRE(queue.Push(old.get(), kNow).ok());
  REQUIRE(queue.Push(young.get(), kNow + 50).ok());
  CHECK(queue.next_expiry_ns() == kNow + 100);
  CHECK(TakeExpired(queue, kNow + 99).empty());
  CHECK(TakeExpired(queue, kNow + 100) == Requests{old.get()});
  CHECK(queue.next_expiry_ns() == kNow + 150);
  const auto [code, message] = Expiry(*old, kNow + 100);
  CHECK(code == NRD_UNAVAILABLE);
  CHECK(message == "Request timeout expired");
}

TEST_CASE("DELAY serves what has expired after the others of its level, and never rejects it") {
  RequestQueue queue({{.default_timeout_ns = 100, .delay_on_timeout = true}, {}}, 0);
  const auto first = NewRequest();
  const auto second = NewRequest();
  const auto lower = NewRequest(2);
  REQUIRE(queue.Push(first.get(), kNow).ok());
  REQUIRE(queue.Push(lower.get(), kNow).ok());
  REQUIRE(queue.Push(second.get(), kNow + 60).ok());
  CHECK(TakeExpired(queue, kNow + 100).empty());
  CHECK(Order(queue) == Expected{second.get(), first.get(), lower.get()});
  CHECK(TakeExpired(queue, kNow + 1'000'000).empty());
  CHECK(queue.next_expiry_ns() == kNever);
  CHECK(queue.size() == 3);
  queue.Remove(first.get());
  CHECK(Order(queue) == Expected{second.get(), lower.get()});
}

TEST_CASE("a request's timeout can shorten the model's and cannot lengthen it") {
  for (const bool allowed : {true, false}) {
    RequestQueue queue({{.default_timeout_ns = 100, .allow_timeout_override = allowed}}, 0);
    const auto shorter = NewRequest(0, 40);
    const auto longer = NewRequest(0, 400);
    REQUIRE(queue.Push(shorter.get(), kNow).ok());
    REQUIRE(queue.Push(longer.get(), kNow).ok());
    CHECK(shorter->NextExpiryNs() == kNow + 40);
    CHECK(longer->NextExpiryNs() == kNow + 100);
  }
}

TEST_CASE("a client's limits end in an error even where the model would delay") {
  RequestQueue queue({{.default_timeout_ns = 500, .delay_on_timeout = true}}, 0);
  const auto timeout = NewRequest(0, 40);
  const auto deadline = NewRequest(0, 0, kNow + 30);
  REQUIRE(queue.Push(timeout.get(), kNow).ok());
  REQUIRE(queue.Push(deadline.get(), kNow).ok());
  CHECK(TakeExpired(queue, kNow + 40) == Requests{deadline.get(), timeout.get()});
  CHECK(Expiry(*deadline, kNow + 40).first == NRD_DEADLINE_EXCEEDED);
  CHECK(queue.empty());
}

TEST_CASE("absurd timeouts do not overflow") {
  RequestQueue queue({{.default_timeout_ns = UINT64_MAX}}, 0);
  const auto request = NewRequest(0, UINT64_MAX);
  REQUIRE(queue.Push(request.get(), kNow).ok());
  CHECK(request->NextExpiryNs() == kNever);
}

// The same operations on the queue and on a plain list per level must agree.
TEST_CASE("random pushes, removals and expiries match a simple reference") {
  std::mt19937_64 random(7);
  const auto pick = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  RequestQueue queue({{.default_timeout_ns = 300, .max_queue_size = 50},
                      {.default_timeout_ns = 200, .delay_on_timeout = true, .max_queue_size = 50},
                      {.max_queue_size = 50}},
                     2);
  std::vector<std::unique_ptr<Request>> all;
  std::vector<Request*> waiting;
  int64_t now_ns = kNow;
  for (int step = 0; step < 20'000; ++step) {
    now_ns += pick(0, 20);
    const int64_t action = pick(0, 9);
    if (action < 5) {
      all.push_back(NewRequest(static_cast<uint32_t>(pick(0, 3)),
                               pick(0, 3) == 0 ? static_cast<uint64_t>(pick(1, 400)) : 0));
      if (queue.Push(all.back().get(), now_ns).ok()) {
        waiting.push_back(all.back().get());
      }
    } else if (action < 8 && !waiting.empty()) {
      const auto at = waiting.begin() + pick(0, static_cast<int64_t>(waiting.size()) - 1);
      queue.Remove(*at);
      waiting.erase(at);
    } else {
      for (Request* request : TakeExpired(queue, now_ns)) {
        REQUIRE(request->NextExpiryNs() <= now_ns);
        waiting.erase(std::find(waiting.begin(), waiting.end(), request));
      }
      for (const Request* request : waiting) {
        REQUIRE(request->NextExpiryNs() > now_ns);
      }
    }
    int64_t next_expiry_ns = kNever;
    for (const Request* request : waiting) {
      next_expiry_ns = std::min(next_expiry_ns, request->NextExpiryNs());
    }
    REQUIRE(queue.next_expiry_ns() == next_expiry_ns);
    REQUIRE(queue.size() == waiting.size());
    REQUIRE(Order(queue).size() == waiting.size());
    REQUIRE(queue.rows() == static_cast<int64_t>(waiting.size()));
  }
}

}  // namespace
}  // namespace nereid
