#include <atomic>
#include <thread>

#include "fixture.h"

namespace rehearsal {

TEST_CASE_FIXTURE(Fixture,
                  "streams: a copy takes its bytes when it runs, not when it is asked for") {
  const Memory memory(4);
  const TestStream stream;
  int value = 1;
  int back = 0;
  REQUIRE(Copy(stream.stream(), memory.pointer(), &value, 4, Direction::kHostToDevice, "test") ==
          Code::kSuccess);
  value = 2;
  REQUIRE(Copy(stream.stream(), &back, memory.pointer(), 4, Direction::kDeviceToHost, "test") ==
          Code::kSuccess);
  CHECK(back == 0);
  CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
  CHECK(back == 2);
}

TEST_CASE_FIXTURE(Fixture, "streams: work runs in order, with random delays, too") {
  faults::Delay(7, 200);
  const TestStream stream;
  std::vector<int> order;
  for (int i = 0; i < 50; ++i) {
    CHECK(Enqueue(stream.stream(), Doing([&order, i] { order.push_back(i); })) == Code::kSuccess);
  }
  CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
  REQUIRE(order.size() == 50);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE_FIXTURE(Fixture, "streams: work that nobody waits for runs, too") {
  const TestStream stream;
  std::atomic<bool> done{false};
  CHECK(Enqueue(stream.stream(), Doing([&] {
                  done = true;
                  done.notify_one();
                })) == Code::kSuccess);
  done.wait(false);
}

TEST_CASE_FIXTURE(Fixture, "streams: a query begins what is there and tells when it is done") {
  const TestStream stream;
  CHECK(Query(*stream.stream()) == Code::kSuccess);
  std::atomic<bool> may_end{false};
  CHECK(Enqueue(stream.stream(), Doing([&] { may_end.wait(false); })) == Code::kSuccess);
  CHECK(Query(*stream.stream()) == Code::kNotReady);
  may_end = true;
  may_end.notify_all();
  while (Query(*stream.stream()) == Code::kNotReady) {
    std::this_thread::yield();
  }
}

TEST_CASE_FIXTURE(Fixture, "streams: blocking ones and the default one wait for each other") {
  void* handle;
  REQUIRE(CreateStream(true, 0, "test", &handle) == Code::kSuccess);
  const auto blocking = FindStream(handle, "test");
  const auto first = FindStream(nullptr, "test");
  std::vector<int> order;
  CHECK(Enqueue(blocking, Doing([&] { order.push_back(1); })) == Code::kSuccess);
  CHECK(Enqueue(first, Doing([&] { order.push_back(2); })) == Code::kSuccess);
  CHECK(Enqueue(blocking, Doing([&] { order.push_back(3); })) == Code::kSuccess);
  CHECK(Synchronize(*blocking) == Code::kSuccess);
  CHECK(order == std::vector{1, 2, 3});
  CHECK(DestroyStream(handle, "test") == Code::kSuccess);
}

TEST_CASE_FIXTURE(Fixture, "streams: memory that is freed is waited for") {
  const TestStream stream;
  bool done = false;
  {
    const Memory memory(64);
    CHECK(Enqueue(stream.stream(), Doing([&] { done = true; })) == Code::kSuccess);
  }
  CHECK(done);
}

TEST_CASE_FIXTURE(Fixture, "streams: an address that is none breaks the device when work uses it") {
  const TestStream stream;
  CHECK(Copy(stream.stream(), reinterpret_cast<void*>(ContextOf(0)), &stream, 1,
             Direction::kHostToDevice, "test") == Code::kInvalidValue);
  Work work;
  work.call = "test";
  work.run = [] {
    return Backing(Address{1}, 1, "test") == nullptr ? Code::kIllegalAddress : Code::kSuccess;
  };
  CHECK(Enqueue(stream.stream(), std::move(work)) == Code::kSuccess);
  CHECK(Synchronize(*stream.stream()) == Code::kIllegalAddress);
  CHECK(Enqueue(stream.stream(), Doing([] {})) == Code::kIllegalAddress);
  CHECK(SynchronizeDevice(1) == Code::kSuccess);
  CHECK(TakeMisuses() == 1);
}

TEST_CASE_FIXTURE(Fixture, "streams: closed ones are not used, and end when they are empty") {
  void* handle;
  REQUIRE(CreateStream(false, 0, "test", &handle) == Code::kSuccess);
  std::atomic<bool> done{false};
  CHECK(Enqueue(FindStream(handle, "test"), Doing([&] {
                  done = true;
                  done.notify_one();
                })) == Code::kSuccess);
  CHECK(DestroyStream(handle, "test") == Code::kSuccess);
  CHECK(FindStream(handle, "test") == nullptr);
  CHECK(DestroyStream(handle, "test") == Code::kInvalidHandle);
  done.wait(false);
  CHECK(TakeMisuses() == 2);
}

// ---- Events -------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "events: they are done when the work before them is") {
  const TestStream stream;
  const TestEvent start;
  const TestEvent end;
  CHECK(Query(*start.event()) == Code::kSuccess);  // never recorded
  CHECK(Record(*start.event(), stream.stream()) == Code::kSuccess);
  std::atomic<bool> may_end{false};
  CHECK(Enqueue(stream.stream(), Doing([&] { may_end.wait(false); })) == Code::kSuccess);
  CHECK(Record(*end.event(), stream.stream()) == Code::kSuccess);
  CHECK(Query(*end.event()) == Code::kNotReady);
  float milliseconds = -1;
  CHECK(Elapsed(*start.event(), *end.event(), &milliseconds) == Code::kNotReady);
  may_end = true;
  may_end.notify_all();
  CHECK(Synchronize(*end.event()) == Code::kSuccess);
  CHECK(Query(*end.event()) == Code::kSuccess);
  CHECK(Elapsed(*start.event(), *end.event(), &milliseconds) == Code::kSuccess);
  CHECK(milliseconds >= 0);
}

TEST_CASE_FIXTURE(Fixture, "events: they record no stream of another device") {
  REQUIRE(SetDevice(1) == Code::kSuccess);
  const TestEvent event;
  REQUIRE(SetDevice(0) == Code::kSuccess);
  const TestStream stream;
  CHECK(Record(*event.event(), stream.stream()) == Code::kInvalidHandle);
  CHECK(TakeMisuses() == 1);
}

TEST_CASE_FIXTURE(Fixture, "events: another stream waits for them, its caller does not") {
  const TestStream first;
  const TestStream second;
  const TestEvent event;
  std::vector<int> order;
  CHECK(Enqueue(first.stream(), Doing([&] { order.push_back(1); })) == Code::kSuccess);
  CHECK(Record(*event.event(), first.stream()) == Code::kSuccess);
  CHECK(Wait(second.stream(), *event.event()) == Code::kSuccess);
  CHECK(Enqueue(second.stream(), Doing([&] { order.push_back(2); })) == Code::kSuccess);
  CHECK(order.empty());
  CHECK(Synchronize(*second.stream()) == Code::kSuccess);
  CHECK(order == std::vector{1, 2});
}

}  // namespace rehearsal
